"""Vectors of phrasings: filled in, kept searchable, and changed to another model without a gap."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from kombu.exceptions import OperationalError
from pytest_django import Settings

from catalog import services, vectors
from catalog.embedding import EmbedderUnavailable, HashingEmbedder
from catalog.models import Embedding, EmbeddingModel, Phrasing
from catalog.tasks import embed_missing
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db

SPOOLER = "Restart the print spooler"
SMALLER = "tests.catalog.test_vectors:Smaller"


class Smaller(HashingEmbedder):
    """Another embedder, which takes a cache folder as those of settings do."""

    def __init__(self, cache: object) -> None:
        super().__init__(dimension=64)


class Watching(HashingEmbedder):
    """Notes whether it is asked inside a transaction."""

    inside: list[bool] = []

    def __init__(self, cache: object) -> None:
        super().__init__(dimension=32)

    def embed(self, texts: object) -> np.ndarray:  # type: ignore[override, type-arg]
        self.inside.append(connection.in_atomic_block)
        return super().embed(texts)  # type: ignore[arg-type]


def choose(settings: Settings, spec: str) -> None:
    """Change the setting, as between two starts, when no change is pending."""
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
    missing = vectors.Missing(version.entry.phrasings.get().pk, version.entry_id, "other words")

    vectors._store(EmbeddingModel.objects.get(), [missing], np.ones((1, 384), dtype=np.float32))

    assert Embedding.objects.count() == 1


def test_another_setting_builds_beside_the_old_model_and_then_takes_over(
    settings: Settings,
) -> None:
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
    assert old.index_name not in indexes()
    assert new.index_name in indexes()
    assert set(Embedding.objects.values_list("model", flat=True)) == {new.pk}
    assert services.retrieve(SPOOLER).answer == "match"
    assert services.retrieve(SPOOLER).degraded == ""


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


def test_a_setting_that_names_nothing_is_said_and_the_task_goes_on(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    choose(settings, "nowhere.to:be_found")

    with pytest.raises(EmbedderUnavailable):
        services.embed_missing()
    embed_missing()

    assert "searched by words only" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_vectors_are_computed_outside_transactions(settings: Settings) -> None:
    choose(settings, "tests.catalog.test_vectors:Watching")

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
