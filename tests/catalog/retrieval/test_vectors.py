"""Tests that the vectors of phrasings are computed, stay searchable, and move to another model without a gap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from kombu.exceptions import OperationalError
from pytest_django import Settings

from catalog.embedding import EmbedderUnavailable, HashingEmbedder
from catalog.models import Embedding, EmbeddingModel, Phrasing
from catalog.retrieval import services, vector_search, vector_store
from catalog.tasks import embed_missing
from core.database.advisory_lock import FILL_VECTORS
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db

SPOOLER = "Restart the print spooler"
SMALLER = "tests.catalog.retrieval.test_vectors:Smaller"


class Smaller(HashingEmbedder):
    """A smaller embedder that accepts a cache folder, like the embedders in the settings."""

    def __init__(self, cache: object) -> None:
        super().__init__(dimension=64)


class Watching(HashingEmbedder):
    """An embedder that records whether it is called inside a transaction."""

    inside: list[bool] = []

    def __init__(self, cache: object) -> None:
        super().__init__(dimension=32)

    def embed(self, texts: object) -> np.ndarray:
        self.inside.append(connection.in_atomic_block)
        return super().embed(texts)


class Breaking(HashingEmbedder):
    """An embedder that fails after a given number of texts."""

    left = 0

    def __init__(self, cache: object) -> None:
        super().__init__(dimension=48)
        self.name = "breaking"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if len(texts) > Breaking.left:
            raise EmbedderUnavailable("out of order")
        Breaking.left -= len(texts)
        return super().embed(texts)


def choose(settings: Settings, spec: str) -> None:
    """Change the setting, as between two starts. Pending constraints are checked first."""
    connection.check_constraints()
    settings.SCRIPTSMITH_EMBEDDER = spec


def indexes() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'embedding_hnsw_%'")
        return {name for (name,) in cursor.fetchall()}


def test_the_first_model_is_current_and_indexed() -> None:
    model = services.ensure_embedding_model()
    assert (model.state, model.spec, model.dimension) == ("current", "hashing", 384)
    assert model.index_name in indexes()
    assert services.ensure_embedding_model() == model
    assert services.embedder() is services.embedder()


def test_what_is_missing_is_filled_in_a_piece_at_a_time() -> None:
    shelve(SPOOLER, phrasings=["a", "b", "c"])
    Embedding.objects.all().delete()
    assert services.embed_missing(limit=3) == 3
    assert services.embed_missing(limit=3) == 1
    assert services.embed_missing(limit=3) == 0
    assert Embedding.objects.filter(searchable=True).count() == 4


def test_what_is_locked_by_somebody_is_left_to_the_next_pass() -> None:
    version = shelve(SPOOLER)
    missing = vector_store.Missing(
        version.entry.phrasings.get().pk, version.entry_id, "other words"
    )
    vector_store.store(EmbeddingModel.objects.get(), [missing], np.ones((1, 384), dtype=np.float32))
    assert Embedding.objects.count() == 1


def test_another_setting_builds_beside_old_model_and_then_takes_over(settings: Settings) -> None:
    shelve(SPOOLER, phrasings=["Bounce cups"])
    old = EmbeddingModel.objects.get()
    choose(settings, SMALLER)

    assert services.embed_missing(limit=1) == 1

    new = EmbeddingModel.objects.get(state="building")
    assert services.retrieve(SPOOLER).answer == "match"
    assert services.retrieve(SPOOLER).degraded == ""

    assert services.embed_missing(limit=1) == 1

    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.state, new.state) == ("retired", "current")
    assert {old.index_name, new.index_name} <= indexes()
    assert services.retrieve(SPOOLER).answer == "match"
    assert services.retrieve(SPOOLER).degraded == ""


def test_a_search_that_began_before_the_change_still_finds(settings: Settings) -> None:
    shelve(SPOOLER)
    old = vector_search.embed_query(SPOOLER)
    choose(settings, SMALLER)
    services.embed_missing()
    assert [hit.cosine for hit in old.find(limit=5)] == [pytest.approx(1)]


def test_what_a_retired_model_leaves_is_removed_by_the_next_passage(settings: Settings) -> None:
    shelve(SPOOLER)
    old = EmbeddingModel.objects.get()
    choose(settings, SMALLER)
    embed_missing()
    assert Embedding.objects.filter(model=old).exists()
    embed_missing()
    assert old.index_name not in indexes()
    assert not Embedding.objects.filter(model=old).exists()
    assert services.retrieve(SPOOLER).degraded == ""


def test_a_change_that_is_taken_back_half_way_leaves_nothing(settings: Settings) -> None:
    shelve(SPOOLER, phrasings=["one", "two"])
    choose(settings, SMALLER)
    services.embed_missing(limit=1)
    abandoned = EmbeddingModel.objects.get(state="building")
    choose(settings, "hashing")

    embed_missing()

    abandoned.refresh_from_db()
    assert abandoned.state == "retired"
    assert abandoned.index_name not in indexes()
    assert not abandoned.embeddings.exists()
    assert services.retrieve(SPOOLER).answer == "match"


def test_an_embedder_that_fails_half_way_leaves_the_old_one_and_says_why(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    shelve(SPOOLER, phrasings=["one", "two"])
    choose(settings, "tests.catalog.retrieval.test_vectors:Breaking")
    Breaking.left = 1
    services.embed_missing(limit=1)

    embed_missing()

    found = vector_store.progress()
    assert (found.done, found.total) == (1, 3)
    assert "out of order" in found.building.trouble
    assert "out of order" in caplog.text
    assert services.retrieve(SPOOLER).answer == "match"

    Breaking.left = 100
    embed_missing()

    found = vector_store.progress()
    assert found.current is not None and found.building is None
    assert (found.current.name, found.current.trouble) == ("breaking", "")


def test_a_worker_that_finds_another_at_work_leaves_it_alone() -> None:
    shelve(SPOOLER)
    Embedding.objects.all().delete()
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [FILL_VECTORS])
        embed_missing()
        assert not Embedding.objects.exists()
        other.execute("SELECT pg_advisory_unlock(%s)", [FILL_VECTORS])
    embed_missing()
    assert Embedding.objects.count() == 1


def test_command_says_how_far_it_is(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    shelve(SPOOLER, phrasings=["one"])
    choose(settings, SMALLER)
    services.embed_missing(limit=1)

    call_command("embed", "--show")
    assert capsys.readouterr().out == (
        "hashing-trigrams-64: 1 of 2 phrasings have a vector."
        " Until all phrasings have a vector, hashing-trigrams-384 stays in use.\n"
    )
    call_command("embed")
    assert "2 of 2 phrasings" in capsys.readouterr().out
    assert EmbeddingModel.objects.get(state="current").name == "hashing-trigrams-64"


def test_what_comes_in_while_another_model_is_built_is_found(settings: Settings) -> None:
    shelve(SPOOLER, phrasings=["one", "two", "three"])
    choose(settings, SMALLER)
    services.embed_missing(limit=1)
    entry = Phrasing.objects.all()[0].entry
    Phrasing.objects.create(entry=entry, text="Kick the printers")
    services.embed_missing(limit=1)
    assert EmbeddingModel.objects.filter(state="building").exists()
    assert services.retrieve("Kick the printers").matches[0].cosine == pytest.approx(1)


def test_an_old_setting_that_is_chosen_again_is_built_again(settings: Settings) -> None:
    shelve(SPOOLER)
    choose(settings, SMALLER)
    services.embed_missing()
    choose(settings, "hashing")
    services.embed_missing()
    assert EmbeddingModel.objects.get(state="current").name == "hashing-trigrams-384"
    assert services.retrieve(SPOOLER).answer == "match"


def test_unknown_embedder_is_logged(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    choose(settings, "nowhere.to:be_found")
    with pytest.raises(EmbedderUnavailable):
        services.embed_missing()
    embed_missing()
    assert "searched by words only" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_vectors_are_computed_outside_transactions(settings: Settings) -> None:
    choose(settings, "tests.catalog.retrieval.test_vectors:Watching")
    shelve(SPOOLER)
    assert Watching.inside
    assert not any(Watching.inside)


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("nobody listens")

    monkeypatch.setattr(embed_missing, "delay", fail)

    assert shelve(SPOOLER).pk
    assert services.retrieve(SPOOLER).answer == "match"


@pytest.mark.parametrize(
    ("reach", "looked_at"),
    [
        pytest.param(1, 120, id="one for each vector"),
        pytest.param(50, 100, id="at least a hundred"),
        pytest.param(0.01, 1_000, id="at most what pgvector bears"),
    ],
)
def test_a_search_looks_further_about_in_a_larger_index(
    reach: float, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelve(SPOOLER)
    vector_store.embed_missing()
    model = EmbeddingModel.objects.get()
    with connection.cursor() as cursor:
        # A VACUUM would record this size for the index.
        cursor.execute("UPDATE pg_class SET reltuples = 120 WHERE relname = %s", [model.index_name])
        monkeypatch.setattr(vector_search, "VECTORS_PER_CANDIDATE", reach)
        vector_search.embed_query(SPOOLER).find(limit=3)
        cursor.execute("SELECT current_setting('hnsw.ef_search')")
        assert cursor.fetchone() == (str(looked_at),)
