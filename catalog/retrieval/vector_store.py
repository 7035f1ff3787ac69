"""Vectors of phrasings: the current embedder, its index, and the computation of missing vectors."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from psycopg import sql

from catalog.embedding import Embedder, EmbedderUnavailable, Vectors, load_embedder
from catalog.embedding.shipped import hash_text, shipped_vectors
from catalog.models import Embedding, EmbeddingModel, Entry, Phrasing
from core.lazy_numpy import np

LOCK_KEY = 7_403_271  # of the advisory lock for changes of the current model
BATCH = 64  # phrasings per transaction

# Recall of the ten nearest among 100,000 entries needs a little more than pgvector's default of 64.
EF_CONSTRUCTION = 100

_embedders: dict[str, Embedder] = {}
_lock = threading.Lock()


class Progress(NamedTuple):
    """The number of phrasings with a vector of the model that is being built, or else of the current one."""

    current: EmbeddingModel | None
    building: EmbeddingModel | None
    done: int
    total: int


class Missing(NamedTuple):
    """A phrasing without a vector."""

    phrasing_id: int
    entry_id: int
    text: str


def embedder(spec: str = "") -> Embedder:
    """Return the embedder that the setting or `spec` names, once per process. Raises `EmbedderUnavailable`."""
    spec = spec or settings.SCRIPTSMITH_EMBEDDER
    with _lock:
        if spec not in _embedders:
            _embedders[spec] = load_embedder(spec, settings.LAYOUT.data / "models")
        return _embedders[spec]


def current_model() -> EmbeddingModel | None:
    """Return the model whose vectors are searched."""
    return EmbeddingModel.objects.filter(state=EmbeddingModel.State.CURRENT).first()


def embed_with(model: EmbeddingModel, texts: Sequence[str]) -> Vectors:
    """Return vectors that can be compared with those stored for `model`. Raises `EmbedderUnavailable`."""
    loaded = embedder(model.spec)
    if loaded.name != model.name:
        raise EmbedderUnavailable(
            f"{model.spec!r} is now {loaded.name}; its vectors can't be compared with those of {model.name}"
        )
    return loaded.embed(texts)


def ensure_embedding_model() -> EmbeddingModel:
    """Return the model of the setting, with its index.

    The first model is current at once; a later one is built first. Raises `EmbedderUnavailable`.
    """
    wanted = embedder()
    State = EmbeddingModel.State
    model = EmbeddingModel.objects.filter(name=wanted.name).exclude(state=State.RETIRED).first()
    if model is not None and has_index(model):
        return model
    with transaction.atomic():
        _lock_models()
        model = EmbeddingModel.objects.filter(name=wanted.name).first()
        if model is None:
            first = current_model() is None
            model = EmbeddingModel.objects.create(
                name=wanted.name,
                spec=settings.SCRIPTSMITH_EMBEDDER,
                dimension=wanted.dimension,
                state=State.CURRENT if first else State.BUILDING,
            )
        elif model.state == State.RETIRED:
            model.state = State.BUILDING
            model.save(update_fields=["state"])
        create_index(model)
    return model


def has_index(model: EmbeddingModel) -> bool:
    """Return whether the model's vectors are indexed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [model.index_name])
        return bool(cursor.fetchone()[0])


def create_index(model: EmbeddingModel) -> None:
    """Create the partial HNSW index on the model's searchable vectors if it is missing.

    It blocks writers of vectors, so call it before the vectors are computed.
    """
    if has_index(model):  # checked first, because CREATE INDEX would lock the table to find out
        return
    statement = sql.SQL(
        "CREATE INDEX IF NOT EXISTS {index} ON catalog_embedding"
        " USING hnsw ((vector::vector({dimension})) vector_cosine_ops)"
        " WITH (ef_construction = {breadth}) WHERE model_id = {model} AND searchable"
    ).format(
        index=sql.Identifier(model.index_name),
        dimension=sql.Literal(model.dimension),
        breadth=sql.Literal(EF_CONSTRUCTION),
        model=sql.Literal(model.pk),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)


def embed_missing(*, limit: int = 1000) -> int:
    """Compute missing vectors, at most `limit` per model, and return how many were stored.

    A model that is being built becomes current when it is complete. Until then, the old model's vectors are also kept
    complete, so that searches find new phrasings. Raises `EmbedderUnavailable`, and stores the reason with the model
    that is being built, while the old model continues to answer.
    """
    wanted = ensure_embedding_model()
    stored = 0
    if wanted.state == EmbeddingModel.State.BUILDING:
        old = current_model()
        if old is not None and _can_embed(old):
            stored += _fill(old, limit=limit)
    try:
        stored += _fill(wanted, limit=limit)
    except EmbedderUnavailable as error:
        _note_trouble(wanted, str(error))
        raise
    _note_trouble(wanted, "")
    if wanted.state == EmbeddingModel.State.BUILDING:
        _switch_to(wanted)
    return stored


def clear_retired() -> None:
    """Delete the vectors and indexes of models that are no longer used or built.

    Not done at the change itself, because a search in progress still uses the old ones. Raises `EmbedderUnavailable`.
    """
    State = EmbeddingModel.State
    unwanted = EmbeddingModel.objects.filter(state=State.BUILDING).exclude(name=embedder().name)
    unwanted.update(state=State.RETIRED)
    for old in EmbeddingModel.objects.filter(state=EmbeddingModel.State.RETIRED):
        with transaction.atomic():
            _lock_models()
            if not EmbeddingModel.objects.filter(pk=old.pk, state=old.state).exists():
                continue  # it was chosen again in the meantime
            drop = sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(old.index_name))
            with connection.cursor() as cursor:
                cursor.execute(drop)
            Embedding.objects.filter(model=old).delete()


def progress() -> Progress:
    """Return the progress of the vectors, with a fixed number of queries."""
    models = {
        model.state: model
        for model in EmbeddingModel.objects.exclude(state=EmbeddingModel.State.RETIRED)
    }
    current = models.get(EmbeddingModel.State.CURRENT)
    building = models.get(EmbeddingModel.State.BUILDING)
    shown = building or current
    done = Embedding.objects.filter(model=shown).count() if shown else 0
    return Progress(current, building, done, Phrasing.objects.count())


def refresh_searchable(entry_ids: Sequence[int]) -> None:
    """Copy to the vectors of these entries whether the entry may answer.

    Call it in the transaction that changes this, with the entries locked.
    """
    answering = Exists(Entry.objects.answering().filter(pk=OuterRef("phrasing__entry")))
    mine = Embedding.objects.filter(phrasing__entry__in=entry_ids)
    for may_answer in (True, False):
        pks = mine.filter(answering if may_answer else ~answering).exclude(searchable=may_answer)
        Embedding.objects.filter(pk__in=pks.values("pk")).update(searchable=may_answer)


def _fill(model: EmbeddingModel, *, limit: int) -> int:
    missing = [
        Missing(*row)
        for row in without_vector(model)
        .order_by("-pk")
        .values_list("pk", "entry_id", "text")[:limit]
    ]
    shipped = shipped_vectors(model.name) if missing else {}
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        store(model, batch, _vectors_of(model, [row.text for row in batch], shipped))
    return len(missing)


def _vectors_of(
    model: EmbeddingModel, texts: Sequence[str], shipped: Mapping[bytes, Vectors]
) -> Vectors:
    """Compute only the vectors that were not shipped."""
    keys = [hash_text(text) for text in texts]
    new = [at for at, key in enumerate(keys) if key not in shipped]
    vectors = np.empty((len(texts), model.dimension), dtype=np.float32)
    for at, key in enumerate(keys):
        if key in shipped:
            vectors[at] = shipped[key]
    if new:
        vectors[new] = embed_with(model, [texts[at] for at in new])
    return vectors


@transaction.atomic
def store(model: EmbeddingModel, batch: Sequence[Missing], vectors: Vectors) -> None:
    """Store these vectors, except for phrasings that were changed or are locked by another transaction."""
    # A concurrent verification waits for the lock, and so finds these vectors. The next pass handles entries that are
    # locked now.
    locked = set(
        Entry.objects.select_for_update(no_key=True, skip_locked=True)
        .filter(pk__in={row.entry_id for row in batch})
        .values_list("pk", flat=True)
    )
    answering = set(Entry.objects.answering().filter(pk__in=locked).values_list("pk", flat=True))
    texts = dict(
        Phrasing.objects.filter(
            pk__in=[row.phrasing_id for row in batch], entry__in=locked
        ).values_list("pk", "text")
    )
    Embedding.objects.bulk_create(
        [
            Embedding(
                phrasing_id=row.phrasing_id,
                model=model,
                vector=vector,
                searchable=row.entry_id in answering,
            )
            for row, vector in zip(batch, vectors, strict=True)
            if texts.get(row.phrasing_id) == row.text
        ],
        ignore_conflicts=True,
    )


def _switch_to(model: EmbeddingModel) -> None:
    """Make a complete model the current one, and retire the old one."""
    with transaction.atomic():
        _lock_models()
        if without_vector(model).exists():
            return
        State = EmbeddingModel.State
        EmbeddingModel.objects.filter(state=State.CURRENT).update(state=State.RETIRED)
        model.state = State.CURRENT
        model.save(update_fields=["state"])


def _note_trouble(model: EmbeddingModel, trouble: str) -> None:
    if model.trouble != trouble:
        model.trouble = trouble
        model.save(update_fields=["trouble"])


def without_vector(model: EmbeddingModel) -> QuerySet[Phrasing]:
    """Return the phrasings without a vector of the model."""
    return Phrasing.objects.exclude(
        Exists(Embedding.objects.filter(phrasing=OuterRef("pk"), model=model))
    )


def _can_embed(model: EmbeddingModel) -> bool:
    try:
        return embedder(model.spec).name == model.name
    except EmbedderUnavailable:
        return False


def _lock_models() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
