"""Who works on a Transfer: claimed, kept alive with each word on how far it is, ended; every write is fenced."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from pipeline.scheduling.run_leases import OWNER
from review.models import Transfer

LEASE = timedelta(seconds=60)


class LostLease(Exception):
    """Another worker holds it now; what was being written is not."""


class Cancelled(Exception):
    """Somebody asked to stop it."""


@dataclass(frozen=True)
class Held:
    """A claim on a Transfer; it counts while its fence is still this one."""

    pk: int
    fence: int

    def note(self, **progress: object) -> None:
        """Write down how far it is and renew the lease. Raises LostLease, and Cancelled where that was asked."""
        lease = timezone.now() + LEASE
        if not self._mine().update(lease_until=lease, **progress):
            raise LostLease
        if self._mine().filter(cancel_asked_at__isnull=False).exists():
            raise Cancelled

    def end(self, state: str, **outcome: object) -> None:
        """Give it up for good. Nothing where it is somebody else's."""
        self._mine().update(
            state=state, ended_at=timezone.now(), owner="", lease_until=None, **outcome
        )

    def _mine(self) -> QuerySet[Transfer]:
        return Transfer.objects.filter(
            pk=self.pk, fence=self.fence, owner=OWNER, state=Transfer.State.RUNNING
        )


@transaction.atomic
def claim(pk: int) -> Held | None:
    """Take the transfer, or None where another worker holds it or nothing is left to do."""
    now = timezone.now()
    transfer = (
        Transfer.objects.select_for_update(skip_locked=True)
        .filter(Q(lease_until=None) | Q(lease_until__lt=now), pk=pk)
        .filter(state__in=[Transfer.State.WAITING, Transfer.State.RUNNING])
        .first()
    )
    if transfer is None:
        return None
    Transfer.objects.filter(pk=pk).update(
        state=Transfer.State.RUNNING,
        owner=OWNER,
        fence=F("fence") + 1,
        lease_until=now + LEASE,
        started_at=transfer.started_at or now,
    )
    return Held(pk, transfer.fence + 1)
