"""Format the result of a simulation as text tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from pipeline.error_model.rates import MICRO, SimulatedConfiguration, Simulation
from pipeline.simulation.figures import Counted, Figure, Mean, RoundsCounted
from pipeline.simulation.result_document import check_agreement, cost_per_right_gained

_WIDTH = 100
_SHARES = ("overall", "fixed", "broken")
_ENDS = ("as_recommended", "assessor_triggered")
_ABOVE = f"{'':>7}{'as recommended':>24}{'guard ignored':>24}{'each item':>16}{'$ per 1,000':>12}{'$ per correct':>15}"
_HEAD = (
    f"{'rounds':>7}"
    + f"{'correct':>8}{'fixed':>8}{'broken':>8}" * len(_ENDS)
    + f"{'calls':>8}{'tokens':>8}{'items':>12}{'script gained':>15}"
)


def write_figures(simulation: Simulation, counted: Sequence[Counted]) -> str:
    """Return every figure with its interval, next to the closed form."""
    lines: list[str] = []
    for configuration, one in zip(simulation.configurations, counted, strict=True):
        lines += _head(configuration)
        lines += [_row(figure) for figure in one.figures]
        for each in one.rounds:
            lines += ["", f"  {_say_rounds(each.rounds)}"]
            lines += [_row(figure) for figure in each.figures]
        lines += ["", ""]
    return "\n".join(lines)


def write_summary(simulation: Simulation, counted: Sequence[Counted]) -> str:
    """Return a comparison of the configurations by number of rounds, and the agreement with the closed form."""
    width = max(len(configuration.name) for configuration in simulation.configurations)
    lines = [f"{'':<{width}}{_ABOVE}", f"{'':<{width}}{_HEAD}"]
    for configuration, one in zip(simulation.configurations, counted, strict=True):
        lines += [f"{configuration.name:<{width}}{_summary(each, one)}" for each in one.rounds]
    lines += ["", *_agreement(simulation, counted), "", _origin(simulation, counted)]
    return "\n".join(lines)


def _origin(simulation: Simulation, counted: Sequence[Counted]) -> str:
    return (
        f"Simulated: {counted[0].items} items, seed {simulation.seed}. No model was called. "
        "The rates are given, and tokens are those of simulated texts."
    )


def _say_rounds(rounds: int) -> str:
    if not rounds:
        return "without refinement"
    return "with at most 1 round" if rounds == 1 else f"with at most {rounds} rounds"


def _head(configuration: SimulatedConfiguration) -> Iterator[str]:
    yield f"{configuration.name}: {configuration.title}".rstrip(": ")
    rates = ", ".join(f"{name} {float(rate):.3g}" for name, rate in configuration.rates)
    for text in (configuration.note, rates):
        yield from wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    yield ""
    yield f"  {'':<30}{'counted':>12}{'value':>9}{'95% interval':>18}{'closed form':>13}"


def _row(figure: Figure) -> str:
    counted = f"{figure.numerator}/{figure.denominator}"
    interval = figure.interval()
    expected = figure.expected
    between = (
        f"{_number(figure, interval.low)} to {_number(figure, interval.high)}" if interval else ""
    )
    return (
        f"  {figure.name:<30}{counted:>12}{_number(figure, figure.value):>9}{between:>18}"
        f"{_number(figure, None if expected is None else float(expected)):>13}"
        f"{'  outside' if figure.agrees() is False else ''}"
    )


def _number(figure: Figure, value: float | None) -> str:
    """Format calls as a number, proportions as a percentage, and None as a dash."""
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(figure, Mean) else f"{100 * value:.1f}%"


def _summary(each: RoundsCounted, one: Counted) -> str:
    shares = [_value(each, f"{name}_{end}") for end in _ENDS for name in _SHARES]
    tokens = (each.input_tokens + each.output_tokens) / one.items
    gained = cost_per_right_gained(each, one.rounds[0], "as_recommended")
    return (
        f"{each.rounds:>7}{''.join(f'{share:>8}' for share in shares)}"
        f"{_value(each, 'calls'):>8}{tokens:>8,.0f}{1000 * each.cost / one.items / MICRO:>12.2f}"
        f"{'-' if gained is None else f'{gained:.4f}':>15}"
    )


def _value(each: RoundsCounted, name: str) -> str:
    figure = each.figure(name)
    return _number(figure, figure.value) if figure else "-"


def _agreement(simulation: Simulation, counted: Sequence[Counted]) -> Iterator[str]:
    agreement = check_agreement(simulation, counted)
    inside = agreement.figures - len(agreement.outside)
    yield (
        f"The closed form is within the 95% interval of {inside} of {agreement.figures} figures. "
        "About one in twenty misses"
    )
    yield "by chance. Misses are correlated because the figures count the same items."
    yield from (f"  outside: {name}" for name in agreement.outside)
    if agreement.outside_together:
        yield "Outside the simultaneous 95% intervals (Bonferroni), so not by chance alone:"
        yield from (f"  {name}" for name in agreement.outside_together)
    else:
        yield "All figures are within simultaneous 95% intervals (Bonferroni)."
