"""The files of transfers: uploads until they are imported, and exports until they expire."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from core.kept_files import KeptFiles
from review.models import Transfer

kept_files = KeptFiles("transfers")


def forget_unused(*, before: datetime) -> int:
    """Delete files that are older than `before` and have no transfer, and return the number of deleted files.

    Uploads that were only previewed have no transfer.
    """
    old = kept_files.names_before(before)
    used = Transfer.objects.filter(path__in=old).values_list("path", flat=True)
    unused = set(old) - set(used)
    for name in unused:
        kept_files.delete(name)
    return len(unused)


def can_be_downloaded(transfer: Transfer) -> bool:
    """Return whether the transfer is a finished export that has not expired."""
    is_done = (transfer.kind, transfer.state) == (Transfer.Kind.EXPORT, Transfer.State.DONE)
    is_kept = transfer.expires_at is not None and transfer.expires_at > timezone.now()
    return is_done and is_kept and kept_files.has(transfer.path)
