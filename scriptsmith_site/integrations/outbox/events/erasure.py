"""Erase stored responses of receivers when an action is erased, because they may repeat its text."""

from __future__ import annotations

from django.db.models import Q

from catalog.models import Version
from scriptsmith_site.models import DeliveryAttempt


def erase_texts_of_action(action_id: int) -> None:
    """Clear the responses to events of this action and of its entries. The events contain no text."""
    made = Version.objects.filter(provenance__action=action_id).values_list("entry", flat=True)
    entries = [f"entry:{pk}" for pk in set(made)]
    tries = DeliveryAttempt.objects.exclude(answer="")
    tries.filter(
        Q(delivery__event__action_id=action_id) | Q(delivery__event__subject__in=entries)
    ).update(answer="")
