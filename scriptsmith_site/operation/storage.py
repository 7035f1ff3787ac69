"""Where the product keeps things: how much room there is, and when it was last backed up."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from scriptsmith_site.embedded.servers.holders import is_set
from scriptsmith_site.models import BackupEvent

# Less than this is too little: PostgreSQL stops at a full disk, and needs room for its log before.
LEAST_FREE = 1024**3
FULL = 1024**2  # less than this is as good as nothing


@dataclass(frozen=True)
class Room:
    """A folder, and how much room its disk has, in bytes."""

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
    """The newest of each kind; None where there was none."""

    backup: BackupEvent | None
    drill: BackupEvent | None
    restore: BackupEvent | None


def rooms() -> list[Room]:
    """Our data folder, and PostgreSQL's where it is ours and elsewhere. Another server's disk can't be seen."""
    layout = settings.LAYOUT
    folders = [layout.data] if is_set("DATABASE_URL") else [layout.data, layout.postgres_home]
    found = []
    for folder in dict.fromkeys(folders):
        if folder.is_dir():
            usage = shutil.disk_usage(folder)
            found.append(Room(folder, usage.free, usage.total))
    return found


def last_events() -> LastEvents:
    """By one query for each kind, which an index answers."""
    kinds = BackupEvent.Kind
    newest = {kind: BackupEvent.objects.filter(kind=kind).first() for kind in kinds}
    return LastEvents(newest[kinds.BACKUP], newest[kinds.DRILL], newest[kinds.RESTORE])
