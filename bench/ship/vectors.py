"""Build the vectors of the starter catalogue's phrasings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from catalog.embedding import load_embedder
from catalog.embedding.shipped import FILE, write_vectors
from catalog.exchange.formats import read_rows


def starter_texts() -> Iterator[str]:
    """Yield every title and phrasing of the starter catalogue."""
    for row in read_rows(FILE.parent):
        assert row.record is not None, row
        yield row.record.title
        yield from (phrasing.text for phrasing in row.record.phrasings)


def build() -> str:
    texts = set(starter_texts())
    with tempfile.TemporaryDirectory() as cache:
        write_vectors(load_embedder("minilm", Path(cache)), texts)
    return f"{len(texts)} texts, {FILE.stat().st_size:,} bytes"
