"""Check whether a script searches the places and file types that a statement names."""

from __future__ import annotations

import re

from catalog.relevance.statement.literals import Literal
from catalog.relevance.statement.profiles import StatementProfile
from catalog.relevance.statement.scripts import ScriptProfile
from catalog.relevance.statement.token_shapes import Kind, normalise_path

_SEARCH = re.compile(r"(?:^|[|;&(`]|\bsudo )\s*find((?: +(?![-!(])[^\s|;&()]+)*)")
_TYPE = re.compile(r"-type +(\w)")
_WHOLE = re.compile(r"\b(?:whole|entire) (?:system|disk|machine|hard)|\bfile ?system|\broot\b")
_NOT = re.compile(r"(?:^|\s)(?:!|\\!|-not)\s")
_AGES = re.compile(r"-[acm](?:time|min) +['\"]?([+-]?)\d")
_NEWER = re.compile(r"(!\s+|-not\s+)?-[ac]?newer\b")
_SIZES = re.compile(r"-size +['\"]?([+-]?)\d")
_AGE_SIGNS = {"age:older": "+", "age:newer": "-"}
_SIZE_SIGNS = {"size:more": "+", "size:less": "-"}
_SHALLOW = re.compile(r"-maxdepth +['\"]?1\b")
_DESTROYS = re.compile(r"-delete\b|\brm +-\w*r")
_NAMES = re.compile(r"-i?(?:name|path|regex)\b")
_EVERYWHERE = re.compile(r"\bon the (?:file ?)?system\b")


def has_other_scope(statement: StatementProfile, script: ScriptProfile, text: str) -> bool:
    """Return whether a script omits part of the statement or searches a different scope.

    This is the case if the script (`text` as written) lacks a literal or searches a directory that the statement does
    not name. This is also the case if the script searches for a different file type, age or size.
    """
    if any(_must_stand(literal) and not script.explains(literal) for literal in statement.literals):
        return True
    if _minds_case(statement, text) or _is_turned(statement, text):
        return True
    if "depth:all" in statement.marks and _SHALLOW.search(text):
        return True
    searches = _SEARCH.findall(script.text)
    return bool(searches) and (
        _starts_elsewhere(statement, searches) or _finds_other_kind(statement, script)
    )


def _must_stand(literal: Literal) -> bool:
    """Return whether a correct script must contain the literal. Commands may imply names."""
    return literal.value == "~" or (literal.firm and literal.kind != Kind.NAME)


def _minds_case(statement: StatementProfile, text: str) -> bool:
    """Return whether the script contains a quoted literal only in a different case, such as FOO for foo."""
    if "case:any" in statement.marks:
        return False
    quoted = [literal.text for literal in statement.literals if literal.kind == Kind.TEXT]
    return any(word not in text and word.lower() in text.lower() for word in quoted)


def _is_turned(statement: StatementProfile, text: str) -> bool:
    """Return whether the script compares ages or sizes in a different direction than the statement."""
    ages = {sign for mark, sign in _AGE_SIGNS.items() if mark in statement.marks}
    newer = {"+" if negated else "-" for negated in _NEWER.findall(text)}
    if ages and newer and not _AGES.search(text) and ages != newer:
        return True
    if _NOT.search(text):
        return False
    for pattern, signs in ((_AGES, _AGE_SIGNS), (_SIZES, _SIZE_SIGNS)):
        said = {sign for mark, sign in signs.items() if mark in statement.marks}
        found = set(pattern.findall(text))
        if said and found and said != found:
            return True
    return False


def _starts_elsewhere(statement: StatementProfile, searches: list[str]) -> bool:
    """Return whether a search starts in a directory that the statement does not name."""
    named = {
        literal.value.lower() for literal in statement.literals if literal.kind.family == "name"
    }
    starts = {
        normalise_path(start.strip("'\"").replace("$home", "~"))
        for search in searches
        for start in search.split()
    }
    if _EVERYWHERE.search(statement.text):
        return "/" not in starts
    said_here = any(
        literal.kind == Kind.PATH and literal.value in (".", "~") for literal in statement.literals
    )
    for start in starts - named - {"."}:
        if start == "/":
            if said_here or not _WHOLE.search(statement.text):
                return True
        elif start.strip("/") not in statement.text:
            return True
    return False


def _finds_other_kind(statement: StatementProfile, script: ScriptProfile) -> bool:
    kinds = set(_TYPE.findall(script.text))
    if "entries:all" in statement.marks:
        return bool(kinds) and not {"f", "d"} <= kinds
    if "regular" in statement.words:
        return "f" not in kinds
    if "file" in statement.objects and _DESTROYS.search(script.text) and not kinds:
        return not _NAMES.search(script.text)  # the search would include directories
    is_directory = statement.objects == frozenset({"directory"})
    return is_directory and "f" in kinds and "d" not in kinds
