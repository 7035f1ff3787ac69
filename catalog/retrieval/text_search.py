"""Search text by words. Rare words select the candidates, and all words rank them.

A statement shares words such as "files" with thousands of phrasings, and ranking all of them would take seconds.
Therefore, only the rarest words select candidates. PostgreSQL's statistics show how rare a word is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection

MOST_CANDIDATES = 1000  # maximum estimated number of rows that the rare words select
MOST_RANKED = 200  # maximum number of phrasings whose entries are checked for eligibility
MOST_WORDS = 64
MOST_CHARACTERS = (
    50_000  # limit for phrasings and for a script, because a tsvector has at most 1 MB
)

_WORDS = """
SELECT word.lexeme, coalesce(common.share, 0) * greatest(class.reltuples, 0) AS expected
FROM unnest(to_tsvector('english', %(text)s)) AS word
CROSS JOIN pg_class AS class
LEFT JOIN (
    SELECT element.lexeme, element.share
    FROM pg_stats, LATERAL ROWS FROM (
        unnest(most_common_elems::text::text[]), unnest(most_common_elem_freqs)
    ) AS element (lexeme, share)
    WHERE schemaname = current_schema() AND tablename = %(table)s AND attname = 'document'
) AS common ON common.lexeme = word.lexeme
WHERE class.oid = to_regclass(%(table)s)
ORDER BY expected, length(word.lexeme) DESC, word.lexeme
LIMIT %(limit)s
"""

_PHRASINGS = """
SELECT best.id, best.entry_id
FROM (
    SELECT id, entry_id, ts_rank(document, %(any)s::tsquery, 1) AS rank
    FROM catalog_phrasing
    WHERE document @@ %(rare)s::tsquery
    ORDER BY rank DESC, id
    LIMIT %(ranked)s
) AS best
JOIN catalog_entry AS entry ON entry.id = best.entry_id AND entry.suspended_at IS NULL
JOIN catalog_version AS version ON version.entry_id = entry.id AND version.state = 'verified'
ORDER BY best.rank DESC, best.id
LIMIT %(limit)s
"""

_ENTRIES = """
SELECT id FROM catalog_entry
WHERE document @@ %(rare)s::tsquery
ORDER BY document @@ %(all)s::tsquery DESC, ts_rank(document, %(any)s::tsquery) DESC, id DESC
LIMIT %(limit)s
"""

# The entries in `among` are few enough to rank by every word.
_ENTRIES_AMONG = """
SELECT id FROM catalog_entry
WHERE id = ANY(%(among)s) AND document @@ %(any)s::tsquery
ORDER BY document @@ %(all)s::tsquery DESC, ts_rank(document, %(any)s::tsquery) DESC, id DESC
LIMIT %(limit)s
"""

_REFRESH = """
UPDATE catalog_entry AS entry SET document =
    setweight(to_tsvector('english', title), 'A')
    || setweight(to_tsvector('english', coalesce((
        SELECT left(string_agg(text, ' '), %(most)s) FROM catalog_phrasing
        WHERE entry_id = entry.id
    ), '')), 'B')
    || setweight(to_tsvector('english', coalesce((
        SELECT string_agg(DISTINCT tag.name, ' ') FROM catalog_tag AS tag
        JOIN catalog_version_tags AS tagged ON tagged.tag_id = tag.id
        JOIN catalog_version AS version ON version.id = tagged.version_id
        WHERE version.entry_id = entry.id AND version.state <> 'deprecated'
    ), '')), 'B')
    || setweight(to_tsvector('english', coalesce((
        SELECT left(script, %(most)s) FROM catalog_version
        WHERE entry_id = entry.id ORDER BY number DESC LIMIT 1
    ), '')), 'D')
WHERE id = ANY(%(ids)s)
"""


class Words(NamedTuple):
    """Three queries for a text, in PostgreSQL's tsquery notation."""

    rare: str  # any of the text's rarest words
    any: str
    all: str


class Hit(NamedTuple):
    """A phrasing that shares words with the text."""

    phrasing_id: int
    entry_id: int


def find_phrasings(text: str, *, limit: int) -> list[Hit]:
    """Return phrasings that share words with the text, best first. Only entries that may answer are included."""
    words = _read_words(text, table="catalog_phrasing")
    if words is None:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_PHRASINGS, {**words._asdict(), "ranked": MOST_RANKED, "limit": limit})
        return [Hit(*row) for row in cursor.fetchall()]


def find_entries(text: str, *, limit: int, among: Sequence[int] | None = None) -> list[int]:
    """Return keys of entries in any state whose title, phrasings, tags or newest script match the text.

    `among` restricts the search to a few thousand entries at most.
    """
    words = _read_words(text, table="catalog_entry")
    if words is None:
        return []
    given = {**words._asdict(), "limit": limit, "among": list(among or ())}
    with connection.cursor() as cursor:
        cursor.execute(_ENTRIES if among is None else _ENTRIES_AMONG, given)
        return [pk for (pk,) in cursor.fetchall()]


def refresh_documents(entry_ids: Sequence[int]) -> None:
    """Update the search documents of entries. Call this function in the transaction that changes the entries."""
    with connection.cursor() as cursor:
        cursor.execute(_REFRESH, {"ids": list(entry_ids), "most": MOST_CHARACTERS})


def _read_words(text: str, *, table: str) -> Words | None:
    """Return the queries for the text, or None if the text has only stop words."""
    with connection.cursor() as cursor:
        cursor.execute(_WORDS, {"text": text, "table": table, "limit": MOST_WORDS})
        found: list[tuple[str, float]] = cursor.fetchall()
    if not found:
        return None
    rare: list[str] = []
    expected = 0.0
    for lexeme, rows in found:
        expected += rows
        if rare and expected > MOST_CANDIDATES:
            break
        rare.append(_quote(lexeme))
    every = [_quote(lexeme) for lexeme, _ in found]
    return Words(rare=" | ".join(rare), any=" | ".join(every), all=" & ".join(every))


def _quote(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
