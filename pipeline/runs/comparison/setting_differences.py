"""The settings in which the snapshots of runs differ: models, roles, rounds, examples and prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from pipeline.models import Run
from pipeline.types import Role


@dataclass(frozen=True)
class Difference:
    """A setting in which runs differ, with the value of each run.

    `prompt` is the name of the prompt if its versions differ.
    """

    what: str
    values: Sequence[tuple[Run, str]]
    prompt: str = ""


def differences_of(runs: Sequence[Run]) -> list[Difference]:
    """Return the settings in which the snapshots of these runs differ."""
    lines = [
        *(line for role in Role for line in _lines_of_role(role, runs)),
        _line(_("Refinement rounds"), runs, lambda run: _say(run.spec.get("rounds"))),
        _line(_("Catalogue searched first"), runs, lambda run: _say(run.uses_retrieval)),
        _line(_("Examples shown"), runs, lambda run: _say(run.spec.get("uses_examples"))),
        _line(
            _("Assessor may confirm matches"),
            runs,
            lambda run: _say(run.spec.get("confirms_matches", False)),
        ),
        _line(_("Sandbox tests"), runs, lambda run: _say(run.spec.get("cases"))),
        *_lines_of_prompts(runs),
    ]
    return [line for line in lines if len({value for _run, value in line.values}) > 1]


def _lines_of_role(role: Role, runs: Sequence[Run]) -> list[Difference]:
    def read(name: str) -> Callable[[Run], str]:
        return lambda run: _say(_dict(run.roles.get(role.value)).get(name))

    parts = {
        "model": _("%s"),
        "endpoint": _("%s, endpoint"),
        "mode": _("%s: output mode"),
        "max_tokens": _("%s: maximum output tokens"),
        "effort": _("%s, effort"),
        "temperature": _("%s, temperature"),
    }
    return [_line(words % role.label, runs, read(name)) for name, words in parts.items()]


def _lines_of_prompts(runs: Sequence[Run]) -> list[Difference]:
    named = [_dict(run.spec.get("prompts")) for run in runs]
    names = sorted({name for versions in named for name in versions})
    return [
        Difference(
            _("Prompt “%s”") % name,
            [(run, _say(versions.get(name))) for run, versions in zip(runs, named, strict=True)],
            prompt=name,
        )
        for name in names
    ]


def _line(what: str, runs: Sequence[Run], read: Callable[[Run], str]) -> Difference:
    return Difference(what, [(run, read(run)) for run in runs])


def _say(value: object) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return "–" if value is None or value == "" else str(value)


def _dict(value: object) -> dict[str, object]:
    """Return a part of a snapshot, or an empty dict if an import omitted it."""
    return value if isinstance(value, dict) else {}
