"""A migrated database to copy: migrating takes ten seconds, a copy a tenth of one.

`python -m tests.template` makes it beside whatever else is done, and leaves a file when it is ready.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from urllib.parse import urlsplit

import django
import psycopg
from django.core.management import call_command

NAME = "scriptsmith_template"
_PATIENCE = 120.0  # seconds


def ready_file() -> Path:
    return Path(os.environ["SCRIPTSMITH_DATA"]) / "template-is-ready"


def wait_for_template() -> None:
    """Until there is a database to copy; raises TimeoutError where it does not come."""
    deadline = time.monotonic() + _PATIENCE
    while not ready_file().exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the database for the tests was not made")
        time.sleep(0.05)


def main() -> None:
    url = urlsplit(os.environ["DATABASE_URL"])
    with psycopg.connect(url.geturl(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {NAME}")  # type: ignore[arg-type]
    os.environ["DATABASE_URL"] = url._replace(path=f"/{NAME}").geturl()
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    call_command("migrate", verbosity=0)
    django.db.connections.close_all()
    ready_file().touch()


if __name__ == "__main__":
    main()
