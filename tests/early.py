"""Loaded with `-p` before anything else: no credentials, and one set of real servers for the whole suite.

pytest-django reads the settings before any conftest is imported, so this is the first moment there is.
Workers of xdist inherit the addresses from the process that controls them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from xdist.scheduler import LoadScopeScheduling

for _name in list(os.environ):
    if _name.startswith(("ANTHROPIC_", "OPENAI_", "CLAUDE_")):
        del os.environ[_name]

# Set here and not in pyproject alone: importing the product names its own settings otherwise.
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
_stop = []

if "SCRIPTSMITH_TEST_SERVERS" not in os.environ:
    from tests.servers import start_test_servers

    _servers = start_test_servers()
    os.environ["SCRIPTSMITH_DATA"] = _servers.data
    os.environ["DATABASE_URL"] = _servers.database_url
    os.environ["REDIS_URL"] = _servers.redis_url
    os.environ["SCRIPTSMITH_TEST_SERVERS"] = "started"
    # Migrated once, beside the collection; each worker's database begins as a copy.
    _template = subprocess.Popen([sys.executable, "-m", "tests.template"])
    _stop = [_template.wait, _servers.stop]


def pytest_unconfigure(config: pytest.Config) -> None:
    while _stop:
        _stop.pop(0)()


class ModulesWithServers(LoadScopeScheduling):
    """Every test by itself on whichever worker is free, but modules whose tests share servers as a whole.

    xdist's own groups name a test by an attribute that this pytest no longer has.
    """

    def _split_scope(self, nodeid: str) -> str:
        shares = nodeid.startswith(("tests/browser/", "tests/flow/", "tests/site/embedded/"))
        return nodeid.split("::")[0] if shares else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ModulesWithServers:
    return ModulesWithServers(config, log)
