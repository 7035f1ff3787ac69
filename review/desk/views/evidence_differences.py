"""Describe how the results of two scripts differ in the same scenario, without an expected result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.utils.translation import gettext as _

from catalog.execution.cases.display import show_list, show_name
from catalog.services import StatementEvidence


@dataclass(frozen=True)
class DraftEvidence:
    """A script and its results in each test suite of the statement."""

    label: str
    results: Sequence[StatementEvidence]


@dataclass(frozen=True)
class WorldDifference:
    """Differences between scripts in one scenario, with the title of its test."""

    case: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class CheckDifference:
    """A check whose results differ, with its state for each script label."""

    case: str
    sentence: str
    states: Sequence[tuple[str, str]]


def find_world_differences(drafts: Sequence[DraftEvidence]) -> list[WorldDifference]:
    """Return the differences between each pair of scripts, by test. Results must come from the same kind of machine."""
    found: dict[tuple[int, int], WorldDifference] = {}
    for first, second in combinations(drafts, 2):
        for result, other in _pairs(first, second):
            for number, (one, two) in enumerate(zip(result.cases, other.cases, strict=False)):
                if not (one.seen and two.seen):
                    continue
                sentences = list(_compare(first.label, one.seen, second.label, two.seen))
                if sentences:
                    place = (result.case_set.pk, number)
                    before = found.get(place, WorldDifference(one.title, ())).sentences
                    found[place] = WorldDifference(one.title, [*before, *sentences])
    return [found[place] for place in sorted(found)]


def find_check_differences(drafts: Sequence[DraftEvidence]) -> list[CheckDifference]:
    """Return the checks whose states differ between scripts, in the same scenario and on the same kind of machine."""
    states: dict[tuple[int, str, int, int], list[tuple[str, str]]] = {}
    words: dict[tuple[int, str, int, int], tuple[str, str]] = {}
    for draft in drafts:
        for result in draft.results:
            machine = result.execution.fingerprint_sha256
            for check in result.execution.checks.all():
                place = (result.case_set.pk, machine, check.case_number, check.number)
                states.setdefault(place, []).append((draft.label, check.state))
                words[place] = (check.case_title, check.sentence)
    return [
        CheckDifference(*words[place], found)
        for place, found in states.items()
        if len({state for _label, state in found}) > 1
    ]


def _pairs(
    first: DraftEvidence, second: DraftEvidence
) -> Iterator[tuple[StatementEvidence, StatementEvidence]]:
    """Yield the results of both scripts for the same suites on the same kind of machine."""
    others = {(one.case_set.pk, one.execution.fingerprint_sha256): one for one in second.results}
    for one in first.results:
        other = others.get((one.case_set.pk, one.execution.fingerprint_sha256))
        if other is not None:
            yield one, other


def _compare(
    first: str, one: Mapping[str, Any], second: str, two: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a sentence for each difference between two results. The values are already safe to display."""
    if one.get("ended") != two.get("ended"):
        yield _("%(script)s: %(ended)s. %(other)s: %(other_ended)s.") % {
            "script": second, "ended": two.get("ended"), "other": first, "other_ended": one.get("ended"),
        }  # fmt: skip
    for what, also, lacks in (
        ("removed", _("%(script)s also removes %(what)s."), _("%(script)s does not remove %(what)s.")),
        ("added", _("%(script)s also adds %(what)s."), _("%(script)s does not add %(what)s.")),
        ("changed", _("%(script)s also changes %(what)s."), _("%(script)s does not change %(what)s.")),
    ):  # fmt: skip
        yield from _say(second, one.get(what, ()), two.get(what, ()), also, lacks)
    calls, others = ([" ".join(call) for call in seen.get("calls", ())] for seen in (one, two))
    yield from _say(
        second, calls, others, _("%(script)s also calls %(what)s."), _("%(script)s does not call %(what)s.")
    )  # fmt: skip
    if calls != others and Counter(calls) == Counter(others):
        yield _("%(script)s makes the same calls in a different order: %(what)s.") % {
            "script": second, "what": show_list(others),
        }  # fmt: skip
    if one.get("status") != two.get("status") and one.get("ended") == two.get("ended"):
        yield _("%(script)s exits with %(status)s instead of %(other)s.") % {
            "script": second, "status": two.get("status"), "other": one.get("status"),
        }  # fmt: skip
    if one.get("stdout") != two.get("stdout"):
        yield _("%(script)s prints %(printed)s, but %(other)s prints %(other_printed)s.") % {
            "script": second, "printed": _printed(two), "other": first, "other_printed": _printed(one),
        }  # fmt: skip


def _say(
    script: str, ours: Sequence[str], theirs: Sequence[str], also: str, lacks: str
) -> Iterator[str]:
    for words, found in (
        (also, Counter(theirs) - Counter(ours)),
        (lacks, Counter(ours) - Counter(theirs)),
    ):
        if found:
            yield words % {"script": script, "what": show_list(list(found))}


def _printed(seen: Mapping[str, Any]) -> str:
    return show_name(seen["stdout"]) if seen.get("stdout") else _("nothing")
