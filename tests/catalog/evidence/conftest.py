"""An entry with sandbox tests."""

from __future__ import annotations

import json

import pytest

from catalog.execution.sandbox import Availability, Sandbox
from catalog.models import EntryCases, Version
from catalog.services import add_cases
from tests.catalog.execution.cases.writing import case_data, set_data
from tests.catalog.execution.conftest import availability, sandbox
from tests.catalog.shelf import shelve

__all__ = ["availability", "sandbox"]

NOWHERE = Availability(sandbox=None, reason="user namespaces are off.", remedy="Turn them on.")
OLD = {"path": "/srv/old.log", "age": "30d"}
YOUNG = {"path": "/srv/young.log", "age": "1d"}
REMOVES = {"check": "removed", "exactly": ["/srv/old.log"]}
RIGHT = "#!/usr/bin/env bash\nset -euo pipefail\nfind /srv -name '*.log' -mtime +7 -delete\n"
WRONG = "#!/usr/bin/env bash\nset -euo pipefail\nfind /srv -name '*.log' -delete\n"


def cases_text(*cases: dict[str, object], **changes: object) -> str:
    """Return the text of a test suite as its author would type it."""
    written = cases or (case_data(REMOVES, world={"files": [OLD, YOUNG]}),)
    return json.dumps(set_data(*written, **changes))


@pytest.fixture
def version(db: None) -> Version:
    return shelve("Delete log files of the app older than 7 days", script=RIGHT)


@pytest.fixture
def kept(version: Version) -> EntryCases:
    return add_cases(version.entry, cases_text(), by=None)


@pytest.fixture
def confined(sandbox: Sandbox) -> Sandbox:
    """Return the sandbox, or skip the test if the machine has no sandbox."""
    return sandbox
