"""Services for a user's notifications and notification settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from celery import current_app
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from scriptsmith_site.integrations.notifications.kinds import kinds_for
from scriptsmith_site.integrations.notifications.mail import address_in
from scriptsmith_site.integrations.notifications.mail_settings import (
    can_mail,
    is_mail_configured,
    is_mail_open,
)
from scriptsmith_site.integrations.notifications.telling import choices_of
from scriptsmith_site.models import Notification, NotificationChoices

SEND_CONFIRMATION = "scriptsmith_site.confirm_mail_address"
SEND_TEST = "scriptsmith_site.send_test_mail"
_HOURS = range(24)
# The limit applies to all addresses of a user together, so that the server can't be used to spam strangers.
MOST_LETTERS_A_DAY = 5


@dataclass(frozen=True, kw_only=True)
class Choices:
    """A user's notification settings. Hours are in the user's time zone."""

    ways: Mapping[str, str]
    mail_address: str = ""
    digest: str = NotificationChoices.Digest.AT_ONCE
    daily_hour: int = 8
    quiet_from: int | None = None
    quiet_until: int | None = None


def bell_of(person: User) -> QuerySet[Notification]:
    """Return the user's notifications on the site, newest first."""
    return Notification.objects.filter(person=person, in_bell=True)


def mark_read(notification: Notification) -> None:
    """Mark a notification as read, if it is unread."""
    Notification.objects.filter(pk=notification.pk, read_at=None).update(read_at=timezone.now())


def mark_all_read(person: User, *, up_to: int) -> int:
    """Mark the notifications up to this ID as read, and return how many were unread."""
    unread = bell_of(person).filter(read_at=None, pk__lte=up_to)
    return unread.update(read_at=timezone.now())


@transaction.atomic
def choose(person: User, choices: Choices) -> NotificationChoices:
    """Save the user's settings and send a confirmation link to a new address. Raises BadInput."""
    offered = {one.name for one in kinds_for(person)}
    for kind, way in choices.ways.items():
        if kind not in offered or way not in NotificationChoices.Way.values:
            raise BadInput(_("Choose one of the options."), field=kind)
    address = _read_address(choices.mail_address)
    if choices.digest not in NotificationChoices.Digest.values:
        raise BadInput(_("Choose when emails are sent."), field="digest")
    for name in ("daily_hour", "quiet_from", "quiet_until"):
        hour = getattr(choices, name)
        if hour is not None and hour not in _HOURS:
            raise BadInput(_("Choose an hour from 0 to 23."), field=name)
    if (choices.quiet_from is None) != (choices.quiet_until is None):
        raise BadInput(_("Set both hours, or leave both empty."), field="quiet_until")
    NotificationChoices.objects.get_or_create(person=person)
    kept = NotificationChoices.objects.select_for_update().get(person=person)
    is_new = address != kept.mail_address
    bell = NotificationChoices.Way.BELL
    # Keep the choices for kinds that need a role the user has lost, in case the user regains the role.
    ways = {**kept.ways, **choices.ways}
    kept.ways = {kind: way for kind, way in ways.items() if way != bell}
    kept.mail_address = address
    kept.digest, kept.daily_hour = choices.digest, choices.daily_hour
    kept.quiet_from, kept.quiet_until = choices.quiet_from, choices.quiet_until
    is_asked = bool(address) and is_new and is_mail_open()
    if is_new:
        kept.confirmed_at = None
    if is_asked and not _count_letter(kept):
        raise BadInput(_too_many_letters(), field="mail_address")
    kept.save()
    if is_asked:
        transaction.on_commit(lambda: _ask_to_confirm(person), robust=True)
    return kept


def find_confirmed(person: User, secret: str) -> QuerySet[NotificationChoices]:
    """Return the settings whose address the link confirms. Raises BadInput if the link is invalid or expired."""
    address = address_in(secret, person=person)
    found = NotificationChoices.objects.filter(person=person, mail_address=address)
    if not address or not found.exists():
        raise BadInput(
            _(
                "This link has expired or is for another address. Save your address again to get a "
                "new one."
            )
        )
    return found


def confirm_address(person: User, secret: str) -> None:
    """Confirm the user's address. Raises BadInput like `find_confirmed`."""
    find_confirmed(person, secret).update(confirmed_at=timezone.now())


@transaction.atomic
def ask_test(person: User) -> None:
    """Send a test email.

    Raises NotAllowedNow if emails are paused, the address is not confirmed, or the daily limit is reached.
    """
    if is_mail_configured() and not is_mail_open():
        raise NotAllowedNow(_("An administrator has paused emails."))
    if not can_mail(choices_of(person)):
        raise NotAllowedNow(
            _(
                "Emails are only sent to a confirmed address. Save your address and open the link in "
                "the email."
            )
        )
    kept = NotificationChoices.objects.select_for_update().get(person=person)
    if not _count_letter(kept):
        raise NotAllowedNow(_too_many_letters())
    kept.save(update_fields=["letters", "letters_since"])
    record(person, "test email requested", by=person)
    transaction.on_commit(lambda: _send_test(person), robust=True)


def _count_letter(kept: NotificationChoices) -> bool:
    """Count an email and return whether it may be sent. The caller must save the count."""
    now = timezone.now()
    if kept.letters_since is None or kept.letters_since <= now - timedelta(days=1):
        kept.letters, kept.letters_since = 0, now
    kept.letters += 1
    return kept.letters <= MOST_LETTERS_A_DAY


def _too_many_letters() -> str:
    return (
        _("You have already requested %s of these emails today. Try again tomorrow.")
        % MOST_LETTERS_A_DAY
    )


def _send_test(person: User) -> None:
    current_app.send_task(SEND_TEST, args=(person.pk,), expires=60)


def _ask_to_confirm(person: User) -> None:
    current_app.send_task(SEND_CONFIRMATION, args=(person.pk,), expires=600)


def _read_address(text: str) -> str:
    text = text.strip()
    try:
        if text:
            validate_email(text)
    except ValidationError:
        raise BadInput(_("Enter a valid email address."), field="mail_address") from None
    if len(text) > 254:
        raise BadInput(_("Enter a valid email address."), field="mail_address")
    return text
