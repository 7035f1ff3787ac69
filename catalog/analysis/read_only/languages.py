"""Determine whether sed, awk and database programs are read-only.

The functions return True only if they recognize the whole program.
"""

from __future__ import annotations

import re

from catalog.analysis.tables import WORDS

MAXIMUM_PROGRAM = 4_000  # characters, more than real command lines have

_SED_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\[[:.=]\w+[:.=]\]|[^\]\n])*\]", re.DOTALL)
_SED_ADDRESS = re.compile(
    r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/I?)(?:,[+~]?(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?))?"
)
_SED_PLAIN = re.compile(r"[{}pPdDgGhHnNxlq=Q!;\s]|[ql]\d*|#[^\n]*")


def sed_only_prints(script: str) -> bool:
    """Return whether a sed script only prints, without writing files or running programs."""
    position = 0
    while position < min(len(script), MAXIMUM_PROGRAM):
        if found := _SED_ADDRESS.match(script, position):
            if _has_open_bracket(found[0]):
                return False
            position = found.end()
        if script[position : position + 1] in ("s", "y"):
            end = _end_of_substitution(script, position)
            if end is None:
                return False
            position = end
        elif found := _SED_PLAIN.match(script, position):
            position = found.end()
        elif position < len(script):
            return False
    return position >= len(script)


def _end_of_substitution(script: str, position: int) -> int | None:
    """Return the end of `s/a/b/flags`, or None if its flags write a file or run a command."""
    delimiter = re.escape(script[position + 1 : position + 2])
    if not delimiter or delimiter in (r"\\", r"\n"):
        return None
    part = rf"(?:\\.|(?!{delimiter})[^\\\n])*"
    pattern = rf"[sy]{delimiter}({part}){delimiter}{part}{delimiter}[gpiIm0-9]*(?=[;}}\s]|$)"
    found = re.compile(pattern, re.DOTALL).match(script, position)
    return found.end() if found and not _has_open_bracket(found[1]) else None


def _has_open_bracket(pattern: str) -> bool:
    """Return whether a delimiter may be inside brackets, which sed versions parse differently."""
    return "[" in _SED_BRACKETS.sub("", pattern)


_AWK_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<comment>#[^\n]*)|(?P<slash>/)|(?P<word>[\w.$\])]+)'
    r"|(?P<blank>[ \t]+)|(?P<other>.)",
    re.DOTALL,
)
_AWK_PATTERN = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]/\n]*\])+/")
_AWK_DOUBTFUL = re.compile(r"[\">@]|system|getline")
_AWK_WRITES = re.compile(r"\bsystem\b|\bgetline\b|\bprintf?\b[^;}]*>|(?<!\|)\|(?!\|)|@")
_AWK_BEFORE_PATTERN = frozenset({"return", "print", "in", "case", "do", "else"})


def awk_only_prints(program: str) -> bool:
    """Return whether the awk program writes no files and runs no commands."""
    bare = _strip_awk(program) if len(program) <= MAXIMUM_PROGRAM else None
    return bare is not None and not _AWK_WRITES.search(bare)


def _strip_awk(program: str) -> str | None:
    """Return the awk program without strings, patterns and comments, or None if they are ambiguous."""
    bare, position, before = "", 0, ""
    while position < len(program):
        found = _AWK_TOKEN.match(program, position)
        assert found is not None  # the last alternative matches any character
        kind, text = found.lastgroup, found[0]
        if kind == "slash":
            is_division = before[-1:].isalnum() or before[-1:] in ("_", ")", "]", "$")
            pattern = _AWK_PATTERN.match(program, position)
            # If this guess is wrong, it must not hide any code.
            between = _up_to_next_slash(program, position)
            if _AWK_DOUBTFUL.search(between) or not (is_division or pattern):
                return None
            if is_division and "#" in between:
                return None
            if pattern and not is_division:
                text, kind = pattern[0], "string"
        elif text == '"':
            return None  # unterminated string
        position += len(text)
        bare += {"string": '""', "comment": ""}.get(kind or "", text)
        if kind not in ("blank", "comment"):
            before = "" if text in _AWK_BEFORE_PATTERN else text if kind != "string" else ")"
    return bare


def _up_to_next_slash(program: str, position: int) -> str:
    """Return the text between this slash and the next slash, or "" if the line has no other slash."""
    end = program.find("/", position + 1)
    inside = program[position + 1 : end] if end != -1 else ""
    return "" if "\n" in inside else inside


_SQL_READS = re.compile(
    r"\s*(?:(?:SELECT|WITH|SHOW|DESCRIBE|DESC|USE|VALUES|EXPLAIN(?!\s*(?:\(|ANALY)))\b"
    r"|\\(?:d\w*\+?|l\+?|conninfo|timing|x)(?=\s|$)|\.(?:tables|schema|databases|indexes)\b)",
    re.IGNORECASE,
)
_SQL_WRITES = re.compile(
    r"\b(?:INTO|INSERT|UPDATE|DELETE|MERGE|ALTER|CREATE|DROP|TRUNCATE|COPY|CALL|LOCK|GRANT)\b"
    r"|\n[ \t]*(?:system|source|tee|pager|edit)\b|[\"`\]]\s*\(|\S\s*\\|/\*",
    re.IGNORECASE,
)
_SQL_FUNCTION = re.compile(r"(?<!\bas )(?<!\w)(\w+)\s*\(", re.IGNORECASE)
_SQL_FUNCTIONS = WORDS["sql-functions"]


def sql_only_reads(text: str) -> bool:
    """Return whether every SQL statement is read-only, ignoring strings and comments."""
    statements = re.split(r";|\n(?=[ \t]*[\\.])", text)
    return all(_statement_only_reads(part) for part in statements if part.strip())


def _statement_only_reads(statement: str) -> bool:
    functions = {name.lower() for name in _SQL_FUNCTION.findall(statement)}
    return bool(
        _SQL_READS.match(statement)
        and not _SQL_WRITES.search(statement.strip())
        and functions <= _SQL_FUNCTIONS
    )
