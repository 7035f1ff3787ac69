"""Remove credentials from the environment and start one set of servers for all workers, before pytest-django reads the
settings."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests import budget

# Thousands of tests and all modules hold references to half a million objects. Garbage collection would take a third of
# pytest's collection time.
gc.disable()

for _name in list(os.environ):
    if _name.startswith(("ANTHROPIC_", "OPENAI_", "CLAUDE_", "OTEL_")):
        del os.environ[_name]

# The workers already use all cores. Threads that spin while idle would slow down the tests.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# A test run starts about fifty processes and rewrites the assertions of hundreds of modules. Without cached bytecode,
# each process would compile the modules again, which takes a fifth of the run time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Setting this in pyproject.toml is not enough, because importing the product sets the product's own settings module.
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
_stop = []

if "SCRIPTSMITH_TEST_SERVERS" not in os.environ:
    from tests.servers import start_test_servers

    _servers = start_test_servers()
    os.environ["SCRIPTSMITH_DATA"] = _servers.data
    os.environ["DATABASE_URL"] = _servers.database_url
    os.environ["REDIS_URL"] = _servers.redis_url
    os.environ["SCRIPTSMITH_TEST_SERVERS"] = "started"
    # Run the migrations once, while pytest collects the tests. Each worker's database is a copy of the result.
    _template = subprocess.Popen([sys.executable, "-m", "tests.template"])
    _stop = [_template.wait, _servers.stop]


# Each test in these folders starts a product or a browser, so all of them are slow or nightly.
SLOW_FOLDERS = tuple(Path(__file__).parent / name for name in ("browser", "flow", "fuzz"))
FAST = "not slow and not nightly"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the slow folders in `make test`, because importing Playwright alone takes a second in each worker."""
    if config.getoption("markexpr") == FAST and collection_path in SLOW_FOLDERS:
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(folder in item.path.parents for folder in SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude all existing objects from garbage collection, then turn it on."""
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
    """A scheduler that sends single tests to idle workers but keeps modules with shared servers or rows together."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.split("::")[0]
        return module if module.startswith(SHARE) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ModulesWithServers:
    return ModulesWithServers(config, log)
