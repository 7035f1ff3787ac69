"""Assign a statement's literals to a script's parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from catalog.relevance.statement.literals import Literal
from catalog.relevance.statement.named_things import ROLES
from catalog.relevance.statement.token_shapes import Kind
from catalog.relevance.statement.vocabulary import DURATION_UNITS, SIZE_UNITS, words
from catalog.relevance.types import Parameter

_WORD = re.compile(r"[A-Za-z]+|%")
_FROM = words("source src from origin input old")
_TO = words("destination dest target to output new into")
# A text parameter accepts a literal of these kinds only if its name contains one of the words.
_HINTS = {
    Kind.GLOB: words("pattern glob name extension suffix filter files mask"),
    Kind.HOST: words("host hostname server node target machine domain address url site"),
    Kind.ADDRESS: words("ip address host server node cidr subnet network range source target"),
    Kind.URL: words("url uri endpoint address link site"),
    Kind.EMAIL: words("email mail address recipient to"),
    Kind.DATE: words("date since until time start end day from to"),
    Kind.MODE: words("mode permission permissions"),
    Kind.DURATION: words("since duration age timeout period interval until older window retention"),
    Kind.SIZE: words("size limit threshold minimum maximum larger"),
    Kind.VARIABLE: words("variable name"),
    Kind.PATH: words("file filename name pattern branch config log"),
}


@dataclass(frozen=True, slots=True)
class Binding:
    """Values by parameter name, and the literals from which the values come."""

    fills: dict[str, str] = field(default_factory=dict)
    literals: dict[str, Literal] = field(default_factory=dict)


def bind(literals: Sequence[Literal], parameters: Sequence[Parameter], text: str = "") -> Binding:
    """Assign each literal to at most one parameter of a suitable type, best fit first.

    A choice parameter can also be set by a plain word in `text` that is one of its choices.
    """
    fits = sorted(
        (-score, place, order, value)
        for place, literal in enumerate(literals)
        for order, parameter in enumerate(parameters)
        for score, value in [fit(literal, parameter)]
        if score > 0
    )
    binding = Binding()
    taken: set[int] = set()
    for _, place, order, value in fits:
        name = parameters[order].name
        if place not in taken and name not in binding.fills:
            taken.add(place)
            binding.fills[name] = value
            binding.literals[name] = literals[place]
    for parameter in parameters:
        chosen = _choose(parameter, _WORD.findall(text)) if parameter.type == "choice" else None
        if chosen and parameter.name not in binding.fills:
            binding.fills[parameter.name] = chosen
    return binding


def fit(literal: Literal, parameter: Parameter) -> tuple[float, str]:
    """Return how well a literal fits a parameter (0 means not at all), and the resulting value."""
    hints = _hints(parameter)
    side = _side_score(literal, hints)
    if side < 0:
        return 0, ""
    if parameter.type == "path":
        score, value = _fit_path(literal)
    elif parameter.type == "number":
        score, value = _fit_number(literal, parameter, hints)
    elif parameter.type == "choice":
        chosen = _choose(parameter, (literal.value, literal.text))
        score, value = (6.0, chosen) if chosen else (0.0, "")
    else:
        score, value = _fit_text(literal, hints)
        if literal.kind == Kind.DURATION and (parameter.default or "").endswith(" ago"):
            value = f"{value} ago"
    return (score + side if score else 0), value


def _choose(parameter: Parameter, spoken: Iterable[str]) -> str | None:
    choices = {choice.lower(): choice for choice in parameter.choices}
    return next((choices[word.lower()] for word in spoken if word.lower() in choices), None)


def _fit_path(literal: Literal) -> tuple[float, str]:
    if literal.kind == Kind.PATH:
        return (3.0 if literal.firm else 2.0), _spelled(literal)
    if literal.kind in (Kind.TEXT, Kind.GLOB) and " " not in literal.value:
        return 1.0, literal.text
    if literal.kind == Kind.NAME and literal.role in ("file", "directory"):
        return 1.0, literal.text
    return 0, ""


def _spelled(literal: Literal) -> str:
    """Return a path as written, or the value of a described path such as "the current directory"."""
    return literal.text if literal.firm else literal.value


def _fit_number(literal: Literal, parameter: Parameter, hints: frozenset[str]) -> tuple[float, str]:
    if literal.kind in (Kind.DURATION, Kind.SIZE):
        units = DURATION_UNITS if literal.kind == Kind.DURATION else SIZE_UNITS
        unit = _unit(hints, units)
        amount = float(literal.value) / unit if unit else 0.5
        return (4.0, f"{amount:.0f}") if amount == int(amount) else (0, "")
    if literal.kind not in (Kind.NUMBER, Kind.PORT, Kind.PERCENT, Kind.MODE):
        return 0, ""
    if not literal.value.replace(".", "").isdigit():
        return 0, ""
    if _unit(hints, DURATION_UNITS) or _unit(hints, SIZE_UNITS):
        return 0, ""
    is_port = "port" in hints
    is_percent = bool(hints & {"percent", "percentage", "pct", "%", "threshold", "usage"})
    if literal.kind == Kind.PORT:
        return (5.0, literal.value) if is_port else (0, "")
    if literal.kind == Kind.PERCENT:
        return (4.0, literal.value) if is_percent else (0, "")
    if literal.kind == Kind.MODE:
        return (4.0, literal.text) if hints & _HINTS[Kind.MODE] else (0, "")
    return (1.0 if is_port or is_percent else 2.0), literal.value


def _fit_text(literal: Literal, hints: frozenset[str]) -> tuple[float, str]:
    wanted = {ROLES[hint] for hint in hints if hint in ROLES}
    if literal.role in wanted:
        return 5.0, literal.text
    if literal.kind in _HINTS:
        return (3.0, literal.text) if hints & _HINTS[literal.kind] else (0, "")
    if literal.kind not in (Kind.NAME, Kind.TEXT):
        return 0, ""
    if literal.role and wanted:
        return 0, ""
    if literal.kind == Kind.NAME and not literal.firm:
        return (0.5, literal.text) if wanted else (0, "")
    return 1.0, literal.text


def _side_score(literal: Literal, hints: frozenset[str]) -> float:
    """Return how well the literal's side fits a parameter such as SOURCE or DESTINATION. -1 means a conflict."""
    if hints & _TO and not hints & _FROM:
        return {"to": 2.0, "from": -1.0}.get(literal.side, 0.0)
    if hints & _FROM and not hints & _TO:
        return {"to": -1.0, "from": 2.0}.get(literal.side, 1.0)
    return 0.0


def _unit(hints: frozenset[str], units: dict[str, int]) -> int:
    """Return the size of a parameter's unit, or 0 if its name and description do not contain a unit."""
    return next((units[hint] for hint in sorted(hints) if len(hint) > 1 and hint in units), 0)


@lru_cache(maxsize=4096)
def _hints(parameter: Parameter) -> frozenset[str]:
    """Return the words in a parameter's name, and the units in its description."""
    name = {word.lower() for word in _WORD.findall(parameter.name)}
    name |= {word.removesuffix("s") for word in name}
    described = {word.lower() for word in _WORD.findall(parameter.description)}
    units = described & (DURATION_UNITS.keys() | SIZE_UNITS.keys() | {"percent", "%", "port"})
    return frozenset(name | {unit for unit in units if len(unit) > 2 or unit == "%"})
