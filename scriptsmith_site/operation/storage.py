"""The storage of the product: free space and the latest backups."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from scriptsmith_site.embedded.servers.holders import is_set
from scriptsmith_site.models import BackupEvent

# Less free space than this is too little, because PostgreSQL needs space for its log and stops on a full disk.
LEAST_FREE = 1024**3
FULL = 1024**2  # less than this counts as full


@dataclass(frozen=True)
class Room:
    """A folder and the free and total space of its disk, in bytes."""

    folder: Path
    free: int
    total: int

    @property
    def is_little(self) -> bool:
        return self.free < LEAST_FREE

    @property
    def is_full(self) -> bool:
        return self.free < FULL


@dataclass(frozen=True)
class LastEvents:
    """The newest event of each kind, or None."""

    backup: BackupEvent | None
    drill: BackupEvent | None
    restore: BackupEvent | None


def rooms() -> list[Room]:
    """Return the data folder, and PostgreSQL's folder if the server is embedded and uses a different folder."""
    layout = settings.LAYOUT
    folders = [layout.data] if is_set("DATABASE_URL") else [layout.data, layout.postgres_home]
    found = []
    for folder in dict.fromkeys(folders):
        if folder.is_dir():
            usage = shutil.disk_usage(folder)
            found.append(Room(folder, usage.free, usage.total))
    return found


def last_events() -> LastEvents:
    """Return the newest events with one indexed query per kind."""
    kinds = BackupEvent.Kind
    newest = {kind: BackupEvent.objects.filter(kind=kind).first() for kind in kinds}
    return LastEvents(newest[kinds.BACKUP], newest[kinds.DRILL], newest[kinds.RESTORE])
