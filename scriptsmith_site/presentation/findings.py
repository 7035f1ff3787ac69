"""A finding of the analysis as pages show it: by what it makes of the script, on the one scale of risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from catalog.analysis import Outcome, RatedFinding, Risk, finding_risk, level_place


@dataclass(frozen=True)
class ShownFinding:
    """What is shown of a finding. `mark` is high or medium, the risk it gives the script; note; or unscored."""

    level: str
    code: str
    message: str
    mark: str
    # Of a script that was made from another: new where the other has none like it, gone where only the other has it.
    change: str = ""

    @property
    def rank(self) -> tuple[int, int]:
        """To sort by, the worst first."""
        return _MARKS.index(self.mark), level_place(self.level)


class PlacedFinding(NamedTuple):
    """A finding and its line, which is None where it is about the whole script."""

    finding: ShownFinding
    line: int | None


_MARKS = (Risk.HIGH.value, Risk.MEDIUM.value, "note", "unscored")


def read_finding(finding: object) -> PlacedFinding:
    """A finding of the analysis, a stored row of it, or its JSON in a Version: all have these fields."""
    if isinstance(finding, Mapping):
        get = finding.get
    else:

        def get(name: str, default: object = None) -> object:
            return getattr(finding, name, default)

    line = get("line")
    level, code = str(get("level") or "info"), str(get("code") or "")
    # Every model of Django has a `check` of its own.
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
