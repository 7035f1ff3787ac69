"""One line in the audit log: who changed what, from what to what. The database refuses to change it later."""

from __future__ import annotations

from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db.models import Model


def record(
    instance: Model, event: str, *, by: User | None, **changes: tuple[object, object]
) -> None:
    """Note an event in the past tense ("verified") with old and new values; texts of scripts stay out."""
    LogEntry.objects.log_create(
        instance,
        force_log=True,
        action=LogEntry.Action.UPDATE,
        changes={name: [str(old), str(new)] for name, (old, new) in changes.items()},
        additional_data={"event": event},
        actor=by,
    )
