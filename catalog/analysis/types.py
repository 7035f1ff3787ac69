"""The types of the static analysis: findings with outcome and level, and the report."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MAXIMUM_BYTES = 1_000_000  # of UTF-8; no script that a person reviews comes near it


class UnreadableScript(ValueError):
    """The text can't be analysed as a script; its message is for people."""


class Outcome(StrEnum):
    """The result of one check. Unscored means that it could not decide, and never counts as a pass."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"


class Level(StrEnum):
    """How much a finding matters, by the names that ShellCheck has for it; the gravest first.

    This is the only list of them: pages sort by it, and the tables that store findings are constrained by it.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    STYLE = "style"


_PLACES = {level.value: at for at, level in enumerate(Level)}


def level_place(level: str) -> int:
    """A sort key, the gravest level first; unknown levels come last."""
    return _PLACES.get(level, len(_PLACES))


def is_at_least(level: str, least: Level) -> bool:
    """Whether a level is at least as grave as another one."""
    return level_place(level) <= level_place(least)


class SideEffect(StrEnum):
    """What a script does to the machine; read_only only if every command is known to be."""

    READ_ONLY = "read_only"
    MUTATING = "mutating"
    UNKNOWN = "unknown"


class Risk(StrEnum):
    """How much can go wrong if the script runs."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One finding of one check; it counts only for this script and this version of the check.

    Lines and columns start at 1 and count characters; all four are None for the script as a whole. A check that
    found nothing returns one finding with the outcome passed.
    """

    check: str
    version: str
    outcome: Outcome
    level: Level
    code: str
    message: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    fix: str | None = None


class Coverage(NamedTuple):
    """The number of lines that the parser could read, and of all lines."""

    analyzed: int
    lines: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything the analysis says about one script text."""

    sha256: str
    findings: tuple[Finding, ...]
    syntax_ok: bool | None  # what `bash -n` says; None where it could not be asked
    side_effect: SideEffect
    risk: Risk
    coverage: Coverage

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings to show: neither passes nor unscored ones."""
        return tuple(found for found in self.findings if found.outcome is Outcome.FAILED)

    @property
    def unscored(self) -> tuple[Finding, ...]:
        """The unscored findings, which are shown because they are not passes."""
        return tuple(found for found in self.findings if found.outcome is Outcome.UNSCORED)

    @property
    def versions(self) -> dict[str, str]:
        """The version of each check that returned a finding."""
        return {found.check: found.version for found in self.findings}


def hash_script(script: str) -> str:
    """The sha256, in hex digits, that stored findings are bound to."""
    return hashlib.sha256(script.encode("utf-8", "surrogatepass")).hexdigest()


def encode_script(script: str) -> bytes:
    """The script's bytes; raises UnreadableScript if no shell could read them."""
    if "\0" in script:
        raise UnreadableScript("The script contains a NUL byte, so it is not a text file.")
    try:
        encoded = script.encode()
    except UnicodeEncodeError as error:
        raise UnreadableScript(
            f"Character {error.start + 1} of the script is not valid Unicode."
        ) from error
    if len(encoded) > MAXIMUM_BYTES:
        raise UnreadableScript(
            f"The script has {len(encoded):,} bytes; at most {MAXIMUM_BYTES:,} are analysed."
        )
    return encoded
