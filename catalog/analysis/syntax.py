"""Check the syntax with Bash itself (`bash -n`), which does not run the script."""

from __future__ import annotations

import re
import shutil

from catalog.analysis.tools import ToolFailed, run_tool, tool_version
from catalog.analysis.types import Finding, Level, Outcome, encode_script

CHECK = "bash-syntax"
TIMEOUT = 5.0  # seconds

_MESSAGE = re.compile(r"(?:line (?P<line>\d+): )?(?!`|line \d+: `)(?P<text>.+)")
_HEREDOC = re.compile(r"here-document at line (\d+)")
_EXTGLOB = re.compile(rb"^[ \t]*shopt[ \t]+-s[ \t][^\n#]*\bextglob\b", re.MULTILINE)


def check_syntax(script: str, *, timeout: float = TIMEOUT) -> list[Finding]:
    """Return the messages of `bash -n`, including warnings with exit code 0.

    Raises UnreadableScript for text that is not a script. A missing bash, a crash or a timeout causes one unscored
    finding.
    """
    encoded = encode_script(script)
    bash = shutil.which("bash")
    if bash is None:
        return [_unscored("Bash is not installed, so the syntax was not checked.", "none")]
    version = "unknown"
    try:
        version = tool_version(bash)
        done = run_tool(_command_line(bash, encoded), encoded, timeout=timeout)
    except ToolFailed as failed:
        return [_unscored(str(failed), version)]
    said = done.stderr.decode("utf-8", "replace").replace(f"{bash}: ", "")
    return _read_answer(done.returncode, said, version)


def _command_line(bash: str, encoded: bytes) -> list[str]:
    # `shopt` does not run under -n, so Bash would report extended patterns as errors.
    extended = ["-O", "extglob"] if _EXTGLOB.search(encoded) else []
    return [bash, "--norc", "--noprofile", *extended, "-n"]


def _read_answer(returncode: int, stderr: str, version: str) -> list[Finding]:
    findings = [_problem(line, text, returncode, version) for line, text in _messages(stderr)]
    if findings:
        return findings
    if returncode != 0:
        return [
            _problem(None, "Bash rejects the script without giving a reason.", returncode, version)
        ]
    return [_finding(Outcome.PASSED, Level.INFO, "syntax", "No syntax errors.", version)]


def _messages(stderr: str) -> list[tuple[int | None, str]]:
    """Return the line and text of each message, without the script line that Bash repeats."""
    said: list[tuple[int | None, str]] = []
    for raw in stderr.splitlines():
        if found := _MESSAGE.match(raw):
            heredoc = _HEREDOC.search(found["text"])
            line = heredoc[1] if heredoc else found["line"]
            said.append((int(line) if line else None, found["text"][:300]))
    return said


def _problem(line: int | None, text: str, returncode: int, version: str) -> Finding:
    is_warning = text.startswith("warning: ") and returncode == 0
    return _finding(
        Outcome.FAILED,
        Level.WARNING if is_warning else Level.ERROR,
        "unclosed-heredoc" if "here-document" in text else "syntax",
        text.removeprefix("warning: "),
        version,
        line=line,
    )


def _unscored(message: str, version: str) -> Finding:
    return _finding(Outcome.UNSCORED, Level.INFO, "not-checked", message, version)


def _finding(
    outcome: Outcome,
    level: Level,
    code: str,
    message: str,
    version: str,
    *,
    line: int | None = None,
) -> Finding:
    return Finding(
        check=CHECK,
        version=version,
        outcome=outcome,
        level=level,
        code=code,
        message=message,
        line=line,
    )
