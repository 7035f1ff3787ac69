"""Is it alive, and can it serve: for load balancers and people, without sign-in or secrets."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.transaction import atomic
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from catalog.embedding import EmbedderUnavailable
from catalog.evidence.services import is_served
from catalog.retrieval import vector_store
from core.database.migration_history import require_whole_history
from scriptsmith_site.embedded.layout import redis_client_url
from scriptsmith_site.operation import storage, work

_BROKER_SECONDS = 1.0
# Sorting more than fits into memory writes a temporary file of 200 KB: no table changes, and a full disk refuses it.
_SPILL = """
SET LOCAL work_mem = '64kB';
SELECT count(*) FROM (SELECT * FROM generate_series(1, 5000) ORDER BY 1 DESC OFFSET 0) AS spilled
"""


class Health(StrEnum):
    """From best to worst. Degraded: pages work; something waits, or will soon stop."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"


@login_not_required
@never_cache
@require_GET
def show_alive(request: HttpRequest) -> JsonResponse:
    """/healthz: this process answers. Of the others it knows nothing: a restart heals none."""
    return JsonResponse({"status": Health.OK, "version": settings.VERSION})


@login_not_required
@never_cache
@require_GET
def show_ready(request: HttpRequest) -> JsonResponse:
    """/readyz: 200 while pages can be served, 503 otherwise, with the state of each part."""
    parts = check_parts(connections["default"])
    worst = worst_of(parts.values())
    status = 503 if worst is Health.FAILED else 200
    return JsonResponse({"status": worst, "parts": parts}, status=status)


def check_parts(database: BaseDatabaseWrapper) -> dict[str, Health]:
    """Each part by name. Only database and migrations keep pages from being served."""
    return {
        "database": check_database(database),
        "migrations": check_migrations(database),
        "disk": check_disk(),
        "worker": check_worker(),
        "oldest_job": check_oldest_job(),
        "broker": check_broker(settings.CELERY_BROKER_URL),
        "embedder": check_embedder(),
        "sandbox": check_sandbox(),
    }


def worst_of(parts: Iterable[Health]) -> Health:
    """The whole is as well as its worst part."""
    return max(parts, key=list(Health).index, default=Health.OK)


def check_database(database: BaseDatabaseWrapper) -> Health:
    """Return whether PostgreSQL answers and has room on its disk."""
    try:
        with atomic(database.alias), database.cursor() as cursor:
            cursor.execute(_SPILL)
    except DatabaseError:
        return Health.FAILED
    return Health.OK


def check_migrations(database: BaseDatabaseWrapper) -> Health:
    """Return whether the tables are those that this version needs."""
    try:
        require_whole_history(database)
        return Health.OK if not _pending(database) else Health.FAILED
    except (DatabaseError, ImproperlyConfigured):
        return Health.FAILED


def check_disk() -> Health:
    """Return whether the disks of the data folder and of the embedded database have room."""
    rooms = storage.rooms()
    if any(room.is_full for room in rooms):
        return Health.FAILED
    return Health.DEGRADED if any(room.is_little for room in rooms) else Health.OK


def check_worker() -> Health:
    """Whether any worker has given a sign of life lately. Without one new runs wait, and none is lost."""
    try:
        return Health.OK if work.has_living_worker() else Health.DEGRADED
    except DatabaseError:
        return Health.DEGRADED


def check_oldest_job() -> Health:
    """Whether something that a person waits for has waited for too long."""
    try:
        oldest = work.backlog_now().oldest
    except DatabaseError:
        return Health.DEGRADED
    too_old = oldest is not None and timezone.now() - oldest > work.TOO_OLD
    return Health.DEGRADED if too_old else Health.OK


def check_broker(url: str) -> Health:
    """Whether Redis answers. Without it new runs wait, and nothing is lost."""
    limits = {"socket_connect_timeout": _BROKER_SECONDS, "socket_timeout": _BROKER_SECONDS}
    import redis  # takes a tenth of the time that the whole product takes to load

    try:
        with redis.Redis.from_url(redis_client_url(url), **limits) as client:
            client.ping()
    except redis.RedisError:
        return Health.DEGRADED
    return Health.OK


def check_embedder() -> Health:
    """Whether statements can be embedded. Without it they are searched by their words."""
    try:
        _embed_once()
    except EmbedderUnavailable:
        return Health.DEGRADED
    return Health.OK


def check_sandbox() -> Health:
    """Whether a worker that can run scripts has reported lately. Without one cases are *not run*, and nothing fails."""
    if not settings.SCRIPTSMITH_EXECUTION:
        return Health.OK
    try:
        return Health.OK if is_served() else Health.DEGRADED
    except DatabaseError:
        return Health.DEGRADED


def _pending(database: BaseDatabaseWrapper) -> bool:
    executor = MigrationExecutor(database)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


@cache
def _embed_once() -> None:
    # A failure is not cached: the next question tries again.
    vector_store.embedder().embed(["ready"])
