"""Pause and resume all agents."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow
from scriptsmith_site.models import AgentPause
from scriptsmith_site.people.services import require_administrator


def is_paused() -> bool:
    """Return whether agents are paused."""
    return AgentPause.objects.exists()


@transaction.atomic
def pause(*, by: User) -> None:
    """Reject all calls from agents. Raises NotAllowedNow if agents are already paused."""
    require_administrator(by)
    _row, is_new = AgentPause.objects.get_or_create(only=True, defaults={"by": by})
    if not is_new:
        raise NotAllowedNow(_("Agents are already paused."))
    record(by, "agents paused", by=by)


@transaction.atomic
def resume(*, by: User) -> None:
    """Allow calls from agents again. Raises NotAllowedNow if agents are not paused."""
    require_administrator(by)
    deleted, _rows = AgentPause.objects.all().delete()
    if not deleted:
        raise NotAllowedNow(_("Agents are not paused."))
    record(by, "agents resumed", by=by)
