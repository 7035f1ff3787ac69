"""The costs of one run: calls, tokens, time and money, as a total, by stage and by round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from pipeline.costs.services import Sums
from pipeline.models import Attempt, Endpoint, Run


class Step(NamedTuple):
    """A stage in a round. `refinement` is set if it was requested after the run had finished."""

    stage: str
    round: int
    refinement: int | None


@dataclass(frozen=True)
class RunCosts:
    """Sums over the attempts of a run's calls, including attempts in progress."""

    calls: int = 0
    total: Sums = field(default_factory=Sums)
    by_step: Mapping[Step, Sums] = field(default_factory=dict)
    # Models that replied on a day for which their price is unknown.
    unpriced_models: tuple[str, ...] = ()
    prices_since: tuple[date, ...] = ()
    # Replies without a credible token count from the server.
    uncounted: int = 0

    def of_round(self, round: int) -> Sums:
        """Return the sums for a round of the run, without later refinements."""
        steps = (step for step in self.by_step if step.refinement is None and step.round == round)
        return sum((self.by_step[step] for step in steps), Sums())


def costs_of(run: Run, *, bills: Callable[[Endpoint], bool]) -> RunCosts:
    """Return a run's costs in one query. `bills` says whether an endpoint's calls may be billed."""
    tries = (
        Attempt.objects.filter(call__run=run)
        .select_related("call__endpoint")
        .defer("raw", "message", "call__request", "call__reply")
    )
    by_step: dict[Step, Sums] = {}
    for one in tries:
        step = Step(one.call.stage, one.call.round, one.call.refinement_id)
        by_step[step] = by_step.get(step, Sums()) + _sums_of(one, bills)
    return RunCosts(
        calls=len({one.call_id for one in tries}),
        total=sum(by_step.values(), Sums()),
        by_step=by_step,
        unpriced_models=tuple(
            sorted({one.call.model for one in tries if _is_unpriced(one) and not one.is_uncounted})
        ),
        prices_since=tuple(sorted({one.price_since for one in tries if one.price_since})),
        uncounted=sum(one.is_uncounted for one in tries),
    )


def _is_unpriced(one: Attempt) -> bool:
    return one.outcome == Attempt.Outcome.ANSWERED and one.cost is None


def _sums_of(one: Attempt, bills: Callable[[Endpoint], bool]) -> Sums:
    return Sums(
        attempts=1,
        answered=int(one.outcome == Attempt.Outcome.ANSWERED),
        possibly_billed=int(one.possibly_billed and bills(one.call.endpoint)),
        unpriced=int(_is_unpriced(one)),
        demo=int(one.call.endpoint.demo),
        input_tokens=one.input_tokens,
        output_tokens=one.output_tokens,
        cache_read_tokens=one.cache_read_tokens,
        cache_write_tokens=one.cache_write_tokens,
        cost=one.cost or 0,
        milliseconds=one.milliseconds or 0,
    )
