"""Autosave the text that a reviewer types on an item, and prevent two tabs from overwriting each other's text."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import BadInput, Stale
from review.models import Campaign, Item, Scratch

MAX_SCRATCH_BYTES = 1_200_000


@transaction.atomic
def save_scratch(item: Item, *, by: User, fields: dict[str, object], revision: int) -> Scratch:
    """Save the typed fields. Repeating a request whose response was lost changes nothing.

    Raises Stale and saves nothing if another tab has saved since this revision.
    """
    if sum(len(str(value)) for value in fields.values()) > MAX_SCRATCH_BYTES:
        raise BadInput(_("This text is too long to save."))
    scratch, _created = Scratch.objects.select_for_update().get_or_create(item=item, reviewer=by)
    if scratch.revision == revision + 1 and fields.items() <= scratch.fields.items():
        return scratch
    if scratch.revision != revision:
        raise Stale(_("Another tab has saved a newer version."), newest=scratch.revision)
    scratch.fields = {**scratch.fields, **fields}
    scratch.revision += 1
    scratch.saved_at = timezone.now()
    scratch.save(update_fields=["fields", "revision", "saved_at"])
    return scratch


def forget_scratches() -> None:
    """Delete the autosaved text of decided items in the review queue after their edit window has ended."""
    window = ExpressionWrapper(
        F("item__campaign__edit_minutes") * timedelta(minutes=1), output_field=DurationField()
    )
    Scratch.objects.alias(until=F("item__closed_at") + window).filter(
        item__state=Item.State.CLOSED,
        item__campaign__kind=Campaign.Kind.LIVE,
        until__lt=timezone.now(),
    ).delete()
