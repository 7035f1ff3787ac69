"""The expected figures of a simulation, calculated exactly from a small Markov chain, as fractions.

**State** of an item: whether its first Draft is right, whether its latest Draft is right, and whether the latest Draft
was flagged. If assessments are unreadable with probability `u`, the assessor flags a wrong Draft with probability
`f = (1 - u) * recall`, and a right Draft with probability `(1 - u) * false_alarm`.

**A round** begins only while the latest Draft is flagged and rounds are left. The item ends if the feedback says "no
error" (probability `n`, which depends on the Draft's quality) or the refiner repeats an earlier script (probability
`s`). The latest Draft is then the last Draft. Otherwise, with probability `(1 - n)(1 - s)`, the refiner writes a new
Draft: a wrong Draft becomes right with probability `fixes`, and a right Draft becomes wrong with probability `breaks`.
The new Draft is assessed. If it is flagged, the next round begins from it. Otherwise, the item ends with it.

**The guard** recommends a refined Draft only if its assessment is better than the first Draft's. Every refined item was
flagged at first and is refined further only while flagged. Therefore, only the last Draft can be better, and it is
better if and only if it was not flagged. Such an item recommends its last Draft, and every other item its first Draft.
Without the guard, each item recommends its last Draft.

**Calls**: the calls in a run without errors, counted in the real flow (`clean_run`), and one more call for each
unreadable assessment. A round has one call to explain and, unless no error was found, one call to refine, and a second
one if the refiner repeats an earlier script. A new Draft is assessed. **Expert-triggered**: each wrong first Draft is
refined once, flagged or not (`fixes`, `fixes_missed`).

Each figure is the expectation of its numerator divided by the expectation of its denominator. Items are independent and
identically distributed, so a count is binomial with this probability, given its denominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from pipeline.error_model.rates import Rates
from pipeline.simulation.clean_run import clean_run

Expected = dict[str, Fraction | None]


@dataclass(frozen=True)
class _Ending:
    """The probabilities of an item's endings after its first Draft was flagged, and its expected further calls."""

    last_right: Fraction
    recommended_right: Fraction
    calls: Fraction


def expect_first(rates: Rates) -> Expected:
    """Return the figures for the first Draft, its assessment and expert-triggered refinement, by name."""
    wrong = 1 - rates.generator
    flagged_right, flagged_wrong = _flagged(rates)
    passed_right = rates.generator * (1 - rates.unreadable) - flagged_right
    refined = (1 - rates.no_error_wrong) * (1 - rates.repeats)
    corrected = flagged_wrong * rates.fixes + (wrong - flagged_wrong) * rates.fixes_missed
    return {
        "first_pass_accuracy": rates.generator,
        "assessor_agreement": _ratio(passed_right + flagged_wrong, 1 - rates.unreadable),
        "assessor_recall": _ratio(flagged_wrong, wrong),
        "assessor_precision": _ratio(flagged_wrong, flagged_right + flagged_wrong),
        "assessor_unknown": rates.unreadable,
        "overall_expert_triggered": rates.generator + refined * corrected,
    }


def expect_rounds(rates: Rates, *, rounds: int) -> Expected:
    """Return the figures after at most `rounds` rounds, by name."""
    flagged_right, flagged_wrong = _flagged(rates)
    of_right = _walk(rates, first_right=True, rounds=rounds)
    of_wrong = _walk(rates, first_right=False, rounds=rounds)
    expected: Expected = {
        "calls": clean_run().calls
        + rates.unreadable
        + flagged_right * of_right.calls
        + flagged_wrong * of_wrong.calls
    }
    for end, right, wrong in (
        ("assessor_triggered", of_right.last_right, of_wrong.last_right),
        ("as_recommended", of_right.recommended_right, of_wrong.recommended_right),
    ):
        net = flagged_wrong * wrong - flagged_right * (1 - right)
        expected |= {
            f"overall_{end}": rates.generator + net,
            f"fixed_{end}": wrong if flagged_wrong else None,
            f"broken_{end}": 1 - right if flagged_right else None,
            f"net_{end}": net,
        }
    return expected


def _flagged(rates: Rates) -> tuple[Fraction, Fraction]:
    """Return the share of items that are right and flagged, and the share of items that are wrong and flagged."""
    return (
        rates.generator * _flag_rate(rates, right=True),
        (1 - rates.generator) * _flag_rate(rates, right=False),
    )


def _flag_rate(rates: Rates, *, right: bool) -> Fraction:
    return (1 - rates.unreadable) * (rates.false_alarm if right else rates.recall)


def _walk(rates: Rates, *, first_right: bool, rounds: int) -> _Ending:
    # Shares of flagged latest Drafts, by quality.
    flagged = {first_right: Fraction(1), not first_right: Fraction(0)}
    last = recommended = calls = Fraction(0)
    # The calls for a refined Draft, without the calls to explain and refine.
    assessing = clean_run(is_refined=True).calls - clean_run().calls - 2
    for _ in range(rounds):
        going_on = {True: Fraction(0), False: Fraction(0)}
        for right, share in flagged.items():
            explained = share * (1 - (rates.no_error if right else rates.no_error_wrong))
            rewritten = explained * (1 - rates.repeats)
            refining = explained * (1 + rates.repeats)
            calls += share + refining + rewritten * (assessing + rates.unreadable)
            stopped = share - rewritten
            last += stopped * right
            recommended += stopped * first_right
            becomes_right = 1 - rates.breaks if right else rates.fixes
            for refined_right, moved in ((True, becomes_right), (False, 1 - becomes_right)):
                refined = rewritten * moved
                again = refined * _flag_rate(rates, right=refined_right)
                going_on[refined_right] += again
                last += (refined - again) * refined_right
                recommended += (refined - again) * refined_right
        flagged = going_on
    last += flagged[True]
    recommended += sum(flagged.values()) * first_right
    return _Ending(last, recommended, calls)


def _ratio(numerator: Fraction, denominator: Fraction) -> Fraction | None:
    return numerator / denominator if denominator else None
