"""Notification emails. Each lists all due notifications of a user, with links but no scripts.

Emails are delivered at least once.
"""

from __future__ import annotations

import logging
import smtplib
from collections.abc import Mapping
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.core.signing import BadSignature, dumps, loads
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from core.web.site_address import site_url
from scriptsmith_site.integrations.integration_health import note_failure, note_success
from scriptsmith_site.integrations.notifications.mail_settings import DOOR, can_mail
from scriptsmith_site.integrations.notifications.schedule import after_quiet
from scriptsmith_site.integrations.notifications.telling import choices_of, habits_of
from scriptsmith_site.integrations.notifications.titles import show
from scriptsmith_site.models import Notification, NotificationChoices

logger = logging.getLogger(__name__)

# Other workers skip a user's notifications for this time after a worker has started to send them.
_HELD = timedelta(minutes=5)
_TRIED_FOR = timedelta(days=3)
_MOST_LINES = 50
_SALT = "notification address"
_LINK_SECONDS = 3 * 24 * 3600


def send_due_mail() -> int:
    """Send emails to all users with due notifications and return the number of emails."""
    now = timezone.now()
    due = Notification.objects.filter(mail_at__lte=now).values_list("person", flat=True)
    people = User.objects.filter(pk__in=due, is_active=True)
    people = people.select_related("profile", "notification_choices")
    return sum(_write_to(person) for person in people)


def _write_to(person: User) -> bool:
    choices = choices_of(person)
    if _is_quiet_now(person):
        return False
    rows = _take(person)
    if not rows:
        return False
    mine = Notification.objects.filter(pk__in=[one.pk for one in rows])
    if not can_mail(choices):
        # The address has changed or email was turned off in the meantime, so show the notifications on the site.
        mine.update(mail_at=None, in_bell=True)
        return False
    shown = show(rows[:_MOST_LINES], outside=True)
    lines = [(one.kind.words, one.title, site_url(one.path)) for one in shown]
    more = max(0, len(rows) - _MOST_LINES)
    context = {"lines": lines, "more": more, "page": site_url(reverse("notification-list"))}
    subject = str(lines[0][0]) if len(rows) == 1 else _("%s notifications") % len(rows)
    if not _send(choices.mail_address, subject, "integrations/notifications/mail.txt", context):
        return False
    mine.update(mail_at=None, mailed_at=timezone.now())
    return True


def _is_quiet_now(person: User) -> bool:
    """Return whether quiet hours have begun. If so, postpone due notifications to the end of the quiet hours."""
    now = timezone.now()
    until = after_quiet(now, habits_of(person, choices_of(person)))
    if until <= now:
        return False
    Notification.objects.filter(person=person, mail_at__lte=now).update(mail_at=until)
    return True


@transaction.atomic
def _take(person: User) -> list[Notification]:
    """Lock and return the user's due notifications.

    Notifications that could not be sent for days are shown on the site instead.
    """
    now = timezone.now()
    late = Notification.objects.filter(person=person, at__lt=now - _TRIED_FOR, mail_at__lte=now)
    late.update(mail_at=None, in_bell=True)
    due = Notification.objects.filter(person=person, mail_at__lte=now)
    rows = list(due.select_for_update(skip_locked=True).order_by("pk"))
    due.filter(pk__in=[one.pk for one in rows]).update(mail_at=now + _HELD)
    return rows


def send_confirmation(person_id: int) -> None:
    """Send a link to the address that a user entered. Following the link confirms the address."""
    choices = NotificationChoices.objects.get(person=person_id)
    secret = make_confirmation(person_id, choices.mail_address)
    link = site_url(reverse("notification-confirm", args=[secret]))
    file = "integrations/notifications/confirm.txt"
    _send(choices.mail_address, _("Confirm your email address"), file, {"link": link})


def send_test(person_id: int) -> None:
    """Send a test email to the user's confirmed address, if any."""
    choices = NotificationChoices.objects.filter(person=person_id).first()
    if choices is not None and can_mail(choices):
        context = {"page": site_url(reverse("notification-list"))}
        _send(choices.mail_address, _("Test email"), "integrations/notifications/test.txt", context)


def make_confirmation(person_id: int, address: str) -> str:
    """Return the signed token for the confirmation link."""
    return dumps([person_id, address], salt=_SALT)


def address_in(secret: str, *, person: User) -> str:
    """Return the address that a token confirms for this user, or an empty string if the token is invalid."""
    try:
        owner, address = loads(secret, salt=_SALT, max_age=_LINK_SECONDS)
    except (BadSignature, ValueError, TypeError):
        return ""
    return str(address) if owner == person.pk else ""


def _send(to: str, subject: str, file: str, context: Mapping[str, object]) -> bool:
    """Send an email and return whether the server accepted it. Django rejects line breaks in headers."""
    body = render_to_string(file, dict(context))
    try:
        EmailMessage(f"ScriptSmith: {subject}", body, to=[to]).send()
    except (smtplib.SMTPException, OSError, ValueError) as error:
        logger.warning("An email was not sent: %s", type(error).__name__)
        note_failure(DOOR, f"{type(error).__name__}: {error}")
        return False
    note_success(DOOR)
    return True
