"""docs/roles.md says of every role what the tables say."""

from __future__ import annotations

from django.conf import settings

from tests.permissions.matrix import ROLES, page_rows

# What the guide calls it, and the address by which it is done.
WHAT = {
    "ask for a script": "action-new POST -",
    "run again, cancel or retry what one asked for": "run-retry POST run own",
    "run again, cancel or retry what others asked for": "run-retry POST run other",
    "use a script that nobody has reviewed, with a reason": "run-use-draft POST draft",
    "look at an item of the queue": "item-review GET item free",
    "claim, score, decide, comment, flag, skip, take back": "item-score POST item held",
    "see who has an item, give it to somebody": "item-assign POST item free",
    "write, edit, verify, roll back, merge, suspend, deprecate entries": "version-verify POST version",
    "write and run the cases of an entry, see where evidence changed": "evidence-list GET -",
    "import a catalogue file": "catalog-import POST -",
    "see how sure retrieval is": "calibration GET -",
    "choose the threshold and the scoring": "threshold-set POST -",
    "label matches": "case-label POST -",
    "make and watch campaigns, adjudicate, report, import and export items": "campaign-new POST -",
    "answer flags": "flag-answer POST flag",
    "see what was paid": "cost GET -",
    "read prompts": "prompt-detail GET prompt",
    "write prompts, manage endpoints and configurations": "endpoint-new POST -",
    "erase the texts of an action": "action-erase POST action other",
    "read the audit log, but for accounts and erasures": "audit GET -",
    "export the audit log": "audit-export GET -",
    "send events to other systems, and see what was sent": "destination-test POST destination",
    "accounts, roles, one-time links": "user-roles POST user",
}


def _said() -> dict[str, list[str]]:
    """By what is done, the roles that the guide says may do it."""
    said = {}
    for line in (settings.BASE_DIR / "docs" / "roles.md").read_text(encoding="utf-8").splitlines():
        what, *cells = (cell.strip() for cell in line.strip("| ").split("|"))
        if line.startswith("| ") and what != "what":
            cells += [""] * (len(ROLES) - len(cells))
            said[what] = [role for role, cell in zip(ROLES, cells, strict=True) if cell == "yes"]
    return said


def test_guide_of_roles_says_what_the_tables_say() -> None:
    said, wrong = _said(), {}
    assert said.keys() == WHAT.keys()
    rows = {(row.name, method, row.object): row for row in page_rows() for method in row.methods}
    for what, address in WHAT.items():
        name, method, object = address.split(maxsplit=2)
        allowed = [
            role for role in ROLES if rows[name, method, object].answer_to(role) == "allowed"
        ]
        if said[what] != allowed:
            wrong[what] = (said[what], allowed)
    assert not wrong
