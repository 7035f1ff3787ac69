"""Rows for the parameter formset, suggested from a script's parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from catalog import analysis
from catalog.entries.forms import ParameterForm
from catalog.entries.services.creation import parameter_of
from core.errors import BadInput


def suggest_rows(
    script: str, typed: Sequence[Mapping[str, object]]
) -> tuple[list[dict[str, object]], list[str]]:
    """Return the submitted rows plus a row for each new parameter, and notes about values that can't be filled in.

    Raises BadInput if the script can't be parsed.
    """
    try:
        suggested = analysis.suggest_parameters(script)
    except analysis.UnreadableScript as error:
        raise BadInput(str(error), field="script") from error
    rows = [dict(row) for row in typed if row.get("name")]
    named = {row["name"] for row in rows}
    rows += [
        ParameterForm.row_of(parameter_of(found).model_dump(mode="json"))
        for found in suggested.parameters
        if found.name not in named
    ]
    unfillable = [_say_asked(asked) for asked in suggested.asked]
    if suggested.passed_on is not None:
        unfillable.append(
            _("Line %(line)s passes on all script arguments, so they can't be filled in here.")
            % {"line": suggested.passed_on}
        )
    return rows, unfillable


def _say_asked(asked: analysis.Asked) -> str:
    better = f': "${{{asked.name}:?{asked.prompt.rstrip("?: ") or "what it is"}}}"'
    return _(
        "Line %(line)s reads %(name)s from the keyboard, so its value can't be filled in here. To make it"
        " a parameter, replace the line with: %(better)s"
    ) % {"line": asked.line, "name": asked.name, "better": better}
