"""Where the files of transfers lie: what was uploaded until it is imported, exports until they expire."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.utils import timezone

from review.models import Transfer


def path_of(transfer: Transfer) -> Path:
    """Where its file lies."""
    return _folder() / transfer.path


def path_named(name: str) -> Path:
    """Where the file of this name lies, or would."""
    return _folder() / Path(name).name


def keep_upload(file: File[bytes]) -> Path:
    """Put what was uploaded into a file of its own; nothing is left of it where that fails."""
    path = new_path()
    try:
        with path.open("wb") as target:
            for part in file.chunks():
                target.write(part)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def forget_unused(*, before: datetime) -> int:
    """Delete files from before then that belong to no transfer: looked at, and never imported. How many there were."""
    old = {one.name: one for one in _folder().iterdir() if _changed_at(one) < before}
    used = Transfer.objects.filter(path__in=old).values_list("path", flat=True)
    unused = old.keys() - set(used)
    for name in unused:
        old[name].unlink(missing_ok=True)
    return len(unused)


def _changed_at(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
    except FileNotFoundError:  # somebody else was faster
        return timezone.now()


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
