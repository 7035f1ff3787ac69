"""Load with `-p`, before pytest-django reads the settings: no credentials, and one set of servers for all workers."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests import budget

# Six thousand tests and all modules are half a million objects that stay: looking through them again and again
# for what could be freed takes a third of the collection's time.
gc.disable()

for _name in list(os.environ):
    if _name.startswith(("ANTHROPIC_", "OPENAI_", "CLAUDE_", "OTEL_")):
        del os.environ[_name]

# The workers share the cores already: threads that wait for one another by spinning would take them from the tests.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# A suite starts some fifty processes and rewrites the assertions of four hundred modules: where compiled modules are
# not kept, each of them compiles everything again, which takes as long as a fifth of the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

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


# Each test in these folders starts a product, a browser or a storm, so it is at least slow.
SLOW_FOLDERS = tuple(Path(__file__).parent / name for name in ("browser", "flow", "fuzz"))
FAST = "not slow and not nightly"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the slow folders in `make test`: importing Playwright alone takes a second in each worker."""
    if config.getoption("markexpr") == FAST and collection_path in SLOW_FOLDERS:
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(folder in item.path.parents for folder in SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is there now stays; from here on garbage is collected, without looking at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _stop:
        return
    while _stop:
        _stop.pop(0)()
    if config.getoption("markexpr") in budget.TIERS:
        budget.print_core_seconds()


SHARE = (
    "tests/browser/",
    "tests/flow/",
    "tests/site/embedded/",
    "tests/permissions/",
    "tests/review/report/test_report_pages.py",
)


class ModulesWithServers(LoadScopeScheduling):
    """Send each test to a free worker, and modules whose tests share servers or rows as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.split("::")[0]
        return module if module.startswith(SHARE) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ModulesWithServers:
    return ModulesWithServers(config, log)
