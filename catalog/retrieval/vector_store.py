"""Vectors of phrasings, the current embedder and its index."""

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

LOCK_KEY = 7_403_271  # key of the advisory lock for changes of the current model
BATCH = 64  # phrasings per transaction

# For a good recall of the ten nearest of 100,000 entries, pgvector's default of 64 is slightly too low.
EF_CONSTRUCTION = 100

_embedders: dict[str, Embedder] = {}
_lock = threading.Lock()


class Progress(NamedTuple):
    """The number of phrasings that have a vector of the model that is being built, or else of the current model."""

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
    """Return the embedder named by `spec` (default: the setting), cached per process. Raises `EmbedderUnavailable`."""
    spec = spec or settings.SCRIPTSMITH_EMBEDDER
    with _lock:
        if spec not in _embedders:
            _embedders[spec] = load_embedder(spec, settings.LAYOUT.data / "models")
        return _embedders[spec]


def current_model() -> EmbeddingModel | None:
    """Return the model whose vectors searches use, or None."""
    return EmbeddingModel.objects.filter(state=EmbeddingModel.State.CURRENT).first()


def embed_with(model: EmbeddingModel, texts: Sequence[str]) -> Vectors:
    """Return vectors that can be compared with the stored vectors of `model`. Raises `EmbedderUnavailable`."""
    loaded = embedder(model.spec)
    if loaded.name != model.name:
        raise EmbedderUnavailable(
            f"{model.spec!r} is now {loaded.name}; its vectors can't be compared with those of {model.name}"
        )
    return loaded.embed(texts)


def ensure_embedding_model() -> EmbeddingModel:
    """Return the model that the setting names. Create the model and its index if they are missing.

    The first model becomes current immediately. Later models must be built first. Raises `EmbedderUnavailable`.
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
    """Return whether the index for the model's vectors exists."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [model.index_name])
        return bool(cursor.fetchone()[0])


def create_index(model: EmbeddingModel) -> None:
    """Create the partial HNSW index on the model's searchable vectors if it is missing.

    Creating an index blocks writes of vectors, so call this function before you compute the vectors.
    """
    if has_index(model):  # CREATE INDEX would lock the table even if the index exists
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
    """Compute missing vectors, at most `limit` per model. Return how many vectors were stored.

    A model that is being built becomes current when it has all vectors. Until then, missing vectors of the old model
    are also computed, so that searches find new phrasings. Raises `EmbedderUnavailable` and stores the reason with the
    new model. Searches continue to use the old model.
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
    """Delete the vectors and indexes of models that are neither in use nor being built.

    A model's vectors are not deleted when another model becomes current, because searches in progress still use them.
    Raises `EmbedderUnavailable`.
    """
    State = EmbeddingModel.State
    unwanted = EmbeddingModel.objects.filter(state=State.BUILDING).exclude(name=embedder().name)
    unwanted.update(state=State.RETIRED)
    for old in EmbeddingModel.objects.filter(state=EmbeddingModel.State.RETIRED):
        with transaction.atomic():
            _lock_models()
            if not EmbeddingModel.objects.filter(pk=old.pk, state=old.state).exists():
                continue  # the model was selected again in the meantime
            drop = sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(old.index_name))
            with connection.cursor() as cursor:
                cursor.execute(drop)
            Embedding.objects.filter(model=old).delete()


def progress() -> Progress:
    """Return how many phrasings have a vector, in a fixed number of queries."""
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
    """Update `searchable` on the vectors of these entries, according to whether the entries may answer.

    Call this function in the transaction that changes the entries, while the entries are locked.
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
    """Return the vectors of the texts. Compute only vectors that are not shipped."""
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
    """Store these vectors, except for phrasings that have changed or whose entries are locked."""
    # Lock the entries, so that a concurrent verification waits and then updates these vectors. Skip entries that are
    # locked by another transaction. The next pass handles them.
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
    """Make a complete model current, and retire the old model."""
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
    """Return the phrasings that have no vector of this model."""
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
