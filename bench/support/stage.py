"""A stage for measurements: PostgreSQL and Redis of their own, migrated, gone afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.core.management import call_command

from tests.servers import start_test_servers


@contextmanager
def prepared() -> Iterator[None]:
    """Django on fresh servers for as long as the block runs; no credential of anybody's is in reach."""
    forget_credentials()
    servers = start_test_servers()
    os.environ["DATABASE_URL"] = servers.database_url
    os.environ["REDIS_URL"] = servers.redis_url
    os.environ["SCRIPTSMITH_DATA"] = servers.data
    os.environ["SCRIPTSMITH_EMBEDDER"] = "hashing"
    os.environ["DJANGO_SETTINGS_MODULE"] = "scriptsmith_site.settings"
    try:
        django.setup()
        call_command("migrate", verbosity=0)
        yield
    finally:
        servers.stop()


def forget_credentials() -> None:
    """No credential of anybody's is in reach of what is measured."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "OPENAI_", "CLAUDE_")):
            del os.environ[name]
