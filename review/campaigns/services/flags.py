"""Answer reviewers' flags, and withdraw the flagged items."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from review.campaigns.services.editing import withdraw
from review.models import Flag

MAX_RESOLUTION = 2_000


@transaction.atomic
def answer_flag(flag: Flag, *, resolution: str, by: User, withdraws: bool = False) -> None:
    """Close a flag with an answer. With `withdraws`, also withdraw the item, with the answer as the reason.

    Raises BadInput if the answer is empty or too long. Raises NotAllowedNow if the flag already has an answer, or if
    the item to withdraw is in the review queue.
    """
    text = resolution.strip()
    if not text or len(text) > MAX_RESOLUTION or "\0" in text:
        raise BadInput(
            _("Describe the action in up to %s characters.") % f"{MAX_RESOLUTION:,}",
            field="resolution",
        )
    changed = Flag.objects.filter(pk=flag.pk, resolved_at=None).update(
        resolved_at=timezone.now(), resolved_by=by, resolution=text
    )
    if not changed:
        raise NotAllowedNow(_("This flag already has an answer."))
    if withdraws:
        if flag.item.campaign.is_live:
            raise NotAllowedNow(
                _("Items in the review queue can't be withdrawn. Approve or reject them.")
            )
        withdraw(flag.item, why=text, by=by)
    record(flag.item, "flag answered", by=by, flag=(flag.reason[:200], text[:500]))
