"""Health checks for load balancers and users, which require no sign-in and reveal no secrets."""

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
# Sorting more than fits in memory writes a temporary file of 200 KB, which fails on a full disk.
_SPILL = """
SET LOCAL work_mem = '64kB';
SELECT count(*) FROM (SELECT * FROM generate_series(1, 5000) ORDER BY 1 DESC OFFSET 0) AS spilled
"""


class Health(StrEnum):
    """The states from best to worst. In the degraded state, pages work, but other work is waiting or will soon stop."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"


@login_not_required
@never_cache
@require_GET
def show_alive(request: HttpRequest) -> JsonResponse:
    """Serve /healthz, which only reports that this process responds, because a restart would not fix other parts."""
    return JsonResponse({"status": Health.OK, "version": settings.VERSION})


@login_not_required
@never_cache
@require_GET
def show_ready(request: HttpRequest) -> JsonResponse:
    """Serve /readyz with the state of each part: 200 if pages can be served, and 503 otherwise."""
    parts = check_parts(connections["default"])
    worst = worst_of(parts.values())
    status = 503 if worst is Health.FAILED else 200
    return JsonResponse({"status": worst, "parts": parts}, status=status)


def check_parts(database: BaseDatabaseWrapper) -> dict[str, Health]:
    """Return the state of each part by name.

    Only the database, the migrations and the disks can have the failed state.
    """
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
    """Return the worst state of the parts."""
    return max(parts, key=list(Health).index, default=Health.OK)


def check_database(database: BaseDatabaseWrapper) -> Health:
    """Return whether PostgreSQL responds and has free disk space."""
    try:
        with atomic(database.alias), database.cursor() as cursor:
            cursor.execute(_SPILL)
    except DatabaseError:
        return Health.FAILED
    return Health.OK


def check_migrations(database: BaseDatabaseWrapper) -> Health:
    """Return whether the applied migrations are those that this version needs."""
    try:
        require_whole_history(database)
        return Health.OK if not _pending(database) else Health.FAILED
    except (DatabaseError, ImproperlyConfigured):
        return Health.FAILED


def check_disk() -> Health:
    """Return whether the disks of the data folder and of the embedded database have enough free space."""
    rooms = storage.rooms()
    if any(room.is_full for room in rooms):
        return Health.FAILED
    return Health.DEGRADED if any(room.is_little for room in rooms) else Health.OK


def check_worker() -> Health:
    """Return whether a worker had a recent heartbeat. Without a worker, new runs wait and are not lost."""
    try:
        return Health.OK if work.has_living_worker() else Health.DEGRADED
    except DatabaseError:
        return Health.DEGRADED


def check_oldest_job() -> Health:
    """Return whether a job has waited too long while a user is waiting for it."""
    try:
        oldest = work.backlog_now().oldest
    except DatabaseError:
        return Health.DEGRADED
    too_old = oldest is not None and timezone.now() - oldest > work.TOO_OLD
    return Health.DEGRADED if too_old else Health.OK


def check_broker(url: str) -> Health:
    """Return whether Redis responds. Without Redis, new runs wait and are not lost."""
    limits = {"socket_connect_timeout": _BROKER_SECONDS, "socket_timeout": _BROKER_SECONDS}
    import redis  # imported here, because it takes a tenth of the product's load time

    try:
        with redis.Redis.from_url(redis_client_url(url), **limits) as client:
            client.ping()
    except redis.RedisError:
        return Health.DEGRADED
    return Health.OK


def check_embedder() -> Health:
    """Return whether statements can be embedded. Otherwise, the search uses only words."""
    try:
        _embed_once()
    except EmbedderUnavailable:
        return Health.DEGRADED
    return Health.OK


def check_sandbox() -> Health:
    """Return whether a sandbox worker has reported recently. Without one, sandbox tests are *not run*."""
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
    # Failures are not cached, so the next request tries again.
    vector_store.embedder().embed(["ready"])
