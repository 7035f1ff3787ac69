"""The audit log, which records who changed which values, before and after. The database prevents later changes to its
rows.

Each event is also passed to the outbox, inside its transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Model

Changes = Mapping[str, tuple[object, object]]

# Registered by the composition root. Its writes are part of the event's transaction. An exception rolls back both.
transactional_listener: Callable[[Model, str, User | None, Changes], None] | None = None


def record(
    instance: Model, event: str, *, by: User | None, **changes: tuple[object, object]
) -> None:
    """Log an event, named in the past tense ("verified"), with old and new values. Never log the text of a script."""
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
    """Pass an event caused by a program to the listener, inside its transaction, without a row in the log."""
    if transactional_listener is not None:
        transactional_listener(instance, event, by, changes)


def events_of(instance: Model, *events: str) -> list[LogEntry]:
    """Return an object's events of these kinds, oldest first, with their actors."""
    found = LogEntry.objects.get_for_object(instance).filter(additional_data__event__in=events)
    return list(found.select_related("actor").order_by("pk"))


@contextmanager
def erasing() -> Iterator[None]:
    """Allow texts to be removed from the log, which is otherwise append-only, until the end of the block."""
    _say_erasing("on")
    yield
    _say_erasing("off")


def forget_name(instance: Model) -> None:
    """Remove an object's old name from the log, in the transaction that erases its texts. The rows stay."""
    with erasing():
        LogEntry.objects.get_for_object(instance).update(object_repr=str(instance))


def _say_erasing(state: str) -> None:
    # The trigger on the log reads this setting, which ends with the transaction.
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('scriptsmith.erasing', %s, true)", [state])
