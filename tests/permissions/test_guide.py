"""Tests that the table in docs/roles.md agrees with the permission matrix."""

from __future__ import annotations

from django.conf import settings

from tests.permissions.matrix import ROLES, page_rows

# Maps each task in the guide to the row of the matrix.
WHAT = {
    "request a script": "action-new POST -",
    "run again, cancel or retry own requests": "run-retry POST run own",
    "run again, cancel or retry requests of others": "run-retry POST run other",
    "cancel another user's run": "run-cancel POST run other",
    "use an unreviewed script, with a reason": "run-use-draft POST draft",
    "read an item of the review queue": "item-review GET item free",
    "claim, score, decide, comment, flag, skip, undo": "item-score POST item held",
    "see who claimed an item, assign it to a reviewer": "item-assign POST item free",
    "write, edit, verify, roll back, merge, suspend, deprecate entries": "version-verify POST version",
    "write and run the sandbox tests of an entry, see changed test results": "evidence-list GET -",
    "import a catalogue file": "catalog-import POST -",
    "see how reliable retrieval is": "calibration GET -",
    "choose the threshold and the scorer": "threshold-set POST -",
    "label matches": "case-label POST -",
    "set up and monitor studies, adjudicate, report, import and export items": "campaign-new POST -",
    "answer flags": "flag-answer POST flag",
    "see costs": "cost GET -",
    "read prompts": "prompt-detail GET prompt",
    "write prompts, manage endpoints and configurations": "endpoint-new POST -",
    "erase the texts of a request": "action-erase POST action other",
    "read the audit log, except accounts and erasures": "audit GET -",
    "export the audit log": "audit-export GET -",
    "send events to other systems, and see what was sent": "destination-test POST destination",
    "manage accounts, roles and one-time links": "user-roles POST user",
}


def _roles_by_task() -> dict[str, list[str]]:
    """Return the roles that the guide lists for each task."""
    said = {}
    for line in (settings.BASE_DIR / "docs" / "roles.md").read_text(encoding="utf-8").splitlines():
        what, *cells = (cell.strip() for cell in line.strip("| ").split("|"))
        if line.startswith("| ") and what != "Task":
            cells += [""] * (len(ROLES) - len(cells))
            said[what] = [role for role, cell in zip(ROLES, cells, strict=True) if cell == "yes"]
    return said


def test_roles_guide_agrees_with_permission_matrix() -> None:
    said, wrong = _roles_by_task(), {}
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
