"""Leases of assignments. The review page renews the lease while it is open. The newest tab holds the lease."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from core.database.clock import database_now
from core.database.prepared import fetch
from core.errors import NotAllowedNow
from review.counting.completion import note_changed
from review.models import Assignment, Item


def lease_end() -> datetime:
    """Return the end of a lease that starts or is renewed now."""
    return database_now() + timedelta(minutes=settings.SCRIPTSMITH_REVIEW_LEASE_MINUTES)


@transaction.atomic
def keep_alive(assignment: Assignment, *, fence: int) -> None:
    """Renew the lease while the page is open. Raises NotAllowedNow if the lease has ended or moved to another tab."""
    changed = Assignment.objects.filter(
        pk=assignment.pk, state=Assignment.State.ACTIVE, fence=fence
    ).update(lease_until=lease_end())
    if not changed:
        raise NotAllowedNow(_told(assignment))


@transaction.atomic
def open_in_tab(assignment: Assignment) -> int:
    """Make this tab the active tab and return its fence. Older tabs send a lower fence.

    Raises NotAllowedNow if the reviewer no longer holds the lease.
    """
    changed = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.ACTIVE).update(
        fence=F("fence") + 1, lease_until=lease_end()
    )
    if not changed:
        raise NotAllowedNow(_("This item is no longer assigned to you."))
    assignment.refresh_from_db(fields=["fence", "lease_until"])
    return assignment.fence


def check_fence(assignment: Assignment, fence: int | None) -> None:
    """Raise NotAllowedNow if another tab has taken over. `fence` is None for clients without tabs."""
    if fence is not None and fence != assignment.fence:
        raise NotAllowedNow(_told(assignment))


def _told(assignment: Assignment) -> str:
    if assignment.state == Assignment.State.ACTIVE:
        return _("This item is open in another tab. Your text is saved.")
    return _("This item is no longer assigned to you. Your text is saved.")


def lock_item_row(item: int) -> None:
    """Lock an item's row until the transaction ends, so that no other transaction can claim, score or release it."""
    fetch("SELECT 1 FROM review_item WHERE id = %s FOR UPDATE", [item])


def expire_leases() -> int:
    """Release the items of inactive reviewers and return their number. Autosaved text is preserved."""
    expired = 0
    overdue = Assignment.objects.filter(
        state=Assignment.State.ACTIVE, lease_until__lt=database_now()
    ).values_list("pk", "item_id", "item__campaign_id")[:500]
    for pk, item_id, campaign in overdue:
        with transaction.atomic():
            # Lock the item before the assignment, as scoring does. The reverse order could cause a deadlock.
            lock_item_row(item_id)
            changed = Assignment.objects.filter(
                pk=pk, state=Assignment.State.ACTIVE, lease_until__lt=database_now()
            ).update(state=Assignment.State.EXPIRED, ended_at=database_now(), lease_until=None)
            if changed:
                Item.objects.filter(pk=item_id).update(places=F("places") + 1)
                note_changed(item_id, campaign)
                expired += 1
    return expired
