"""Whether each integration works: when it last succeeded, when it last failed, and why."""

from __future__ import annotations

from django.utils import timezone

from scriptsmith_site.models import Door


def note_success(name: str) -> None:
    """It worked just now."""
    Door.objects.update_or_create(name=name, defaults={"last_success_at": timezone.now()})


def note_failure(name: str, why: str) -> None:
    """It did not work; `why` is shown to administrators."""
    why = " ".join(why.replace("\0", "\ufffd").split())[:300]
    defaults = {"last_error_at": timezone.now(), "last_error": why}
    Door.objects.update_or_create(name=name, defaults=defaults)
