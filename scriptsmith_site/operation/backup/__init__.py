"""Backup and restore: database, secret key and stored files in one file with checksums.

`archive` defines the file, `encryption` encrypts it, `database` runs PostgreSQL's tools, and `services` implements the
commands.
"""

from __future__ import annotations

from scriptsmith_site.operation.backup.archive import FORMAT as FORMAT
from scriptsmith_site.operation.backup.archive import CannotBackUp as CannotBackUp
from scriptsmith_site.operation.backup.archive import Manifest as Manifest
from scriptsmith_site.operation.backup.database import (
    connection_environment as connection_environment,
)
from scriptsmith_site.operation.backup.encryption import Lock as Lock
from scriptsmith_site.operation.backup.encryption import Unlock as Unlock
from scriptsmith_site.operation.backup.services import drill_backup as drill_backup
from scriptsmith_site.operation.backup.services import files_elsewhere as files_elsewhere
from scriptsmith_site.operation.backup.services import known_migrations as known_migrations
from scriptsmith_site.operation.backup.services import make_backup as make_backup
from scriptsmith_site.operation.backup.services import refuse_half_migrated as refuse_half_migrated
from scriptsmith_site.operation.backup.services import refuse_newer as refuse_newer
from scriptsmith_site.operation.backup.services import restore_backup as restore_backup
