"""Store events in the transaction that causes them. `core.audit` calls this module as its listener."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Model

from scriptsmith_site.integrations.outbox.events.event_types import Changes, find_type
from scriptsmith_site.models import Event


def capture(instance: Model, words: str, by: User | None, changes: Changes) -> None:
    """Store an event if its type is in the table. A worker adds the text, the link and the recipients later."""
    kind = find_type(instance, words, changes)
    if kind is None:
        return
    Event.objects.create(
        type=kind.name,
        model=kind.model,
        object_id=instance.pk,
        by=by,
        details={name: str(changes[name][1])[:200] for name in kind.keeps if name in changes},
    )
