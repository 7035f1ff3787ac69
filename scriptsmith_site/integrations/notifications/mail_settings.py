"""Whether e-mails can be sent at all, and to whom."""

from __future__ import annotations

from django.conf import settings

from scriptsmith_site.models import NotificationChoices


def is_mail_configured() -> bool:
    """Whether a server for e-mails is named."""
    return bool(settings.EMAIL_HOST)


def can_mail(choices: NotificationChoices) -> bool:
    """Whether this person has an address that they have shown to be theirs, and there is a server."""
    return is_mail_configured() and bool(choices.mail_address and choices.confirmed_at)
