"""The types of the static analysis: findings with outcome and level, and the report."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MAXIMUM_BYTES = 1_000_000  # UTF-8 bytes, far more than any reviewed script has


class UnreadableScript(ValueError):
    """The text can't be analyzed as a script. The message is shown to users."""


class Outcome(StrEnum):
    """The result of one check. Unscored means that the check could not decide, and never counts as a pass."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"


class Level(StrEnum):
    """The severity of a finding, with ShellCheck's names, most severe first.

    Pages sort findings by this order, and the constraints of the tables that store findings use these levels.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    STYLE = "style"


_PLACES = {level.value: at for at, level in enumerate(Level)}


def level_place(level: str) -> int:
    """Return a sort key that puts the most severe level first and unknown levels last."""
    return _PLACES.get(level, len(_PLACES))


def is_at_least(level: str, least: Level) -> bool:
    """Return whether a level is at least as severe as another level."""
    return level_place(level) <= level_place(least)


class SideEffect(StrEnum):
    """A script's effect on the machine. The effect is read_only only if every command is known to be read-only."""

    READ_ONLY = "read_only"
    MUTATING = "mutating"
    UNKNOWN = "unknown"


class Risk(StrEnum):
    """The amount of damage that the script can do."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding of a check, valid only for this script and this version of the check.

    Lines and columns start at 1. Columns are in characters. The positions are None if the finding is about the script
    as a whole. A check that found nothing returns one finding with the outcome passed.
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
    """The number of lines that the parser could read, and the total number of lines."""

    analyzed: int
    lines: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """All results of the analysis of one script."""

    sha256: str
    findings: tuple[Finding, ...]
    syntax_ok: bool | None  # the result of `bash -n`; None if it could not run
    side_effect: SideEffect
    risk: Risk
    coverage: Coverage

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Return the failed findings."""
        return tuple(found for found in self.findings if found.outcome is Outcome.FAILED)

    @property
    def unscored(self) -> tuple[Finding, ...]:
        """Return the unscored findings, which are shown because they are not passes."""
        return tuple(found for found in self.findings if found.outcome is Outcome.UNSCORED)

    @property
    def versions(self) -> dict[str, str]:
        """Return the version of each check that returned a finding."""
        return {found.check: found.version for found in self.findings}


def hash_script(script: str) -> str:
    """Return the SHA-256 in hex digits that identifies the script in stored findings."""
    return hashlib.sha256(script.encode("utf-8", "surrogatepass")).hexdigest()


def encode_script(script: str) -> bytes:
    """Return the script's bytes. Raises UnreadableScript if a shell could not read the script."""
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
            f"The script has {len(encoded):,} bytes. The limit is {MAXIMUM_BYTES:,}."
        )
    return encoded
