"""Check whether emails can be sent, and to which users."""

from __future__ import annotations

from django.conf import settings

from scriptsmith_site.models import Door, NotificationChoices

DOOR = "mail"


def is_mail_configured() -> bool:
    """Return whether an email server is configured."""
    return bool(settings.EMAIL_HOST)


def is_mail_open() -> bool:
    """Return whether emails are configured and not paused."""
    paused = Door.objects.filter(name=DOOR, paused_at__isnull=False)
    return is_mail_configured() and not paused.exists()


def has_mail_address(choices: NotificationChoices) -> bool:
    """Return whether the user has a confirmed address."""
    return bool(choices.mail_address and choices.confirmed_at)


def can_mail(choices: NotificationChoices) -> bool:
    """Return whether this user can receive emails now."""
    return has_mail_address(choices) and is_mail_open()
