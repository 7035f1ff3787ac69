"""The rows in which parameters are described, filled from what a script asks for."""

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
    """The rows that were typed, then one for each other parameter; and what nobody could fill in.

    Raises BadInput for what is no script.
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
    return rows, [_say_asked(asked) for asked in suggested.asked]


def _say_asked(asked: analysis.Asked) -> str:
    better = f': "${{{asked.name}:?{asked.prompt.rstrip("?: ") or "what it is"}}}"'
    return _(
        "Line %(line)s asks for %(name)s at the keyboard (read), so nobody can fill it in before. To make"
        " it a parameter, write instead: %(better)s"
    ) % {"line": asked.line, "name": asked.name, "better": better}
