"""Remove a test or a check, edit a test, or add a test. Each change creates a new test suite."""

from __future__ import annotations

import copy
import json
import re
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from catalog.evidence.services.outlines import write_text
from catalog.evidence.services.storage import keep_case_set
from catalog.execution import cases
from catalog.execution.cases.case import LARGEST_SET, MOST_CASES
from catalog.models import CaseSet
from core.errors import BadInput

FIELD = "case"
REVIEWER = "a reviewer"
_MORE_NAMES = re.compile(r"^cases\.\d+\.")


class Place(NamedTuple):
    """The position of a test in a suite, or of a check in that test. Both numbers start at 1."""

    case: int
    check: int | None = None

    def __str__(self) -> str:
        return str(self.case) if self.check is None else f"{self.case}.{self.check}"


def read_place(text: str) -> Place:
    """Parse `2` (a test) or `2.3` (a check). Raises BadInput for the `what` field."""
    found = re.fullmatch(r"([1-9]\d?)(?:\.([1-9]\d?))?", text)
    if found is None:
        raise BadInput(_("Choose a test or a check."), field="what")
    return Place(int(found[1]), int(found[2]) if found[2] else None)


def strike_from(case_set: CaseSet, place: Place, *, by: User) -> CaseSet | None:
    """Return the suite without this test or check, or None if no tests remain.

    Removing the last check of a test removes the test. Raises BadInput for the `what` field.
    """
    content = copy.deepcopy(case_set.content)
    case = _case_at(content, place.case)
    checks: list[object] = case["expect"]
    if place.check is not None and not 1 <= place.check <= len(checks):
        raise BadInput(_("This check no longer exists."), field="what")
    if place.check is None or len(checks) == 1:
        content["cases"].remove(case)
    else:
        del checks[place.check - 1]
    return _keep(content, by) if content["cases"] else None


def put_case(case_set: CaseSet, text: str, *, number: int | None, by: User) -> CaseSet:
    """Return the suite after adding the test in the JSON text, or after replacing test `number` with it.

    Raises BadInput for the `case` field, with one line per mistake, or if nothing changes.
    """
    content = copy.deepcopy(case_set.content)
    case = _read_case(text)
    if number is None:
        if len(content["cases"]) >= MOST_CASES:
            raise BadInput(_("A test suite can have at most %s tests.") % MOST_CASES, field=FIELD)
        content["cases"].append(case)
    else:
        _case_at(content, number)
        content["cases"][number - 1] = case
    _read(content, is_kept=True)
    # Validate only the new test in full, because the other tests may be from an earlier release.
    _read({**content, "cases": [case]})
    kept = _keep(content, by)
    if kept.pk == case_set.pk:
        raise BadInput(_("The test is unchanged. Nothing was saved."), field=FIELD)
    return kept


def carry_over(
    before: CaseSet, after: CaseSet | None, *, onto: CaseSet | None, by: User
) -> CaseSet | None:
    """Apply the change from `before` to `after` to the suite `onto`, matching tests by title.

    Tests and checks that `after` lacks are removed from `onto`, and new tests are added. An edited test replaces the
    test in `onto`. Returns None if no tests remain. Raises BadInput if the suite has no room for the new test.
    """
    if onto is None and after is None:
        return None
    if onto is not None and onto.pk == before.pk:
        return after
    old = {one["title"]: one for one in before.content["cases"]}
    new = {one["title"]: one for one in after.content["cases"]} if after else {}
    kept = {one["title"]: one for one in onto.content["cases"]} if onto else {}
    changed: dict[str, dict[str, Any]] = {}
    gone = old.keys() - new.keys()
    comes = [title for title in new if title not in old]
    # The test was renamed. If `onto` no longer has the old test, the new test is not added either.
    replaced = next(iter(gone), None) if comes else None
    for title, case in kept.items():
        if title == replaced:
            changed |= {name: new[name] for name in comes}
        elif title not in gone:
            is_touched = title in old and title in new and old[title] != new[title]
            merged = _merge_case(old[title], new[title], case) if is_touched else case
            if merged["expect"]:
                changed[title] = merged
    if replaced is None:
        changed |= {name: new[name] for name in comes}
    if not changed:
        return None
    content = {**(onto or after or before).content, "cases": list(changed.values())}
    return _keep(content, by)


def _merge_case(old: dict[str, Any], new: dict[str, Any], onto: dict[str, Any]) -> dict[str, Any]:
    """Return `onto` without the removed checks if `new` only removes checks. Otherwise return `new`."""
    is_struck = {**old, "expect": new["expect"]} == new and all(
        check in old["expect"] for check in new["expect"]
    )
    if not is_struck:
        return new
    struck = [check for check in old["expect"] if check not in new["expect"]]
    return {**onto, "expect": [check for check in onto["expect"] if check not in struck]}


def case_text(case_set: CaseSet, number: int) -> str:
    """Return the JSON text of one test for editing. Raises BadInput if no test has this number."""
    return write_text(_case_at(case_set.content, number))


def new_case_text(case_set: CaseSet) -> str:
    """Return the starter text for another test. The text is a valid test except for the empty title."""
    first = case_set.content["cases"][0]
    return write_text(
        {
            "title": "",
            "about": first["about"],
            "kind": "border",
            "world": first.get("world", {}),
            "expect": first["expect"],
        }
    )


def first_case_text(statement: str) -> str:
    """Return the starter text for the first test of a request. Users can save the text unchanged."""
    return write_text(
        {
            "title": "typical scenario",
            "about": " ".join(statement.split()[:8])[:400],
            "kind": "usual",
            "world": {
                "files": [{"path": "/srv/example/old.log", "content": "text\n", "age": "30d"}]
            },
            "expect": [{"check": "exit_status", "equals": 0}],
        }
    )


def first_case_set(statement: str, text: str, *, by: User, is_revision: bool) -> CaseSet:
    """Return a suite with the test in the JSON text. Raises BadInput for the `case` field, with one line per
    mistake.
    """
    content = {"format": 1, "statement": statement, "parameters": {}, "cases": [_read_case(text)]}
    return _keep(content, by, is_accepted=False, is_revision=is_revision)


def describe_place(case_set: CaseSet, place: Place) -> str:
    """Return the title of the test and, for a check, its sentence. Raises BadInput."""
    parsed = cases.read_case_set(json.dumps(case_set.content), is_kept=True)
    if not 1 <= place.case <= len(parsed.cases):
        raise BadInput(_("This test no longer exists."), field="what")
    case = parsed.cases[place.case - 1]
    if place.check is None:
        return case.title
    if not 1 <= place.check <= len(case.expect):
        raise BadInput(_("This check no longer exists."), field="what")
    return f"{case.title}: {case.expect[place.check - 1].sentence()}"


def _case_at(content: dict[str, Any], number: int) -> dict[str, Any]:
    cases = content["cases"]
    if not 1 <= number <= len(cases):
        raise BadInput(_("This test no longer exists."), field="what")
    case: dict[str, Any] = cases[number - 1]
    return case


def _read_case(text: str) -> object:
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST_SET:
        raise BadInput(_("The test is larger than 4 MB. Make the test smaller."), field=FIELD)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(
            _("The JSON is invalid at line %(line)s, column %(column)s: %(what)s.")
            % {"line": error.lineno, "column": error.colno, "what": error.msg},
            field=FIELD,
        ) from error
    except RecursionError as error:
        raise BadInput(_("The JSON is nested too deeply."), field=FIELD) from error
    except ValueError as error:
        raise BadInput(_("The JSON contains a number that is too long."), field=FIELD) from error


def _keep(
    content: dict[str, Any], by: User, *, is_accepted: bool = True, is_revision: bool = True
) -> CaseSet:
    # The database row stores the author. A name in the content would be exported and would outlast the account.
    content["author"] = {"kind": "person", "name": REVIEWER}
    parsed = _read(content, is_kept=is_accepted)
    return keep_case_set(parsed, by=by, is_revision=is_revision)


def _read(content: dict[str, Any], *, is_kept: bool = False) -> cases.CaseSet:
    try:
        return cases.read_case_set(json.dumps(content), is_kept=is_kept)
    except cases.CaseRefused as error:
        lines = [_MORE_NAMES.sub("", one) for one in error.complaints]
        raise BadInput("\n".join(lines), field=FIELD) from error
