"""A database that is away and a disk that is full: said as such, to people and to programs, with what to do."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(OperationalError("connection refused"), DATABASE_AWAY, id="no connection"),
        pytest.param(InterfaceError("connection already closed"), DATABASE_AWAY, id="closed"),
        pytest.param(
            caused(OperationalError(), psycopg.errors.AdminShutdown()), DATABASE_AWAY, id="stopped"
        ),
        pytest.param(
            caused(OperationalError(), psycopg.errors.TooManyConnections()),
            DATABASE_AWAY,
            id="full",
        ),
        pytest.param(
            caused(OperationalError(), psycopg.errors.DiskFull()),
            DISK_FULL,
            id="disk of the database",
        ),
        pytest.param(OSError(errno.ENOSPC, "No space left"), DISK_FULL, id="disk of files"),
        pytest.param(
            caused(ValueError(), OSError(errno.ENOSPC, "No space left")), DISK_FULL, id="as a cause"
        ),
        pytest.param(
            caused(OperationalError(), psycopg.errors.DeadlockDetected()),
            None,
            id="a deadlock of ours",
        ),
        pytest.param(DataError("too long"), None, id="a defect"),
        pytest.param(OSError(errno.EACCES, "not permitted"), None, id="another trouble with files"),
        pytest.param(None, None, id="nothing"),
    ],
)
def test_what_is_an_outage(error: Exception | None, expected: object) -> None:
    assert outage_of(error) is expected


@pytest.fixture
def person(client: Client, reviewer: User) -> Client:
    client.force_login(reviewer)
    client.raise_request_exception = False
    return client


@contextmanager
def broken_database(state: type[psycopg.Error]) -> Iterator[None]:
    """Every statement fails meanwhile, as it does then."""

    def fail(*_given: object, **_named: object) -> None:
        raise OperationalError("details for nobody") from state("details for nobody")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "cursor", fail)
        patch.setattr(connection, "chunked_cursor", fail)
        patch.setattr("core.database.prepared.execute", fail)
        yield


@pytest.mark.parametrize(
    ("state", "title"),
    [
        pytest.param(psycopg.errors.ConnectionFailure, "The database does not answer", id="away"),
        pytest.param(psycopg.errors.DiskFull, "The disk is full", id="disk"),
    ],
)
@pytest.mark.parametrize("address", ["/", "/actions/", "/login/?next=/", "/nowhere/"])
def test_people_get_a_page_that_says_so(
    person: Client,
    state: type[psycopg.Error],
    title: str,
    address: str,
) -> None:
    with broken_database(state):
        answer = person.get(address)
    if address.startswith("/login/") and answer.status_code == 200:
        return  # it asks the database nothing
    assert answer.status_code == 503
    page = answer.content.decode()
    assert f"<h1>{title}</h1>" in page and "Administrators:" in page
    assert "details for nobody" not in page
    assert answer["Retry-After"] == "30"
    assert "default-src 'none'" in answer["Content-Security-Policy"]


def test_a_form_and_htmx_are_told_as_well(person: Client) -> None:
    with broken_database(psycopg.errors.DiskFull):
        sent = person.post("/actions/new/", {"statement": "Show the uptime"})
        part = person.get("/actions/", headers={"HX-Request": "true"})
    assert sent.status_code == 503 and "The disk is full" in sent.content.decode()
    assert part.status_code == 503
    assert "<html" not in part.content.decode() and "The disk is full" in part.content.decode()


@pytest.mark.parametrize(
    ("state", "code"),
    [
        pytest.param(psycopg.errors.ConnectionFailure, "database_unavailable", id="away"),
        pytest.param(psycopg.errors.DiskFull, "disk_full", id="disk"),
    ],
)
def test_programs_are_told_in_their_shape(
    client: Client,
    reviewer: User,
    state: type[psycopg.Error],
    code: str,
) -> None:
    client.raise_request_exception = False
    made = make_token(reviewer, name="ci", scopes=["read"], days=None, by=reviewer)
    with broken_database(state):
        answer = client.get("/api/v1/actions/", headers={"Authorization": f"Bearer {made.secret}"})
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == code
    assert answer.json()["error"]["message"] and "nobody" not in answer.content.decode()


_ASK = """
import django; django.setup()
from django.test import Client
client = Client(raise_request_exception=False)
client.cookies["sessionid"] = "x" * 32
page, program = client.get("/actions/"), client.get("/api/v1/actions/", headers={"Authorization": "Bearer x"})
print(page.status_code, "The database does not answer" in page.text, program.status_code, program.json())
"""


@pytest.mark.slow
def test_a_database_that_is_really_away() -> None:
    """Not by a pretended error: a process of its own, whose database nobody has started."""
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
