"""Detect half-migrated databases, which are neither new nor complete."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def missing_migrations(applied: Collection[tuple[str, str]]) -> list[str]:
    """Return the missing migrations of all half-migrated apps as "app.name", sorted.

    An app is half-migrated if `applied` contains some, but not all, of the migrations that a squashed migration
    replaces. The replaced files no longer exist, so this version can't apply the missing migrations, and Django would
    silently skip the app.
    """
    missing: set[tuple[str, str]] = set()
    for replaced in _replaced_together():
        if not replaced.isdisjoint(applied):
            missing |= replaced.difference(applied)
    return sorted(f"{app}.{name}" for app, name in missing)


def require_whole_history(connection: BaseDatabaseWrapper) -> None:
    """Raise ImproperlyConfigured if the database is half-migrated."""
    missing = missing_migrations(MigrationRecorder(connection).applied_migrations())
    if missing:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ImproperlyConfigured(
            f"This database is only partly migrated: {missing[0]}{others} is missing. This version "
            "can't apply missing migrations separately. Run `migrate` once with the last commit "
            "that has them (see docs/operation.md, 'Half-migrated databases'), or start with an "
            "empty database."
        )


@cache
def _replaced_together() -> list[set[tuple[str, str]]]:
    """Return the set of migrations that each squashed migration replaces."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    return [set(one.replaces) for one in loader.disk_migrations.values() if one.replaces]
