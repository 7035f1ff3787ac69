"""Whether e-mails can be sent at all, and to whom."""

from __future__ import annotations

from django.conf import settings

from scriptsmith_site.models import Door, NotificationChoices

DOOR = "mail"


def is_mail_configured() -> bool:
    """Whether a server for e-mails is named."""
    return bool(settings.EMAIL_HOST)


def is_mail_open() -> bool:
    """Whether e-mails go out now: a server is named, and nobody has paused them."""
    paused = Door.objects.filter(name=DOOR, paused_at__isnull=False)
    return is_mail_configured() and not paused.exists()


def has_mail_address(choices: NotificationChoices) -> bool:
    """Whether this person has an address that they have shown to be theirs."""
    return bool(choices.mail_address and choices.confirmed_at)


def can_mail(choices: NotificationChoices) -> bool:
    """Whether this person can be written to now."""
    return has_mail_address(choices) and is_mail_open()
