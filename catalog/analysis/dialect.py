"""Detect scripts that are analyzed as Bash but are written in another language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from catalog.analysis.shell.commands import Gap
from catalog.analysis.shell.fragments import Span, Unit

MAXIMUM_READ = 4_000  # bytes of the text that are checked

_SHELLS = re.compile(r"(?:r?bash|sh|d?ash|[mo]?ksh\w*|pdksh|posh|yash|busybox)")
_SHEBANG = re.compile(r"#![ \t]*(?:\S*/env(?:[ \t]+-\S+|[ \t]+\w+=\S*)*[ \t]+)?(?:\S*/)?([\w.+-]+)")
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#.*$")
_HEREDOC = re.compile(
    r"<<-?[ \t]*[\"']?(\w+)[\"']?(?P<rest>[^\n]*)\n[\s\S]*?^[ \t]*\1$", re.MULTILINE
)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_KEY = re.compile(r"\s*(?:- +)?[\w./\"-]+:(?:\s|$)|\s*- |---|\s*$")
_PROSE = re.compile(r"[A-Z][\w']*[,!]?(?: [\w'`,()-]+){3,}[^$|<>=;&{}]*[.:?!]\s*")
_BLOCK = re.compile(r"(?m)^[ \t]*(?:function|if|for|while|switch|begin)\b")
_END = re.compile(r"(?m)^[ \t]*end[ \t]*$")
_BLOCK_OF_BASH = re.compile(
    r"(?m)^[ \t]*(?:then|do|fi|done|esac|def|\w+\(\).*|.*;\s*(?:then|do))\b"
)
# One match identifies the language. Comments, quoted text and here-documents are removed first.
_DATA = json.loads(Path(__file__).with_name("dialects.json").read_text())
_PATTERNS = {name: re.compile(pattern, re.MULTILINE) for name, pattern in _DATA["patterns"].items()}


def find_dialect(unit: Unit) -> Iterator[Gap]:
    """Yield a gap if the script is not written for a Bourne-style shell."""
    if language := _name(unit.text(0, MAXIMUM_READ), unit.source):
        message = f"This is analyzed as Bash, but looks like {language}"
        yield Gap(Span(unit, 0, 1), "dialect", f"{message}, so risks in it may be missed.")


def _name(text: str, source: bytes) -> str:
    if shebang := _SHEBANG.match(text):
        name = shebang[1].rstrip("0123456789.")
        return "" if _SHELLS.fullmatch(name) else _DATA["interpreters"].get(name, name)
    if _is_json(source):
        return "JSON"
    code = _COMMENT.sub("", text)
    lines = [line for line in code.split("\n") if line.strip()]
    if lines and len(lines[0]) < 500 and _PROSE.fullmatch(lines[0]):
        return "prose"
    keys = [line for line in lines if _KEY.match(line)]
    # Not all lines need a key, because the lines of a `run: |` block have none.
    if (
        1 < len(keys) >= len(lines) * 0.6
        and keys[0] == lines[0]
        and any(":" in one for one in keys)
    ):
        return "YAML"
    code = _QUOTED.sub('""', _HEREDOC.sub(r"\g<rest>", code))
    if _BLOCK.search(code) and _END.search(code) and not _BLOCK_OF_BASH.search(code):
        return "fish"
    return next((name for name, pattern in _PATTERNS.items() if pattern.search(code)), "")


def _is_json(source: bytes) -> bool:
    bare = source.strip()
    if not (bare[:1] in (b"{", b"[") and bare[-1:] in (b"}", b"]")):
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True
