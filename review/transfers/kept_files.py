"""Where the files of transfers lie: what was uploaded until it is imported, exports until they expire."""

from __future__ import annotations

import secrets
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from review.models import Transfer


def path_of(transfer: Transfer) -> Path:
    """Where its file lies."""
    return _folder() / transfer.path


def can_be_downloaded(transfer: Transfer) -> bool:
    """Whether it is an export that is done and has not expired."""
    is_done = (transfer.kind, transfer.state) == (Transfer.Kind.EXPORT, Transfer.State.DONE)
    is_kept = transfer.expires_at is not None and transfer.expires_at > timezone.now()
    return is_done and is_kept and bool(transfer.path) and path_of(transfer).is_file()


def _folder() -> Path:
    folder = Path(settings.MEDIA_ROOT) / "transfers"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def new_path() -> Path:
    """A name for a file that nobody can guess."""
    return _folder() / secrets.token_hex(16)
