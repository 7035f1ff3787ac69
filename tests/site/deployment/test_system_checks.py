"""A wrong setting is an error with advice, before anybody meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.management import call_command
from pytest_django import Settings

from scriptsmith_site.checks import is_loopback
from scriptsmith_site.demo import make_accounts
from scriptsmith_site.operation.installation import accept_key

ROOT = Path(__file__).resolve().parents[3]
PROVIDER = {
    "SCRIPTSMITH_OIDC_ISSUER": "https://id.example.org",
    "SCRIPTSMITH_OIDC_CLIENT_ID": "scriptsmith",
    "SCRIPTSMITH_OIDC_CLIENT_SECRET": "a secret",
    "SCRIPTSMITH_OIDC_ENTRY_GROUPS": ["*"],
}


def ids_with(settings: Settings, databases: list[str] | None = None, **changes: object) -> set[str]:
    for name, value in changes.items():
        setattr(settings, name, value)
    return {
        message.id
        for message in run_checks(databases=databases)
        if message.id and message.id.startswith("scriptsmith")
    }


def test_the_defaults_are_right(settings: Settings) -> None:
    assert ids_with(settings) == set()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"PRODUCTION": True}, {"scriptsmith.E001"}, id="demo in production"),
        pytest.param({"BIND": "0.0.0.0"}, {"scriptsmith.E001"}, id="demo on every address"),
        pytest.param({"BIND": "0.0.0.0", "SCRIPTSMITH_DEMO": False}, set(), id="no demo"),
        pytest.param({"SECRET_KEY": "short"}, {"scriptsmith.E004"}, id="short key"),
        pytest.param(
            {"SCRIPTSMITH_EMBEDDER": "no.such.module:Class"},
            {"scriptsmith.E005"},
            id="no such embedder",
        ),
        pytest.param(
            {"SCRIPTSMITH_EMBEDDER": "catalog.embedding.hashing.HashingEmbedder"},
            {"scriptsmith.E005"},
            id="embedder without a colon",
        ),
        pytest.param(
            {"SCRIPTSMITH_EMBEDDER": "catalog.embedding.hashing:HashingEmbedder"},
            set(),
            id="an embedder",
        ),
        pytest.param(
            {"SCRIPTSMITH_ENDPOINTS": ["cluade"]}, {"scriptsmith.W001"}, id="mistyped endpoint"
        ),
        pytest.param({"SCRIPTSMITH_ENDPOINTS": ["demo", "claude"]}, set(), id="endpoints"),
        pytest.param(
            {"DEBUG": True, "BIND": "::", "SCRIPTSMITH_DEMO": False},
            {"scriptsmith.E003"},
            id="tracebacks for everybody",
        ),
        pytest.param({"DEBUG": True}, set(), id="tracebacks at home"),
        pytest.param(
            {"SCRIPTSMITH_OIDC_ISSUER": "https://id.example.org"},
            {"scriptsmith.E007"},
            id="a provider and nobody who may enter",
        ),
        pytest.param(
            {**PROVIDER, "SCRIPTSMITH_OIDC_ISSUER": "http://id.example.org"},
            {"scriptsmith.E007"},
            id="a provider in the clear",
        ),
        pytest.param(PROVIDER, set(), id="a provider"),
    ],
)
def test_a_wrong_setting_is_found(
    settings: Settings, changes: dict[str, object], expected: set[str]
) -> None:
    assert ids_with(settings, **changes) == expected


@pytest.mark.slow
@pytest.mark.django_db
def test_demo_accounts_of_an_earlier_start_are_found(settings: Settings) -> None:
    make_accounts()
    assert ids_with(settings, databases=["default"]) == set()
    reachable = {"SCRIPTSMITH_DEMO": False, "PRODUCTION": True, "SECRET_KEY": settings.SECRET_KEY}
    assert ids_with(settings, databases=["default"], **reachable) == {"scriptsmith.E002"}
    User.objects.filter(demo_password__isnull=False).update(is_active=False)
    assert ids_with(settings, databases=["default"], **reachable) == set()


@pytest.mark.slow
@pytest.mark.django_db
def test_another_secret_key_is_found_and_taken_where_that_is_said(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    accept_key()
    assert ids_with(settings, databases=["default"]) == set()
    other = "another-key-of-fifty-characters-0123456789-0123456789"
    found = ids_with(settings, databases=["default"], SECRET_KEY=other)
    assert found == {"scriptsmith.E006"}
    call_command("accept_secret_key")
    assert "is the database's now" in capsys.readouterr().out
    assert ids_with(settings, databases=["default"], SECRET_KEY=other) == set()


@pytest.mark.slow
@pytest.mark.django_db
def test_links_that_would_lead_nowhere_are_told_of(settings: Settings) -> None:
    given = {"SCRIPTSMITH_DEMO": False, "BIND": "0.0.0.0"}
    assert ids_with(settings, databases=["default"], **given) == set()
    given["EMAIL_HOST"] = "mail.example.org"
    assert ids_with(settings, databases=["default"], **given) == {"scriptsmith.W003"}
    given["SCRIPTSMITH_URL"] = "https://scripts.example.org"
    assert ids_with(settings, databases=["default"], **given) == set()


def test_without_shellcheck_there_is_a_warning(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scriptsmith_site.checks.find_shellcheck", lambda: None)
    assert ids_with(settings) == {"scriptsmith.W002"}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param("127.0.0.1", True, id="IPv4"),
        pytest.param("127.8.8.8", True, id="all of 127"),
        pytest.param("::1", True, id="IPv6"),
        pytest.param("[::1]", True, id="IPv6 in brackets"),
        pytest.param("localhost", True, id="by name"),
        pytest.param("unix:/run/scriptsmith.sock", True, id="socket"),
        pytest.param("0.0.0.0", False, id="every address"),
        pytest.param("::", False, id="every IPv6 address"),
        pytest.param("10.0.0.1", False, id="another network"),
        pytest.param("example.org", False, id="a name"),
    ],
)
def test_loopback_is_known(address: str, expected: bool) -> None:
    assert is_loopback(address) is expected


@pytest.mark.slow
def test_production_settings_pass_the_deployment_checks(tmp_path: Path) -> None:
    environment = {
        **{
            name: value for name, value in os.environ.items() if not name.startswith("SCRIPTSMITH_")
        },
        "DJANGO_SETTINGS_MODULE": "scriptsmith_site.settings",
        "SCRIPTSMITH_DATA": str(tmp_path),
        "SCRIPTSMITH_PRODUCTION": "True",
        "SCRIPTSMITH_DEMO": "False",
        "SCRIPTSMITH_HOSTS": "scripts.example.org",
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
