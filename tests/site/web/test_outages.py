"""Tests that database outages and full disks are reported to users and programs, with what to do."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection
from django.db.utils import DataError
from django.test import Client

from scriptsmith_site.people.sign_in.tokens import make_token
from scriptsmith_site.web.outages import DATABASE_AWAY, DISK_FULL, outage_of


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def test_outages_are_told_from_defects() -> None:
    table: list[tuple[Exception | None, object]] = [
        (OperationalError("connection refused"), DATABASE_AWAY),
        (InterfaceError("connection already closed"), DATABASE_AWAY),
        (caused(OperationalError(), psycopg.errors.AdminShutdown()), DATABASE_AWAY),
        (caused(OperationalError(), psycopg.errors.TooManyConnections()), DATABASE_AWAY),
        (caused(OperationalError(), psycopg.errors.DiskFull()), DISK_FULL),
        (OSError(errno.ENOSPC, "No space left"), DISK_FULL),
        (caused(ValueError(), OSError(errno.ENOSPC, "No space left")), DISK_FULL),
        (caused(OperationalError(), psycopg.errors.DeadlockDetected()), None),
        (DataError("too long"), None),
        (OSError(errno.EACCES, "not permitted"), None),
        (None, None),
    ]
    assert [error for error, expected in table if outage_of(error) is not expected] == []


STATES = {
    psycopg.errors.ConnectionFailure: ("The database is unavailable", "database_unavailable"),
    psycopg.errors.DiskFull: ("The disk is full", "disk_full"),
}


@pytest.fixture
def person(client: Client, reviewer: User) -> Client:
    client.force_login(reviewer)
    client.raise_request_exception = False
    return client


@contextmanager
def broken_database(state: type[psycopg.Error]) -> Iterator[None]:
    """Make every database query fail, as in an outage."""

    def fail(*_given: object, **_named: object) -> None:
        raise OperationalError("details for nobody") from state("details for nobody")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "cursor", fail)
        patch.setattr(connection, "chunked_cursor", fail)
        patch.setattr("core.database.prepared.execute", fail)
        yield


def test_browser_gets_a_page_about_the_outage(person: Client, subtests: pytest.Subtests) -> None:
    for (state, (title, _code)), address in product(
        STATES.items(), ("/", "/actions/", "/nowhere/")
    ):
        with subtests.test(title, address=address):
            with broken_database(state):
                answer = person.get(address)
            assert answer.status_code == 503
            page = answer.content.decode()
            assert f"<h1>{title}</h1>" in page and "Administrators:" in page
            assert "details for nobody" not in page
            assert answer["Retry-After"] == "30"
            assert "default-src 'none'" in answer["Content-Security-Policy"]
    with broken_database(psycopg.errors.DiskFull):
        sent = person.post("/actions/new/", {"statement": "Show the uptime"})
        part = person.get("/actions/", headers={"HX-Request": "true"})
    assert sent.status_code == part.status_code == 503
    assert "The disk is full" in sent.text
    assert "<html" not in part.text and "The disk is full" in part.text


def test_program_gets_the_outage_as_json(client: Client, reviewer: User) -> None:
    client.raise_request_exception = False
    made = make_token(reviewer, name="ci", scopes=["read"], days=None, by=reviewer)
    headers = {"Authorization": f"Bearer {made.secret}"}
    for state, (_title, code) in STATES.items():
        with broken_database(state):
            answer = client.get("/api/v1/actions/", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, code)
        assert answer.json()["error"]["message"] and "nobody" not in answer.content.decode()


_ASK = """
import django; django.setup()
from django.test import Client
client = Client(raise_request_exception=False)
client.cookies["sessionid"] = "x" * 32
page, program = client.get("/actions/"), client.get("/api/v1/actions/", headers={"Authorization": "Bearer x"})
print(page.status_code, "The database is unavailable" in page.text, program.status_code, program.json())
"""


@pytest.mark.slow
def test_a_database_that_is_really_away() -> None:
    """A process whose database was never started shows the real errors, which patches cannot show."""
    environment = {
        **os.environ,
        "DATABASE_URL": "postgresql://nobody@/none?host=/nowhere",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", _ASK],
        env=environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    last = done.stdout.splitlines()[-1]
    assert last.startswith("503 True 503 {'error': {'code': 'database_unavailable'")
