"""Compare a version's findings with the findings of a newer check or another version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from catalog.analysis import Placed, RatedFinding, new_and_gone
from catalog.models import Recheck, Version

Finding = Mapping[str, object]


@dataclass(frozen=True)
class Changed:
    """The differences between a recheck's findings and the version's own findings."""

    new: tuple[Finding, ...]
    gone: tuple[Finding, ...]


@dataclass(frozen=True)
class SameFindings:
    """Findings that differ only in their lines and are shown as one finding."""

    change: str  # new, kept or gone
    found: Finding
    lines: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class SinceReplaced:
    """The new, unchanged and resolved findings of a version, compared with the version that it replaces."""

    new: tuple[Finding, ...]
    kept: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    is_first: bool  # True if it replaces no version; no finding is then marked as new

    @property
    def marked(self) -> list[Finding]:
        """Return the version's findings, with new findings marked."""
        change = "" if self.is_first else "new"
        return [*({**one, "change": change} for one in self.new), *self.kept]

    @property
    def marked_gone(self) -> list[Finding]:
        """Return the findings that only the replaced version has, with line numbers of its script."""
        return [{**one, "change": "gone"} for one in self.gone]

    @property
    def grouped(self) -> list[SameFindings]:
        """Return the grouped findings: new findings first, then kept, then gone findings."""
        return [
            same
            for change, found in (("new", self.new), ("kept", self.kept), ("gone", self.gone))
            for same in _same_findings(change, found)
        ]


class _Place(NamedTuple):
    """The fields that identify a finding. The message is ignored."""

    check: object
    code: object
    line: object


def compare_findings(version: Version, recheck: Recheck) -> Changed:
    """Return the recheck's new findings and the version's findings that are gone."""
    before, after = _by_place(version.findings), _by_place(recheck.findings)
    return Changed(
        new=tuple(found for place, found in after.items() if place not in before),
        gone=tuple(found for place, found in before.items() if place not in after),
    )


def newer_findings(version: Version) -> Changed | None:
    """Return how a newer checker's findings differ from the version's, or None if they don't differ."""
    recheck = Recheck.objects.filter(version=version, has_changed=True).first()
    return compare_findings(version, recheck) if recheck else None


def findings_since(old: Version | None, new: Version) -> SinceReplaced:
    """Return the new, unchanged and resolved findings, by the same rule as the review page (`new_and_gone`)."""
    before = old.findings if old else []
    came, gone = new_and_gone(_placed(old), _placed(new))
    found = list(enumerate(new.findings))
    return SinceReplaced(
        new=tuple(one for index, one in found if index in came),
        kept=tuple(one for index, one in found if index not in came),
        gone=tuple(one for index, one in enumerate(before) if index in gone),
        is_first=old is None,
    )


def _same_findings(change: str, findings: Iterable[Finding]) -> list[SameFindings]:
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for found in findings:
        key = tuple(found.get(name) for name in ("check", "outcome", "level", "code", "message"))
        alike.setdefault(key, []).append(found)
    return [
        SameFindings(
            change,
            same[0],
            tuple(sorted({line for one in same if isinstance(line := one.get("line"), int)})),
            len(same),
        )
        for same in alike.values()
    ]


def _placed(version: Version | None) -> list[Placed]:
    if version is None:
        return []
    lines = version.script.splitlines()
    return [
        Placed(
            check=str(found.get("check")),
            code=str(found.get("code")),
            message=str(found.get("message")),
            text=Placed.text_of(lines, found.get("line")),
        )
        for found in version.findings
    ]


def ratings(findings: Iterable[Finding]) -> list[RatedFinding]:
    """Return the fields of stored findings that determine the risk."""
    names = ("check", "outcome", "level", "code")
    return [RatedFinding(*(str(found.get(name, "")) for name in names)) for found in findings]


def _by_place(findings: Iterable[Finding]) -> dict[_Place, Finding]:
    return {
        _Place(found.get("check"), found.get("code"), found.get("line")): found
        for found in findings
    }
