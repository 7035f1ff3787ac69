"""Prepare findings of the static analysis for pages. Each is marked with the risk that it gives the script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from catalog.analysis import Outcome, RatedFinding, Risk, finding_risk, level_place


@dataclass(frozen=True)
class ShownFinding:
    """A finding for display. `mark` is the risk that it gives the script (high or medium), or else note or unscored."""

    level: str
    code: str
    message: str
    mark: str
    # How the finding differs from those of the script from which this script was derived.
    # "new" means that only this script has the finding, and "gone" means that only the other script has it.
    change: str = ""

    @property
    def rank(self) -> tuple[int, int]:
        """Return the sort key, which puts the most severe finding first."""
        return _MARKS.index(self.mark), level_place(self.level)


class PlacedFinding(NamedTuple):
    """A finding and its line, or None if the finding is about the whole script."""

    finding: ShownFinding
    line: int | None


_MARKS = (Risk.HIGH.value, Risk.MEDIUM.value, "note", "unscored")


def read_finding(finding: object) -> PlacedFinding:
    """Read a finding from the analysis, from a database row or from a Version's JSON, which share field names."""
    if isinstance(finding, Mapping):
        get = finding.get
    else:

        def get(name: str, default: object = None) -> object:
            return getattr(finding, name, default)

    line = get("line")
    level, code = str(get("level") or "info"), str(get("code") or "")
    # Models have a method named `check`, so stored rows use `check_name`.
    check = str(get("check_name") or get("check") or "")
    outcome = str(get("outcome") or Outcome.FAILED)
    return PlacedFinding(
        ShownFinding(
            level,
            code,
            str(get("message") or ""),
            _mark(check, outcome, level, code),
            str(get("change") or ""),
        ),
        line if isinstance(line, int) else None,
    )


def _mark(check: str, outcome: str, level: str, code: str) -> str:
    if outcome == Outcome.UNSCORED:
        return "unscored"
    risk = finding_risk(RatedFinding(check, outcome, level, code))
    return "note" if risk is Risk.LOW else risk.value
