"""A simulation as one JSON document, and whether it agrees with the closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.error_model.rates import MICRO, SimulatedConfiguration, Simulation
from pipeline.simulation.figures import CONFIDENCE, Counted, Figure, RoundsCounted
from pipeline.simulation.quantiles import quantile


@dataclass(frozen=True)
class Agreement:
    """The agreement of the closed form with the figures. One in twenty figures may miss by chance."""

    figures: int
    outside: tuple[str, ...]  # outside their own 95% interval
    outside_together: tuple[str, ...]  # outside the simultaneous 95% intervals


def document(simulation: Simulation, counted: Sequence[Counted]) -> dict[str, object]:
    """Return the JSON document described in docs/simulating.md. Costs are in dollars."""
    agreement = check_agreement(simulation, counted)
    return {
        "simulated": True,
        "seed": simulation.seed,
        "items": counted[0].items,
        "configurations": [
            _configuration(configuration, one)
            for configuration, one in zip(simulation.configurations, counted, strict=True)
        ],
        "agreement": {
            "figures": agreement.figures,
            "outside": list(agreement.outside),
            "outside_together": list(agreement.outside_together),
        },
    }


def check_agreement(simulation: Simulation, counted: Sequence[Counted]) -> Agreement:
    """Compare every figure with the closed form, individually and simultaneously (Bonferroni)."""
    named = [
        (name, figure)
        for configuration, one in zip(simulation.configurations, counted, strict=True)
        for name, figure in _named(configuration.name, one)
        if figure.agrees() is not None
    ]
    together = quantile(CONFIDENCE, figures=max(1, len(named)))
    return Agreement(
        figures=len(named),
        outside=tuple(name for name, figure in named if not figure.agrees()),
        outside_together=tuple(name for name, figure in named if not figure.agrees(z=together)),
    )


def cost_per_right_gained(one: RoundsCounted, none: RoundsCounted, end: str) -> float | None:
    """Return the refinement cost in dollars per additional correct script, or None if no correct script was gained."""
    net = one.figure(f"net_{end}")
    if net is None or net.numerator <= 0:
        return None
    return (one.cost - none.cost) / net.numerator / MICRO


def _named(configuration: str, one: Counted) -> list[tuple[str, Figure]]:
    first = [(f"{configuration}: {figure.name}", figure) for figure in one.figures]
    return first + [
        (f"{configuration}, rounds {each.rounds}: {figure.name}", figure)
        for each in one.rounds
        for figure in each.figures
    ]


def _configuration(configuration: SimulatedConfiguration, one: Counted) -> dict[str, object]:
    return {
        "name": configuration.name,
        "title": configuration.title,
        "note": configuration.note,
        "rates": configuration.rates.model_dump(mode="json"),
        "prices": {
            role.value: {"input": float(price.input), "output": float(price.output)}
            for role, price in configuration.prices.items()
        },
        "figures": {figure.name: _figure(figure) for figure in one.figures},
        "rounds": [_rounds(each, one) for each in one.rounds],
    }


def _rounds(each: RoundsCounted, one: Counted) -> dict[str, object]:
    return {
        "rounds": each.rounds,
        "figures": {figure.name: _figure(figure) for figure in each.figures},
        "tokens_per_item": {
            "input": each.input_tokens / one.items,
            "output": each.output_tokens / one.items,
        },
        "cost": each.cost / MICRO,
        "cost_per_item": each.cost / one.items / MICRO,
        "cost_per_right_gained": {
            end: cost_per_right_gained(each, one.rounds[0], end)
            for end in ("assessor_triggered", "as_recommended")
        },
    }


def _figure(figure: Figure) -> dict[str, object]:
    interval = figure.interval()
    return {
        "numerator": figure.numerator,
        "denominator": figure.denominator,
        "value": figure.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "closed_form": None if figure.expected is None else float(figure.expected),
        "agrees": figure.agrees(),
    }
