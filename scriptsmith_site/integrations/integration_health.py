"""The health of each integration: its latest success, its latest failure and the reason."""

from __future__ import annotations

from django.utils import timezone

from scriptsmith_site.models import Door


def note_success(name: str) -> None:
    """Record a success of an integration."""
    Door.objects.update_or_create(name=name, defaults={"last_success_at": timezone.now()})


def note_failure(name: str, why: str) -> None:
    """Record a failure of an integration. Administrators see `why`."""
    why = " ".join(why.replace("\0", "\ufffd").split())[:300]
    defaults = {"last_error_at": timezone.now(), "last_error": why}
    Door.objects.update_or_create(name=name, defaults=defaults)
