"""Find existing entries that are similar to a new entry, to show them before the user saves the entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.models import Entry, Version
from catalog.retrieval.answers import retrieve
from catalog.types import Answer
from core.errors import BadInput

MOST_ALIKE = 5


@dataclass(frozen=True, kw_only=True)
class Alike:
    """An entry similar to the entry that the user is writing."""

    title: str
    slug: str
    same_script: bool = False
    is_match: bool = False  # whether the entry would answer the new title
    differs: tuple[str, ...] = ()


def find_alike(title: str, *, script: str) -> list[Alike]:
    """Return entries with the same script, and entries that retrieval finds for the title, best first.

    This function changes no data. It does not search for titles with fewer than two words.
    """
    found = {
        entry.slug: Alike(title=entry.title, slug=entry.slug, same_script=True)
        for entry in _twins(script)
    }
    for match in _answers(title):
        if match.slug not in found:
            found[match.slug] = match
    return list(found.values())[:MOST_ALIKE]


def _twins(script: str) -> Sequence[Entry]:
    if not script.strip():
        return ()
    versions = Version.objects.filter(sha256=Version.hash_of(script))
    versions = versions.exclude(state=Version.State.DEPRECATED)
    entries = Entry.objects.standing().filter(versions__in=versions).distinct()
    return list(entries.defer("document")[:MOST_ALIKE])


def _answers(title: str) -> list[Alike]:
    if len(title.split()) < 2:
        return []
    try:
        matches = retrieve(title, limit=MOST_ALIKE).matches
    except BadInput:
        return []
    return [
        Alike(
            title=match.title,
            slug=match.entry,
            is_match=match.answer is Answer.MATCH,
            differs=match.differs,
        )
        for match in matches
    ]
