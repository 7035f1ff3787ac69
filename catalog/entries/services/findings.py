"""Compares the findings that a version was verified with to those of a newer check."""

from __future__ import annotations

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


def _by_place(findings: Iterable[Finding]) -> dict[_Place, Finding]:
    return {
        _Place(found.get("check"), found.get("code"), found.get("line")): found
        for found in findings
    }
