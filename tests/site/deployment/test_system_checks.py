"""Tests that a wrong setting is reported with advice before any user notices the problem."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import override_settings
from pytest_django import Settings

from scriptsmith_site.checks import is_loopback
from scriptsmith_site.demo import make_accounts
from scriptsmith_site.models import ApiToken
from scriptsmith_site.operation.installation import accept_key, require_same_key
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.people import make_person

ROOT = Path(__file__).resolve().parents[3]
PROVIDER = {
    "SCRIPTSMITH_OIDC_ISSUER": "https://id.example.org",
    "SCRIPTSMITH_OIDC_CLIENT_ID": "scriptsmith",
    "SCRIPTSMITH_OIDC_CLIENT_SECRET": "a secret",
    "SCRIPTSMITH_OIDC_ENTRY_GROUPS": ["*"],
}


def ids_with(databases: list[str] | None = None, **changes: object) -> set[str]:
    """Return the IDs of our system checks that fail with these settings."""
    with override_settings(**changes):
        return {
            message.id
            for message in run_checks(databases=databases)
            if message.id and message.id.startswith("scriptsmith")
        }


def test_the_defaults_are_right() -> None:
    assert ids_with() == set()


def test_wrong_settings_are_found() -> None:
    embedder, issuer = "SCRIPTSMITH_EMBEDDER", "SCRIPTSMITH_OIDC_ISSUER"
    hashing = "catalog.embedding.hashing"
    everywhere = {"BIND": "0.0.0.0", "SCRIPTSMITH_DEMO": False}
    table: list[tuple[dict[str, object], set[str]]] = [
        ({"PRODUCTION": True}, {"scriptsmith.E001"}),
        ({"BIND": "0.0.0.0"}, {"scriptsmith.E001"}),
        (everywhere, set()),
        ({"SECRET_KEY": "short"}, {"scriptsmith.E004"}),
        ({embedder: "no.such.module:Class"}, {"scriptsmith.E005"}),
        ({embedder: f"{hashing}.HashingEmbedder"}, {"scriptsmith.E005"}),
        ({embedder: f"{hashing}:HashingEmbedder"}, set()),
        ({"SCRIPTSMITH_ENDPOINTS": ["cluade"]}, {"scriptsmith.W001"}),
        ({"SCRIPTSMITH_ENDPOINTS": ["demo", "claude"]}, set()),
        ({**everywhere, "BIND": "::", "DEBUG": True}, {"scriptsmith.E003"}),
        ({"DEBUG": True}, set()),
        ({issuer: "https://id.example.org"}, {"scriptsmith.E007"}),
        ({**PROVIDER, issuer: "http://id.example.org"}, {"scriptsmith.E007"}),
        (PROVIDER, set()),
    ]
    wrong = [
        (changes, got) for changes, expected in table if (got := ids_with(**changes)) != expected
    ]
    assert not wrong


@pytest.mark.django_db
def test_demo_accounts_of_an_earlier_start_are_found(settings: Settings) -> None:
    make_accounts()
    assert ids_with(databases=["default"]) == set()
    reachable = {"SCRIPTSMITH_DEMO": False, "PRODUCTION": True, "SECRET_KEY": settings.SECRET_KEY}
    assert ids_with(databases=["default"], **reachable) == {"scriptsmith.E002"}
    User.objects.filter(demo_password__isnull=False).update(is_active=False)
    assert ids_with(databases=["default"], **reachable) == set()


@pytest.mark.django_db
def test_demo_leaves_accounts_alone_that_it_did_not_create() -> None:
    """Names match case-insensitively. A second start finds the accounts of the first start."""
    theirs = [make_person(name, "reviewer") for name in ("rita", "Carlo", "mona", "demo-mona")]
    for user in theirs:
        make_token(user, name="ours", scopes=["read"], days=30, by=user)
    before = list(User.objects.order_by("pk").values()), list(ApiToken.objects.values())
    passwords = make_accounts()
    assert list(passwords) == ["demo-rita", "demo-carlo", "demo-mona-2", "ada", "sven", "cora"]
    assert make_accounts() == passwords
    ours = User.objects.exclude(pk__in=[user.pk for user in theirs])
    assert {user.username: user.check_password(passwords[user.username]) for user in ours} == (
        dict.fromkeys(passwords, True)
    )
    after = User.objects.filter(pk__in=[user.pk for user in theirs]).order_by("pk").values()
    assert (list(after), list(ApiToken.objects.values())) == before


@pytest.mark.django_db
def test_another_secret_key_is_reported_until_it_is_accepted(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    accept_key()
    assert ids_with(databases=["default"]) == set()
    other = "another-key-of-fifty-characters-0123456789-0123456789"
    settings.SECRET_KEY = other
    assert ids_with(databases=["default"]) == {"scriptsmith.E006"}
    layout = settings.LAYOUT
    place = layout.postgres_home if layout.runs_as_root else layout.postgres_data
    for url, advice in (("postgresql://db/x", "of the other machines"), ("", f"delete {place}.")):
        settings.DATABASE_URL = url
        with pytest.raises(ImproperlyConfigured, match=re.escape(advice)):
            require_same_key()
    call_command("accept_secret_key")
    assert "now uses this machine's key" in capsys.readouterr().out
    assert ids_with(databases=["default"]) == set()


@pytest.mark.django_db
def test_links_that_would_lead_nowhere_are_reported() -> None:
    given = {"SCRIPTSMITH_DEMO": False, "BIND": "0.0.0.0"}
    assert ids_with(databases=["default"], **given) == set()
    given["EMAIL_HOST"] = "mail.example.org"
    assert ids_with(databases=["default"], **given) == {"scriptsmith.W003"}
    given["SCRIPTSMITH_URL"] = "https://scripts.example.org"
    assert ids_with(databases=["default"], **given) == set()


def test_without_shellcheck_there_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scriptsmith_site.checks.find_shellcheck", lambda: None)
    assert ids_with() == {"scriptsmith.W002"}


def test_loopback_addresses_are_known() -> None:
    inside = ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "unix:/run/scriptsmith.sock"]
    outside = ["0.0.0.0", "::", "10.0.0.1", "example.org"]
    assert [one for one in inside + outside if is_loopback(one)] == inside


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
