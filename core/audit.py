"""One line in the audit log: who changed what, from what to what. The database refuses to change it later.

Whoever has to be told of events is told here, inside the transaction of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Model

Changes = Mapping[str, tuple[object, object]]

# Registered by the composition root. Whatever it writes is part of the event's transaction; what it raises undoes both.
listener: Callable[[Model, str, User | None, Changes], None] | None = None


def record(
    instance: Model, event: str, *, by: User | None, **changes: tuple[object, object]
) -> None:
    """Note an event in the past tense ("verified") with old and new values; texts of scripts stay out."""
    with transaction.atomic(savepoint=False):
        LogEntry.objects.log_create(
            instance,
            force_log=True,
            action=LogEntry.Action.UPDATE,
            changes={name: [str(old), str(new)] for name, (old, new) in changes.items()},
            additional_data={"event": event},
            actor=by,
        )
        tell(instance, event, by=by, **changes)


def tell(
    instance: Model, event: str, *, by: User | None = None, **changes: tuple[object, object]
) -> None:
    """Tell the listener of an event, inside its transaction; for what programs do and the log has no line of."""
    if listener is not None:
        listener(instance, event, by, changes)


def events_of(instance: Model, *events: str) -> list[LogEntry]:
    """These events of an object, the oldest first, each with who it was by."""
    found = LogEntry.objects.get_for_object(instance).filter(additional_data__event__in=events)
    return list(found.select_related("actor").order_by("pk"))


@contextmanager
def erasing() -> Iterator[None]:
    """Inside it the log, otherwise append-only, lets texts be taken out; for this transaction alone."""
    _say_erasing("on")
    yield
    _say_erasing("off")


def forget_name(instance: Model) -> None:
    """Take an object's old name out of the log, inside the transaction that erases its texts; the rows stay."""
    with erasing():
        LogEntry.objects.get_for_object(instance).update(object_repr=str(instance))


def _say_erasing(state: str) -> None:
    # The trigger on the log reads this setting, which ends with the transaction.
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('scriptsmith.erasing', %s, true)", [state])
