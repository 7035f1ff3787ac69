"""Stopping every agent at once, and letting them in again."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow
from scriptsmith_site.models import AgentPause
from scriptsmith_site.people.services import require_administrator


def is_paused() -> bool:
    """Whether agents are answered nothing."""
    return AgentPause.objects.exists()


@transaction.atomic
def pause(*, by: User) -> None:
    """No agent is answered any more. Raises NotAllowedNow where that is so already."""
    require_administrator(by)
    _row, is_new = AgentPause.objects.get_or_create(only=True, defaults={"by": by})
    if not is_new:
        raise NotAllowedNow(_("Agents are paused already."))
    record(by, "agents paused", by=by)


@transaction.atomic
def resume(*, by: User) -> None:
    """Agents are answered again. Raises NotAllowedNow where they were not paused."""
    require_administrator(by)
    deleted, _rows = AgentPause.objects.all().delete()
    if not deleted:
        raise NotAllowedNow(_("Agents are not paused."))
    record(by, "agents resumed", by=by)
