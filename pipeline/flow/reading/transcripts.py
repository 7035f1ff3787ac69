"""Turns a console transcript into its commands."""

from __future__ import annotations

import re

from pipeline.flow.reading.markup import has_open_heredoc

_PROMPT = re.compile(r"[ \t]*(?:\[?[\w.-]+@[\w.-]+[: ][^\n$#]{0,80}[$#]|[$%])(?:[ \t]+|$)")
_ROOT = re.compile(r"(?:[ \t]*+(?:# [^\n]*+)?(?:\n|\Z))+")


def strip_prompts(script: str, *, is_console: bool = False) -> str | None:
    """The commands without their prompts; None if only some lines have one, as next to outputs.

    A script does not begin with `$ `, but with comments: only a console's lines may all have the prompt `# `.
    """
    if is_console and _ROOT.fullmatch(script):
        return re.sub(r"(?m)^[ \t]*# ", "", script)
    kept: list[str] = []
    command = ""  # the line that the next one may continue
    for line in script.splitlines(keepends=True):
        prompt = _PROMPT.match(line.rstrip("\r\n"))
        if has_open_heredoc(command):
            line = line.removeprefix("> ")
            command = command if has_open_heredoc(f"{command}{line.rstrip()}") else line
        elif command.rstrip("\r\n").endswith("\\") or (command and line.startswith("> ")):
            command = line = line.removeprefix("> ")
        elif prompt:
            command = line = line[prompt.end() :]
        elif line.strip() and not line.lstrip().startswith("#"):
            return None if command else script
        kept.append(line)
    return "".join(kept)
