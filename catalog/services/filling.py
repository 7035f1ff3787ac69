"""Filling parameters in, and saying what keeps a script from being copied."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from catalog import analysis
from catalog.details import Parameter, ParameterType
from catalog.models import Version

LONGEST_VALUE = 1_000  # characters
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A script with values; it may be copied while there are no problems."""

    text: str
    values: Mapping[str, str]  # those that are not empty
    problems: Mapping[str, str] = field(default_factory=dict)  # by parameter


def fill_in(version: Version, values: Mapping[str, str]) -> Filled:
    """The exact text with these values, and what is wrong with each of them.

    A parameter that is empty or left out keeps what the script itself says.
    """
    parameters = {row["name"]: Parameter.model_validate(row) for row in version.parameters}
    given = {name: value for name, value in values.items() if value}
    problems = {name: _("The script has no such parameter.") for name in given.keys() - parameters}
    for name, parameter in parameters.items():
        if problem := _problem_of(parameter, given.get(name, "")):
            problems[name] = problem
    usable = {name: value for name, value in given.items() if name not in problems}
    for name in analysis.dangerous_values(version.script, usable):
        problems.setdefault(
            name, _("This command destroys what it is given: it can't be empty or “/”.")
        )
    return Filled(text=analysis.fill(version.script, usable), values=given, problems=problems)


def _problem_of(parameter: Parameter, value: str) -> str:
    if not value:
        return _("Fill this in.") if parameter.required and parameter.default is None else ""
    if len(value) > LONGEST_VALUE:
        return _("At most %(longest)s characters.") % {"longest": LONGEST_VALUE}
    if any(ord(character) < 32 or character == "\x7f" for character in value):
        return _("Control characters and line ends can't be filled in.")
    if parameter.type is ParameterType.NUMBER and not _NUMBER.fullmatch(value):
        return _("Write a number.")
    if parameter.type is ParameterType.CHOICE and value not in parameter.choices:
        return _("Choose one of: %(choices)s") % {"choices": ", ".join(parameter.choices)}
    return ""
