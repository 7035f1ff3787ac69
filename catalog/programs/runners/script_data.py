"""The data of a script that is exported to a runner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from catalog.analysis import find_parameters
from catalog.version_details import Parameter


@dataclass(frozen=True)
class Provenance:
    """A script's origin and verification. Exports store this data next to the script, not in the script."""

    entry: str
    title: str
    version: int
    sha256: str
    verification: str
    url: str
    verify: str  # API URL that returns the script's current status

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"

    def comment(self) -> str:
        """Return the provenance as comment lines, one per field."""
        lines = {
            "Entry": f"{self.entry} version {self.version}",
            "SHA-256 of the script": self.sha256,
            "State": self.verification,
            "Check that it is still verified": self.verify,
        }
        return "".join(f"# {name}: {_one_line(text)}\n" for name, text in lines.items())


@dataclass(frozen=True)
class Value:
    """A parameter and how the script reads it: by position, as an option or as a variable."""

    parameter: Parameter
    position: int | None
    option: str

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def is_required(self) -> bool:
        return self.parameter.required and self.parameter.default is None

    @property
    def is_variable(self) -> bool:
        return self.position is None and not self.option


@dataclass(frozen=True)
class RunnableScript:
    """A script to export: its exact text, its parameters and its requirements."""

    provenance: Provenance
    script: str
    values: Sequence[Value]
    shell: str
    needs_root: bool
    is_read_only: bool

    @property
    def interpreter(self) -> str:
        """Return the shell's name, or bash if the shell is unknown."""
        return self.shell if self.shell in ("bash", "sh", "dash", "zsh", "ksh") else "bash"

    @property
    def positional(self) -> list[Value]:
        return sorted(
            (one for one in self.values if one.position), key=lambda one: one.position or 0
        )

    @property
    def options(self) -> list[Value]:
        return [one for one in self.values if one.option]

    @property
    def variables(self) -> list[Value]:
        return [one for one in self.values if one.is_variable]

    @property
    def ends_options(self) -> bool:
        """Return whether positional arguments need a preceding `--`, because the script parses options."""
        return "getopts" in self.script


def values_of(script: str, rows: Sequence[Mapping[str, object]]) -> list[Value]:
    """Return the described parameters, and how the script reads each of them."""
    parameters = [Parameter.model_validate(row) for row in rows]
    read = {one.name: one for one in find_parameters(script)}
    return [
        Value(
            parameter,
            read[parameter.name].position if parameter.name in read else None,
            read[parameter.name].option if parameter.name in read else "",
        )
        for parameter in parameters
    ]


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
