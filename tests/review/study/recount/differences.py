"""What was compared, and what was found to differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.review.study.recount.agreement import Drawn

EXACT, DRAWN = 1e-9, 0.01


@dataclass
class Differences:
    """How many figures were compared, and those that differ, each as one line."""

    compared: int = 0
    drawn: int = 0  # ends of bootstrap intervals among them
    beyond: list[float] = field(
        default_factory=list
    )  # by how much such ends lie more than DRAWN apart
    found: list[str] = field(default_factory=list)

    def check(self, name: str, ours: object, theirs: object, *, within: float = EXACT) -> None:
        """Compare one figure; None is equal to None only."""
        self.compared += 1
        if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
            if abs(ours - theirs) <= within:
                return
        elif ours == theirs:
            return
        self.found.append(f"{name}: recounted {ours}, reported {theirs}")

    def check_ends(self, name: str, ours: tuple[float, float] | None, theirs: Any) -> None:
        """Compare both ends of what is exact."""
        for place, end in enumerate(("low", "high")):
            self.check(f"{name} {end}", ours and ours[place], theirs and theirs[place])

    def check_drawn(self, name: str, ours: Drawn | None, theirs: Any) -> None:
        """Compare both ends of a bootstrap interval.

        Few statements have few values that can be drawn: where the end lies between two of them that are more than
        DRAWN apart, it is chance which one a seed finds. Such an end is counted, and must be one that chance may find.
        """
        for place, end in enumerate(("low", "high")):
            one, other = ours and ours[place], theirs and theirs[place]
            self.drawn += one is not None
            if ours and one is not None and other is not None and abs(one - other) > DRAWN:
                least, most = ours.lowest if end == "low" else ours.highest
                if least - EXACT <= other <= most + EXACT:
                    self.compared += 1
                    self.beyond.append(abs(one - other))
                    continue
            self.check(f"{name} {end}", one, other, within=DRAWN)
