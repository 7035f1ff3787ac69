"""Fill in a script's parameters, and explain why a script can't be copied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile

from django.utils.translation import gettext as _

from catalog import analysis
from catalog.models import Version
from catalog.version_details import Parameter, ParameterType

LONGEST_VALUE = 1_000  # characters
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_CONTROL_OR_LINE = re.compile(r"[\x00-\x1f\x7f]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A script with parameter values. A script with problems or dangers is not filled in and may not be copied."""

    text: str
    values: Mapping[str, str]  # nonempty values by parameter
    problems: Mapping[str, str] = field(default_factory=dict)  # problems by parameter
    dangers: tuple[str, ...] = ()  # values that would destroy more than intended
    findings: Sequence[
        Mapping[str, object]
    ] = ()  # findings on the version, with the lines of this text
    script: str = ""  # without the values

    @cached_property
    def _added(self) -> tuple[int, int]:
        """Return how many lines the values added, and the line after which they were added."""
        old, new = self.script.split("\n"), self.text.split("\n")
        same = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
        return len(new) - len(old), sum(1 for _pair in same)

    def line_of(self, line: object) -> int | None:
        """Convert a line number of the script to a line number of the text. Return None if `line` is not a number."""
        added, after = self._added
        if not isinstance(line, int):
            return None
        return line + added if line > after else line


def fill_in(version: Version, values: Mapping[str, str]) -> Filled:
    """Return the script with these values, or with the problems that prevent filling them in.

    The script's own default applies to an empty or missing value.
    """
    parameters = {row["name"]: Parameter.model_validate(row) for row in version.parameters}
    given = {name: value for name, value in values.items() if value}
    problems = {name: _("The script has no such parameter.") for name in given.keys() - parameters}
    for name, parameter in parameters.items():
        if problem := _problem_of(parameter, given.get(name, "")):
            problems[name] = problem
    if problems:
        return Filled(
            text=version.script, values=given, problems=problems, findings=version.findings
        )
    dangers = tuple(analysis.dangerous_values(version.script, given))
    text = version.script
    if not dangers:
        try:
            text = analysis.fill(version.script, given)
        except analysis.UnfillableScript as error:  # the description is from an older analysis
            dangers = (str(error),)
    filled = Filled(text=text, values=given, dangers=dangers, script=version.script)
    findings = [
        {
            **found,
            **{key: filled.line_of(found[key]) for key in ("line", "end_line") if key in found},
        }
        for found in version.findings
    ]
    return replace(filled, findings=findings)


def _problem_of(parameter: Parameter, value: str) -> str:
    if not value:
        return _("Enter a value.") if parameter.required and parameter.default is None else ""
    if len(value) > LONGEST_VALUE:
        return _("Use at most %(longest)s characters.") % {"longest": LONGEST_VALUE}
    if parameter.type is ParameterType.TEXT:
        if _CONTROL.search(value):
            return _("Control characters other than tabs and line breaks are not allowed.")
    elif _CONTROL_OR_LINE.search(value):
        return _("Control characters and line breaks are not allowed.")
    if parameter.type is ParameterType.PATH and value != parameter.default:
        if value.startswith("~"):
            return _("Enter the full path. The script does not expand ~.")
        if value.startswith("-"):
            return _("Put ./ before the name. A name that begins with - is treated as an option.")
    if parameter.type is ParameterType.NUMBER and not _NUMBER.fullmatch(value):
        return _("Enter a number.")
    if parameter.type is ParameterType.CHOICE and value not in parameter.choices:
        return _("Choose one of: %(choices)s") % {"choices": ", ".join(parameter.choices)}
    return ""
