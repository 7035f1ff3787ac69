"""Prepare the database and the static files in one process, before the other programs start.

The process prints only messages for users, such as the demo accounts.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from core.metrics import empty_folder
from pipeline.clients.local_models import LOCAL
from scriptsmith_site.embedded.commands import migrate


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scriptsmith_site.settings")
    try:
        django.setup()
        call_command("check", stdout=sys.stderr)
        empty_folder()
        migrate()
        # Run the checks that need the database, such as those for its secret key and for demo accounts.
        call_command("check", tags=["database"], databases=["default"], stdout=sys.stderr)
        collect_static_files(Path(settings.STATIC_ROOT))
        if LOCAL in settings.SCRIPTSMITH_ENDPOINTS:
            call_command("offer_local_models")
        if settings.SCRIPTSMITH_DEMO:
            call_command("load_demo")
    except (CommandError, DatabaseError, ImproperlyConfigured, OSError) as error:
        sys.exit(" ".join(str(error).split()))


def collect_static_files(root: Path) -> None:
    """Collect the static files if any file name, size or modification time has changed since the last collection."""
    stamp = root / ".collected"
    now = _fingerprint()
    if not stamp.exists() or stamp.read_text() != now:
        root.mkdir(parents=True, exist_ok=True)
        call_command("collectstatic", interactive=False, verbosity=0, clear=True)
        stamp.write_text(now)


def _fingerprint() -> str:
    found = hashlib.sha256(f"{django.VERSION} {settings.STORAGES}".encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = os.stat(storage.path(name))
            found.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return found.hexdigest()


if __name__ == "__main__":
    main()
