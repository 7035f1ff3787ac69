"""What a signed-in person gets is kept by no browser and no proxy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scriptsmith_site.people.sign_in.tokens import make_token

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    "/",
    "/queue/",
    "/settings/",
    "/catalog/",
    "/actions/",
    "/search/?q=disk",
    "/audit/",
    "/audit/export/",
    "/audit/security/export/",
    "/users/",
    "/operation/",
    "/help/",
    "/admin/",
    "/api/v1/schema/",
    "/api/v1/runs/",
    "/nowhere/",
    "/api/v1/nowhere/",
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("htmx", [False, True], ids=["page", "fragment"])
def test_nothing_that_a_person_gets_is_stored(
    client: Client, administrator: User, page: str, htmx: bool
) -> None:
    client.force_login(administrator)
    answer = client.get(page, headers={"HX-Request": "true"} if htmx else {})
    assert answer["Cache-Control"] == "no-store, private"


def test_nor_what_a_token_gets_or_who_is_not_signed_in(client: Client, reviewer: User) -> None:
    secret = make_token(reviewer, name="bot", scopes=["read"], days=None, by=reviewer).secret
    answer = client.get("/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    for page in ("/login/", "/settings/", "/api/v1/runs/", "/metrics", "/healthz"):
        assert "no-store" in client.get(page)["Cache-Control"]


def test_the_icon_is_for_everybody(client: Client, db: None) -> None:
    assert client.get("/favicon.ico")["Cache-Control"] == "public, max-age=86400"


def read_settings(tmp_path: Path, *names: str, **environment: str) -> list[str]:
    """What these settings are under an environment, in a process of its own."""
    shown = f"from scriptsmith_site import settings as s; print(*[getattr(s, n, None) for n in {names!r}], sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", shown],
        cwd=ROOT,
        env={"SCRIPTSMITH_DATA": str(tmp_path), "PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_cookies_in_production_are_this_host_s_alone(tmp_path: Path) -> None:
    names = (
        "SESSION_COOKIE_NAME",
        "CSRF_COOKIE_NAME",
        "SESSION_COOKIE_SECURE",
        "CSRF_COOKIE_SECURE",
    )
    # Browsers refuse such a name with another path or a domain.
    names += ("SESSION_COOKIE_DOMAIN", "SESSION_COOKIE_PATH", "SECURE_HSTS_PRELOAD")
    production = {"SCRIPTSMITH_PRODUCTION": "True", "SCRIPTSMITH_DEMO": "False"}
    assert read_settings(tmp_path, *names, **production) == [
        "__Host-sessionid",
        "__Host-csrftoken",
        "True",
        "True",
        "None",
        "None",
        "False",
    ]
    preload = read_settings(
        tmp_path, "SECURE_HSTS_PRELOAD", **production, SCRIPTSMITH_HSTS_PRELOAD="True"
    )
    assert preload == ["True"]
    assert read_settings(tmp_path, "SESSION_COOKIE_NAME") == ["None"], "Django's own"
