"""Create entries that tests need but do not test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from django.contrib.auth.models import User
from django.test import Client

from catalog.entries.services.creation import add_phrasings, add_version, make_entry, prepare
from catalog.entries.services.lifecycle import mark_verified
from catalog.entries.services.wording_confirmation import Confirmation
from catalog.models import Embedding, Entry, Version
from catalog.retrieval import services as retrieval
from catalog.retrieval import vector_store
from catalog.retrieval.text_search import refresh_documents
from catalog.version_details import Parameter, VersionDetails

SCRIPT = """#!/usr/bin/env bash
set -euo pipefail
: "${DIRECTORY:?folder to look into}"
find "$DIRECTORY" -type f -mtime +30 -print
"""
ASKED = "Show how long the machine has been up"
PLAIN = "#!/usr/bin/env bash\nset -euo pipefail\nuptime\n"
DIRECTORY = Parameter(name="DIRECTORY", type="path", description="folder to look into")


ClientFor = Callable[[User], Client]

# Cache the findings, because ShellCheck returns the same findings for the same script in every test.
_prepare = lru_cache(prepare)


def shelve(
    title: str = "List files older than 30 days",
    *,
    script: str = PLAIN,
    state: str = "verified",
    author: User | None = None,
    verified_by: User | None = None,
    owner: User | None = None,
    phrasings: Sequence[str] = (),
    **details: object,
) -> Version:
    """Create a version in this state, in a new entry with vectors."""
    prepared = _prepare(script, VersionDetails(**details))
    confirmed = Confirmation(added_by=None, is_confirmed=True)
    entry = make_entry(title, by=author, confirmation=confirmed)
    add_phrasings(entry, phrasings, source="imported", confirmation=confirmed)
    version = add_version(
        entry,
        prepared,
        author=author,
        by=author,
        owner=owner,
        provenance={"origin": "test"},
        state=Version.State.DRAFT if state == "draft" else Version.State.IN_REVIEW,
    )
    if state == "verified":
        mark_verified(version, by=verified_by, note="")
    elif state == "deprecated":
        version.move_to(Version.State.DEPRECATED, by=None)
    refresh_documents([entry.pk])
    _embed(entry, is_searchable=state == "verified")
    return version


def _embed(entry: Entry, *, is_searchable: bool) -> None:
    """Store the vectors of a new entry. This needs a third of the queries of `embed_missing`."""
    model = vector_store.current_model()
    if model is None or model.name != vector_store.embedder().name:
        retrieval.embed_missing()
        return
    phrasings = list(entry.phrasings.all())
    vectors = vector_store.embed_with(model, [one.text for one in phrasings])
    Embedding.objects.bulk_create(
        Embedding(phrasing=one, model=model, vector=vector, searchable=is_searchable)
        for one, vector in zip(phrasings, vectors, strict=True)
    )
