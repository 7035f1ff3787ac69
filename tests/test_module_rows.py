"""Tests for timeouts in modules that use `module_rows`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[1]
HANGING = {"test_hangs_in_python", "test_hangs_in_a_statement"}
MODULE = """
import time

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction


@pytest.fixture(scope="module")
def _rose(module_rows, django_db_blocker):
    with django_db_blocker.unblock():
        User.objects.create_user("rose")


@pytest.fixture(autouse=True)
def _rows(_rose, db):
    pass


def test_before():
    assert User.objects.get().username == "rose"


@pytest.mark.timeout(1)
def test_hangs_in_python():
    time.sleep(60)


def test_after_python():
    assert User.objects.get().username == "rose"


@pytest.mark.timeout(1)
def test_hangs_in_a_statement():
    with transaction.atomic(), connection.cursor() as cursor:
        User.objects.create_user("sam")
        cursor.execute("SELECT pg_sleep(60)")


def test_after_a_statement():
    assert User.objects.get().username == "rose"
"""


@pytest.mark.slow
def test_timeout_with_module_rows_fails_only_the_test_that_hangs(tmp_path: Path) -> None:
    """Run another pytest process, because the timeout must interrupt a real SQL statement."""
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    module = tmp_path / "test_generated.py"
    module.write_text(MODULE)
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/hanging_{os.getpid()}").geturl()
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--tb=no"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", module],
        env=os.environ | {"DATABASE_URL": url},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    bad = [one for one in done.stdout.splitlines() if one.startswith(("FAILED", "ERROR"))]
    said = done.stdout + done.stderr
    assert {one.split()[1].split("::")[1] for one in bad} == HANGING, said
    assert " 3 passed" in done.stdout, said
