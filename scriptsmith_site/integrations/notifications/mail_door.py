"""The state of the email integration, and a switch to pause it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow
from scriptsmith_site.integrations.notifications.mail_settings import DOOR, is_mail_configured
from scriptsmith_site.models import Door
from scriptsmith_site.people.services import require_administrator


def the_door() -> Door:
    """Return the integration's row, or an unsaved row."""
    return Door.objects.filter(name=DOOR).first() or Door(name=DOOR)


def state_of(door: Door) -> str:
    """Return the state: off, works, paused or fails."""
    if not is_mail_configured():
        return "off"
    if door.paused_at is not None:
        return "paused"
    failed, worked = door.last_error_at, door.last_success_at
    fails = failed is not None and (worked is None or worked < failed)
    return "fails" if fails else "works"


@transaction.atomic
def pause(*, by: User) -> None:
    """Stop sending emails. Pending notifications are shown on the site instead. Raises NotAllowedNow."""
    require_administrator(by)
    door, _made = Door.objects.select_for_update().get_or_create(name=DOOR)
    if door.paused_at is not None:
        raise NotAllowedNow(_("Email is already paused."))
    Door.objects.filter(pk=door.pk).update(paused_at=timezone.now())
    record(by, "email paused", by=by)


@transaction.atomic
def resume(*, by: User) -> None:
    """Send emails for new notifications again. Raises NotAllowedNow if emails are not paused."""
    require_administrator(by)
    if not Door.objects.filter(name=DOOR, paused_at__isnull=False).update(paused_at=None):
        raise NotAllowedNow(_("Email is not paused."))
    record(by, "email resumed", by=by)
