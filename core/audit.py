"""The audit log, which records who changed which values, with old and new values. The database makes rows immutable.

Each event is also passed to the outbox, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Model

Changes = Mapping[str, tuple[object, object]]

# The composition root registers this callback. Its writes are part of the event's transaction, so an exception rolls
# back both.
transactional_listener: Callable[[Model, str, User | None, Changes], None] | None = None


def record(
    instance: Model, event: str, *, by: User | None, **changes: tuple[object, object]
) -> None:
    """Log an event, named in the past tense ("verified"), with old and new values. Never log script text."""
    with transaction.atomic(savepoint=False):
        LogEntry.objects.log_create(
            instance,
            force_log=True,
            action=LogEntry.Action.UPDATE,
            changes={name: [str(old), str(new)] for name, (old, new) in changes.items()},
            additional_data={"event": event},
            actor=by,
        )
        emit(instance, event, by=by, **changes)


def emit(
    instance: Model, event: str, *, by: User | None = None, **changes: tuple[object, object]
) -> None:
    """Pass an event to the listener, in the same transaction, without logging it."""
    if transactional_listener is not None:
        transactional_listener(instance, event, by, changes)


def events_of(instance: Model, *events: str) -> list[LogEntry]:
    """Return an object's events of these kinds, oldest first, with their actors."""
    found = LogEntry.objects.get_for_object(instance).filter(additional_data__event__in=events)
    return list(found.select_related("actor").order_by("pk"))


@contextmanager
def erasing() -> Iterator[None]:
    """Allow the block to erase text in the log, which is otherwise append-only."""
    _say_erasing("on")
    yield
    _say_erasing("off")


def forget_name(instance: Model) -> None:
    """Erase an object's former name from the log, in the transaction that erases its text. The rows are preserved."""
    with erasing():
        LogEntry.objects.get_for_object(instance).update(object_repr=str(instance))


def _say_erasing(state: str) -> None:
    # The trigger on the log table reads this setting, which is reset when the transaction ends.
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('scriptsmith.erasing', %s, true)", [state])
