"""Find what a statement is about, such as files, processes or users."""

from __future__ import annotations

import re
from collections.abc import Sequence

from catalog.relevance.statement.tokens import Token
from catalog.relevance.statement.vocabulary import lemma, words

OBJECTS = {
    noun: kind
    for kind, nouns in {
        "file": "file script log document archive image picture source logfile pdf",
        "directory": "directory folder dir subdirectory subfolder",
        "link": "symlink link hardlink",
        "process": "process pid thread job",
        "user": "user account username login",
        "line": "line row",
        "word": "word",
        "piece": "piece part chunk",
        "character": "character char letter",
        "column": "column field",
        "package": "package",
        "service": "service daemon unit",
        "container": "container",
        "pod": "pod",
        "node": "node",
        "deployment": "deployment",
        "group": "group",
        "database": "database",
        "table": "table",
        "port": "port",
        "connection": "connection",
        "interface": "interface",
        "memory": "memory ram",
        "cpu": "cpu processor",
        "branch": "branch",
        "commit": "commit revision",
        "certificate": "certificate",
        "volume": "volume",
    }.items()
    for noun in words(nouns)
}
_LOCATING = words(
    "in under within inside below from into to at through on beneath by with than as "
    "search searches searching scan scans traverse browse"
)
_PLACING = words("current home working root")  # "list the current directory"
_BEFORE_NOUN = words(
    "the a an this that each every all any its their current given same specified whole entire "
    "home root working my our sub local named following parent target another other single"
)


def objects_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the kinds of objects that a statement is about. Locations such as "in the file x" are ignored."""
    found: set[str] = set()
    before = ""
    locating = False
    for position, token in enumerate(tokens):
        if token.is_quoted:
            locating = False
            continue
        following = tokens[position + 1].lower if position + 1 < len(tokens) else ""
        for word in re.split(r"[/-]", token.lower):
            kind = _kind(word, following)
            if kind and not locating and before not in _PLACING:
                found.add(kind)
            before = word
            if word in _LOCATING:
                locating = True
            elif word not in _BEFORE_NOUN:
                locating = False
        if token.ends_clause:
            locating = False
    return frozenset(found)


def _kind(word: str, following: str) -> str:
    """Return the kind of object that a word names. A "file system" is not a file, and "processed" is not a process."""
    if word.endswith(("ed", "ing")) or (word == "file" and following.startswith("system")):
        return ""
    return OBJECTS.get(lemma(word), "")
