"""Temporary servers for benchmarks: PostgreSQL with the test suite's migrated database, and Redis."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import django

from tests.servers import start_test_servers
from tests.template import NAME as TEMPLATE


@contextmanager
def prepared() -> Iterator[None]:
    """Run the block with Django on fresh servers and without any credentials in the environment."""
    forget_credentials()
    servers = start_test_servers()
    os.environ["DATABASE_URL"] = servers.database_url
    os.environ["REDIS_URL"] = servers.redis_url
    os.environ["SCRIPTSMITH_DATA"] = servers.data
    os.environ["SCRIPTSMITH_EMBEDDER"] = "hashing"
    os.environ["DJANGO_SETTINGS_MODULE"] = "scriptsmith_site.settings"
    try:
        # Restore the saved result of the migrations, as the test suite does.
        subprocess.run([sys.executable, "-m", "tests.template"], check=True)
        url = urlsplit(servers.database_url)._replace(path=f"/{TEMPLATE}")
        os.environ["DATABASE_URL"] = url.geturl()
        django.setup()
        yield
    finally:
        servers.stop()


def forget_credentials() -> None:
    """Remove credentials of model providers from the environment."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "OPENAI_", "CLAUDE_")):
            del os.environ[name]
