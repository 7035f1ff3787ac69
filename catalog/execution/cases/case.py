"""Sandbox tests and test suites, parsed from JSON or rejected with an explanation."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, StringConstraints, ValidationError, model_validator

from catalog.execution.cases.checks import Check
from catalog.execution.cases.checks.base import Strict, Text
from catalog.execution.cases.dates import fill_dates, find_bad_dates
from catalog.execution.cases.display import show
from catalog.execution.cases.refusals import find_bad_pattern, find_unrecorded
from catalog.execution.cases.world import World

FORMAT = 1
LARGEST_SET = 4 << 20  # bytes of JSON
MOST_CASES = 50
MOST_CHECKS = 12
MOST_COMPLAINTS = 10
DAYS_TRIED = (0, 31, 190)

Kind = Literal["usual", "border", "empty", "refuse", "failure", "repeat", "read-only"]
ShortText = Annotated[Text, StringConstraints(min_length=1, max_length=500)]


class CaseRefused(ValueError):
    """The text is not a valid test suite. `complaints` contains sentences for its author."""

    def __init__(self, complaints: list[str]) -> None:
        super().__init__(" ".join(complaints))
        self.complaints = complaints


class Case(Strict):
    """A sandbox test: a scenario, and the checks to make after the script has run in it."""

    title: ShortText
    about: ShortText  # the part of the request that the test covers
    kind: Kind
    world: World = World()
    expect: Annotated[tuple[Check, ...], Field(min_length=1, max_length=MOST_CHECKS)]

    def with_dates(self, now: float) -> Case:
        """Return the test with its dates filled in for this time. Raises CaseRefused if a date makes it invalid."""
        data: JsonValue = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            return Case.model_validate_json(json.dumps(fill_dates(data, now)))
        except ValidationError as error:
            raise CaseRefused(_explain(error)) from error

    def on_day_of(self, moment: float) -> Case:
        """Return the test with its dates filled in for display, or the unchanged test if a date makes it invalid."""
        try:
            return self.with_dates(moment)
        except CaseRefused:
            return self

    @property
    def needs_second_run(self) -> bool:
        return any(check.needs_second_run for check in self.expect)

    @property
    def may_pass_without_work(self) -> bool:
        """Return whether a script that does nothing may pass, because the test expects no changes."""
        return self.kind in ("empty", "refuse", "read-only")


class Author(Strict):
    """The author of the tests. Tests are no more trustworthy than the script."""

    kind: Literal["model", "person", "import"]
    name: ShortText


class CaseSet(Strict):
    """A test suite for a request. A suite never depends on a particular script and never changes."""

    format: Literal[1] = 1
    statement: Annotated[Text, StringConstraints(min_length=1, max_length=10_000)]
    parameters: dict[str, Text] = Field(default_factory=dict)
    author: Author
    cases: Annotated[tuple[Case, ...], Field(min_length=1, max_length=MOST_CASES)]

    @property
    def sha256(self) -> str:
        """Return the hash of the tests, without the author."""
        data = self.model_dump(mode="json", by_alias=True, exclude={"author"})
        text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @model_validator(mode="after")
    def _belongs_to_the_statement(self) -> CaseSet:
        statement = _words(self.statement)
        for number, case in enumerate(self.cases, 1):
            if _words(case.about) not in statement:
                raise ValueError(
                    f"test {number} is about {case.about!r}, which is not part of the statement"
                )
        titles = [case.title for case in self.cases]
        twice = next((title for title in titles if titles.count(title) > 1), None)
        if twice is not None:
            raise ValueError(f"two tests have the title {twice!r}")
        return self


def read_case_set(text: str | bytes, *, is_kept: bool = False) -> CaseSet:
    """Parse a test suite from JSON. Raises CaseRefused for any invalid text.

    Set `is_kept` if the suite was accepted earlier, perhaps by an older release. Validation that applies only to new
    suites is then skipped.
    """
    encoded = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(encoded) > LARGEST_SET:
        raise CaseRefused([f"The test suite is larger than {LARGEST_SET >> 20} MB."])
    try:
        case_set = CaseSet.model_validate_json(encoded)
    except ValidationError as error:
        raise CaseRefused(_explain(error)) from error
    if is_kept:
        return case_set
    bad = find_bad_dates(case_set.model_dump(mode="json", by_alias=True))
    if bad:
        raise CaseRefused(
            [
                f"{show(bad[0])} is not a valid date. Use whole days, such as"
                " {date:%F} or {date:%Y%m%d:-1d}."
            ]
        )
    # A date can make a path or a pattern invalid only on some days.
    moments = [time.time() + days * 86400 for days in DAYS_TRIED] if b"{date:" in encoded else []
    dated = [case.with_dates(moment) for moment in moments for case in case_set.cases]
    complaints = [
        f"cases.{number}: {complaint}"
        for number, case in enumerate(case_set.cases, 1)
        for complaint in find_unrecorded(case.expect, case.world.commands)
    ]
    patterns = find_bad_pattern(check for case in dated or case_set.cases for check in case.expect)
    if complaints or patterns:
        raise CaseRefused([*complaints[:MOST_COMPLAINTS], *([patterns] if patterns else [])])
    return case_set


def json_schema() -> dict[str, Any]:
    """Return the format as a JSON Schema, for editors and for models that write tests."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **CaseSet.model_json_schema(by_alias=True),
        "title": f"ScriptSmith case set, format {FORMAT}",
    }


def _explain(error: ValidationError) -> list[str]:
    """Convert Pydantic's errors to sentences with the location and the problem."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    places = [found["loc"] for found in errors]
    sentences = []
    for found in errors:
        # Skip "list is too short" if the list is short only because its items are invalid.
        if any(place[: len(found["loc"])] == found["loc"] != place for place in places):
            continue
        where = ".".join(str(part + 1) if isinstance(part, int) else part for part in found["loc"])
        message = found["msg"].removeprefix("Value error, ")
        sentence = f"{where}: {message}." if where else f"{message[:1].upper()}{message[1:]}."
        sentences.append(show(sentence[:500]))
    more = len(sentences) - MOST_COMPLAINTS
    return sentences[:MOST_COMPLAINTS] + ([f"And {more} more."] if more > 0 else [])


def _words(text: str) -> str:
    return " ".join(text.casefold().split())
