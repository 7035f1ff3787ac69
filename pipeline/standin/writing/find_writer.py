"""Write a find command by rule from what a statement says about names, ages and sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.standin.language.literals import Mention
from pipeline.standin.language.shell_syntax import quote_for
from pipeline.standin.language.statement_comparison import find_verbs

_OBJECTS = (
    r"\b(?:files?|directories|folders|symlinks|links|everything|empty (?:directory|folder))\b"
)
_ABOUT = r"\bfind\b|\brecursive|\bempty\b|\bunder\b|\b(?:files|directories|folders|links)\b"
_OTHERWISE = r"\b(?:lines|largest|biggest|by size|space|disk us(?:e|age)|extract|decompress)\b"
_INTO = r"\b(?:into|to|as)\s+(?:the\s+)?(?:directory\s+|folder\s+)?[\"']?$"
_OLDER = (
    r"\bolder than\b|\b(?:more than|over) [\w ]+ (?:ago|old)\b|\bat least [\w ]+ old\b|\bbefore\b|"
    r"\bage (?:exceeds|is (?:above|over|more than))\b|\b(?:days|weeks|months) (?:and|or) older\b|"
    r"\buntouched for\b|\bnot (?:been )?(?:modified|accessed|changed|touched)\b"
)
_SMALLER = r"\b(?:smaller|less) than \d|\bunder \d+ ?[kmgt]i?b"
_FLAT = (
    r"\bnot recursive|\bnon-recursive|\bwithout (?:descending|recursing)|\btop.level only|"
    r"\bnot in (?:its )?subdirectories|\bdirectly in\b"
)
_BOTH = (
    r"\bfiles? (?:and|or) (?:directories|folders)\b|\b(?:directories|folders) (?:and|or) files\b"
)
_IGNORING_CASE = r"\bcase.insensitive|\bignoring (?:the )?case|\bregardless of case"
_IN_PATH = r"\bin (?:the|their|its) (?:full )?path\b|\bpath (?:contains|containing)\b"
_IN_NAME = r"\bin (?:the|their|its) (?:file)?names?\b|\bnames? contain"
_WITH_TEXT = r"\b(?:contain(?:s|ing)?|with)\b(?! (?:names?|permissions?)).*"


def write_find(statement: str, mentions: Sequence[Mention]) -> str | None:
    """A find command for `statement`, or None where it is not about finding files."""
    by_kind = {
        kind: [found for found in mentions if found.kind == kind] for kind in ("age", "size")
    }
    globs = [mention.text for mention in mentions if mention.kind == "glob"]
    paths = [mention for mention in mentions if mention.kind == "path"]
    into = [mention for mention in paths if _says(_INTO, statement[: mention.start])]
    places = [m.text for m in paths if m not in into and ("/" in m.text or m.text in (".", "~"))]
    if not _is_about_files(statement, places) or not (
        globs or any(by_kind.values()) or _says(_ABOUT, statement)
    ):
        return None
    files = [
        mention.text for mention in paths if mention not in into and mention.text not in places
    ]
    quoted = [mention.text for mention in mentions if mention.kind == "quoted"]
    text = _find_text(statement, quoted)
    words = ["find", *(quote_for(place, "bare") for place in places or ["."])]
    words += ["-maxdepth 1"] if _says(_FLAT, statement) else []
    words += _write_type(statement)
    words += _write_names(statement, [*globs, *files, *(word for word in quoted if word != text)])
    words += [_write_age(statement, mention) for mention in by_kind["age"]]
    words += [_write_size(statement, mention) for mention in by_kind["size"]]
    words += ["-empty"] if _says(r"\bempty\b", statement) else []
    target = quote_for(into[-1].text, "bare") if into else ""
    number = next((mention.text for mention in mentions if mention.kind == "number"), "")
    action = (
        _write_search(statement, text)
        if text
        else _write_action(statement, target=target, number=number)
    )
    return " ".join(filter(None, [*words, action]))


def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _is_about_files(statement: str, places: Sequence[str]) -> bool:
    """Logs are files where a place is named, and otherwise more likely a journal."""
    named = _says(_OBJECTS, statement) or (bool(places) and _says(r"\blogs\b", statement))
    return named and not _says(_OTHERWISE, statement)


def _find_text(statement: str, quoted: Sequence[str]) -> str:
    """The quoted words that files are to contain, if any; names and paths contain things too."""
    said = re.search(_WITH_TEXT, statement, re.IGNORECASE)
    if (
        not said
        or not quoted
        or quoted[-1] not in said[0]
        or _says(f"{_IN_PATH}|{_IN_NAME}", said[0])
    ):
        return ""
    return quoted[-1]


def _write_type(statement: str) -> list[str]:
    if _says(r"\b(?:symbolic links?|symlinks?)\b", statement):
        return ["-type l"]
    if _says(_BOTH, statement):
        return []
    directories = _says(
        r"\b(?:directories|folders|subdirectories)\b|\bempty (?:directory|folder)", statement
    )
    return ["-type d" if directories and not _says(r"\bfiles?\b", statement) else "-type f"]


def _write_names(statement: str, names: Sequence[str]) -> list[str]:
    if _says(_IN_PATH, statement):
        return [f"-path {quote_for(f'*{name}*', 'bare')}" for name in names]
    test = "-iname" if _says(_IGNORING_CASE, statement) else "-name"
    inside = _says(_IN_NAME, statement)
    tests = [f"{test} {quote_for(f'*{name}*' if inside else name, 'bare')}" for name in names]
    return [rf"\( {' -o '.join(tests)} \)"] if len(tests) > 1 else tests


def _write_age(statement: str, mention: Mention) -> str:
    letter = "a" if _says(r"\baccess", statement) else "m"
    sign = "+" if _says(_OLDER, statement) else "-"
    days, rest = divmod(int(mention.value), 86400)
    return (
        f"-{letter}min {sign}{max(1, int(mention.value) // 60)}"
        if rest
        else f"-{letter}time {sign}{days}"
    )


def _write_size(statement: str, mention: Mention) -> str:
    around = statement[max(0, mention.start - 14) : mention.start + len(mention.text)]
    sign = "-" if _says(_SMALLER, around) else "+"
    for unit, each in (("G", 1024**3), ("M", 1024**2), ("k", 1024)):
        if int(mention.value) % each == 0:
            return f"-size {sign}{int(mention.value) // each}{unit}"
    return f"-size {sign}{mention.value}c"


def _write_search(statement: str, text: str) -> str:
    case = "i" if _says(_IGNORING_CASE, statement) else ""
    return f"-exec grep -l{case} -- {quote_for(text, 'bare')} {{}} +"


def _write_action(statement: str, *, target: str, number: str) -> str:
    verbs = find_verbs(statement)
    if "delete" in verbs:
        return "-delete"
    if "count" in verbs:
        return "| wc -l"
    if "compress" in verbs:
        return f"-print0 | tar -czf {target} --null -T -" if target else "-exec gzip {} +"
    if target and verbs & {"copy", "move"}:
        return rf"-exec {'cp' if 'copy' in verbs else 'mv'} {{}} {target} \;"
    return f"-exec chmod {number} {{}} +" if "permit" in verbs and number else ""
