"""Tests that browsers and proxies do not store responses to signed-in users."""

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
    "/", "/queue/", "/settings/", "/audit/export/", "/help/", "/admin/", "/api/v1/runs/",
    "/nowhere/", "/api/v1/nowhere/",
]  # fmt: skip


def test_no_answer_to_a_user_is_stored(client: Client, administrator: User) -> None:
    client.force_login(administrator)
    answers = {page: client.get(page) for page in PAGES}
    answers["fragment"] = client.get("/actions/", headers={"HX-Request": "true"})
    kept = {page: answer["Cache-Control"] for page, answer in answers.items()}
    assert kept == dict.fromkeys(kept, "no-store, private")


def test_nor_what_a_token_gets_or_who_is_not_signed_in(client: Client, reviewer: User) -> None:
    secret = make_token(reviewer, name="bot", scopes=["read"], days=None, by=reviewer).secret
    answer = client.get("/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    for page in ("/login/", "/settings/", "/api/v1/runs/", "/metrics", "/healthz"):
        assert "no-store" in client.get(page)["Cache-Control"]
    assert client.get("/favicon.ico")["Cache-Control"] == "public, max-age=86400"


def read_settings(tmp_path: Path, *names: str, **environment: str) -> list[str]:
    """Return the values of these settings under an environment, computed in a separate process."""
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
def test_cookies_in_production_belong_to_this_host_only(tmp_path: Path) -> None:
    """Settings are computed when a process starts, so each environment needs its own process."""
    # Browsers reject cookies with this prefix if they have another path or a domain.
    expected = {
        "SESSION_COOKIE_NAME": "__Host-sessionid",
        "CSRF_COOKIE_NAME": "__Host-csrftoken",
        "SESSION_COOKIE_SECURE": "True",
        "CSRF_COOKIE_SECURE": "True",
        "SESSION_COOKIE_DOMAIN": "None",
        "SESSION_COOKIE_PATH": "None",
        "SECURE_HSTS_PRELOAD": "True",
    }
    production = {"SCRIPTSMITH_PRODUCTION": "True", "SCRIPTSMITH_DEMO": "False"}
    preload = {**production, "SCRIPTSMITH_HSTS_PRELOAD": "True"}
    assert read_settings(tmp_path, *expected, **preload) == list(expected.values())
    assert read_settings(tmp_path, "SECURE_HSTS_PRELOAD", **production) == ["False"]
    assert read_settings(tmp_path, "SESSION_COOKIE_NAME") == ["None"], "Django's own"
