"""Compares findings: of a version with those of a newer check, and of two versions with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from catalog.models import Recheck, Version

Finding = Mapping[str, object]


@dataclass(frozen=True)
class Changed:
    """In what a recheck differs from what the version was verified with."""

    new: tuple[Finding, ...]
    gone: tuple[Finding, ...]


@dataclass(frozen=True)
class SinceReplaced:
    """The findings of a version, told apart by whether the version it replaces has them too."""

    new: tuple[Finding, ...]
    kept: tuple[Finding, ...]
    gone: tuple[Finding, ...]


class _Place(NamedTuple):
    """What makes a finding the same finding, whatever its wording."""

    check: object
    code: object
    line: object


def compare_findings(version: Version, recheck: Recheck) -> Changed:
    """What came and what went between the version's own findings and those of the recheck."""
    before, after = _by_place(version.findings), _by_place(recheck.findings)
    return Changed(
        new=tuple(found for place, found in after.items() if place not in before),
        gone=tuple(found for place, found in before.items() if place not in after),
    )


def newer_findings(version: Version) -> Changed | None:
    """What a newer checker says of a version beside its own findings; None where that is nothing else."""
    recheck = Recheck.objects.filter(version=version, has_changed=True).first()
    return compare_findings(version, recheck) if recheck else None


def findings_since(old: Version | None, new: Version) -> SinceReplaced:
    """What came, stayed and went. A finding is the same where the rule and the text of its line are: lines move."""
    before = Counter(_at_text(old, found) for found in old.findings) if old else Counter()
    came, kept = [], []
    for found in new.findings:
        place = _at_text(new, found)
        if before[place]:
            before[place] -= 1
            kept.append(found)
        else:
            came.append(found)
    gone = []
    for found in old.findings if old else ():
        place = _at_text(old, found)
        if before[place]:
            before[place] -= 1
            gone.append(found)
    return SinceReplaced(new=tuple(came), kept=tuple(kept), gone=tuple(gone))


def _at_text(version: Version | None, found: Finding) -> tuple[object, object, str]:
    lines = version.script.splitlines() if version else []
    line = found.get("line")
    text = lines[line - 1].strip() if isinstance(line, int) and 0 < line <= len(lines) else ""
    return found.get("check"), found.get("code"), text


def _by_place(findings: Iterable[Finding]) -> dict[_Place, Finding]:
    return {
        _Place(found.get("check"), found.get("code"), found.get("line")): found
        for found in findings
    }
