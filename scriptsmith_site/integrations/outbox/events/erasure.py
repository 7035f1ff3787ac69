"""Erasing an action's texts reaches what receivers answered: it may repeat what they were sent."""

from __future__ import annotations

from django.db.models import Q

from catalog.models import Version
from scriptsmith_site.models import DeliveryAttempt


def erase_texts_of_action(action_id: int) -> None:
    """Empty the answers to events of this action, and of the entries that came of it; events hold no text."""
    made = Version.objects.filter(provenance__action=action_id).values_list("entry", flat=True)
    entries = [f"entry:{pk}" for pk in set(made)]
    tries = DeliveryAttempt.objects.exclude(answer="")
    tries.filter(
        Q(delivery__event__action_id=action_id) | Q(delivery__event__subject__in=entries)
    ).update(answer="")
