"""Whether e-mails go out now, how they did lately, and a pause of all of them."""

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
    """Its row, or an unsaved one."""
    return Door.objects.filter(name=DOOR).first() or Door(name=DOOR)


def state_of(door: Door) -> str:
    """off, works, paused or fails, as pages of doors show it."""
    if not is_mail_configured():
        return "off"
    if door.paused_at is not None:
        return "paused"
    failed, worked = door.last_error_at, door.last_success_at
    fails = failed is not None and (worked is None or worked < failed)
    return "fails" if fails else "works"


@transaction.atomic
def pause(*, by: User) -> None:
    """No letter goes out; what was to be in one stands under the bell. Raises NotAllowedNow."""
    require_administrator(by)
    door, _made = Door.objects.select_for_update().get_or_create(name=DOOR)
    if door.paused_at is not None:
        raise NotAllowedNow(_("E-mail is paused already."))
    Door.objects.filter(pk=door.pk).update(paused_at=timezone.now())
    record(by, "e-mail paused", by=by)


@transaction.atomic
def resume(*, by: User) -> None:
    """Letters go out again, of what happens from now on. Raises NotAllowedNow where it was not paused."""
    require_administrator(by)
    if not Door.objects.filter(name=DOOR, paused_at__isnull=False).update(paused_at=None):
        raise NotAllowedNow(_("E-mail is not paused."))
    record(by, "e-mail resumed", by=by)
