"""The behavior of simulated models, as a pure function of the seed, the item, the Draft and the rates.

Nothing depends on the order of requests, so a run is reproducible with any number of threads. The random draws do not
depend on the configuration. Therefore, two configurations differ only if their rates differ.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from pipeline.error_model.rates import Rates
from pipeline.error_model.script_texts import SimulatedDraft
from pipeline.types import Verdict

_BITS = 64


class Chance(Protocol):
    """A source of random decisions about Drafts. The same question always gets the same answer."""

    def happens(self, rate: Fraction, *, what: str, item: int, draft: int) -> bool: ...


@dataclass(frozen=True)
class SeededChance:
    """Decisions from a hash: its 64 bits are compared with the rate, without rounding."""

    seed: int

    def happens(self, rate: Fraction, *, what: str, item: int, draft: int) -> bool:
        key = f"{self.seed}/{item}/{draft}/{what}".encode()
        drawn = int.from_bytes(hashlib.blake2b(key, digest_size=_BITS // 8).digest())
        return drawn * rate.denominator < rate.numerator << _BITS


@dataclass(frozen=True)
class ModelBehaviour:
    """The simulated generator, assessor and refiner."""

    rates: Rates
    chance: Chance

    def write(self, item: int) -> SimulatedDraft:
        """Return the first Draft."""
        right = self.chance.happens(self.rates.generator, what="generate", item=item, draft=0)
        return SimulatedDraft(item, 0, right)

    def judge(self, draft: SimulatedDraft) -> Verdict:
        """Return the combined verdict on a Draft from similarity and difference."""
        if self._happens(self.rates.unreadable, "unreadable", draft):
            return Verdict.UNKNOWN
        rate = self.rates.false_alarm if draft.right else self.rates.recall
        return Verdict.INCORRECT if self._happens(rate, "flag", draft) else Verdict.CORRECT

    def finds_no_error(self, draft: SimulatedDraft) -> bool:
        """Return whether the feedback says that the Draft has no error."""
        rate = self.rates.no_error if draft.right else self.rates.no_error_wrong
        return self._happens(rate, "no error", draft)

    def rewrite(self, draft: SimulatedDraft) -> SimulatedDraft:
        """Return the Draft made from the feedback: a new Draft, or an earlier Draft of the run."""
        if self._happens(self.rates.repeats, "repeat", draft):
            # Simulate both kinds of repeats: odd items get their first script, and even items their latest script.
            return self.write(draft.item) if draft.item % 2 else draft
        return SimulatedDraft(draft.item, draft.number + 1, self._is_right_after(draft))

    def _is_right_after(self, draft: SimulatedDraft) -> bool:
        if draft.right:
            return not self._happens(self.rates.breaks, "break", draft)
        flagged = self.judge(draft) is Verdict.INCORRECT
        return self._happens(self.rates.fixes if flagged else self.rates.fixes_missed, "fix", draft)

    def _happens(self, rate: Fraction, what: str, draft: SimulatedDraft) -> bool:
        return self.chance.happens(rate, what=what, item=draft.item, draft=draft.number)
