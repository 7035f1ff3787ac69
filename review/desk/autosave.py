"""What a reviewer typed on an item, kept between visits; two tabs do not overwrite each other."""

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
    """Keep what was typed. Raises Stale where another tab has saved since; its text is the one kept.

    Sent again, since the answer was lost on its way, it changes nothing.
    """
    if sum(len(str(value)) for value in fields.values()) > MAX_SCRATCH_BYTES:
        raise BadInput(_("This is too long to be kept."))
    scratch, _created = Scratch.objects.select_for_update().get_or_create(item=item, reviewer=by)
    if scratch.revision == revision + 1 and fields.items() <= scratch.fields.items():
        return scratch
    if scratch.revision != revision:
        raise Stale(_("Another tab has saved something newer."), newest=scratch.revision)
    scratch.fields = {**scratch.fields, **fields}
    scratch.revision += 1
    scratch.saved_at = timezone.now()
    scratch.save(update_fields=["fields", "revision", "saved_at"])
    return scratch


def forget_scratches() -> None:
    """Forget what was typed for items of the live queue that are decided, once nobody can undo that any more."""
    window = ExpressionWrapper(
        F("item__campaign__edit_minutes") * timedelta(minutes=1), output_field=DurationField()
    )
    Scratch.objects.alias(until=F("item__closed_at") + window).filter(
        item__state=Item.State.CLOSED,
        item__campaign__kind=Campaign.Kind.LIVE,
        until__lt=timezone.now(),
    ).delete()
