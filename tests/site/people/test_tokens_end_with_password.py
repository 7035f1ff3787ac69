"""Tests that API tokens and sessions end when their user's password changes."""

from __future__ import annotations

import io

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import call_command

from scriptsmith_site.models import Session
from scriptsmith_site.people import services
from scriptsmith_site.people.sign_in.links import make_password_link
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.people import PASSWORD
from tests.site.browsing import Person
from tests.web_client import WebClient

NEW = "another good passphrase"


@pytest.fixture
def tokens(stranger: User) -> list[str]:
    return [
        make_token(stranger, name=name, scopes=["read"], days=None, by=stranger).secret
        for name in ("phone", "laptop")
    ]


def opens(secret: str) -> bool:
    answer = WebClient().get("/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


def test_changed_password_announces_revocation(tokens: list[str], stranger: User) -> None:
    sam, elsewhere = Person(), Person()
    sam.sign_in("sam", PASSWORD)
    elsewhere.sign_in("sam", PASSWORD)
    assert all(map(opens, tokens))
    assert "revokes your 2 API tokens" in sam.client.get("/settings/").content.decode()

    sam.send("/settings/", "/settings/password/", current_password=PASSWORD, new_password=NEW)
    assert not any(map(opens, tokens))
    page = sam.client.get("/settings/").content.decode()
    assert "You are signed out everywhere else. 2 API tokens were revoked." in page
    assert elsewhere.client.get("/settings/").status_code == 302
    assert Session.objects.filter(user=stranger).count() == 1
    assert LogEntry.objects.filter(additional_data__event="password changed").exists()
    stranger.refresh_from_db()
    assert stranger.check_password(NEW)

    new = make_token(stranger, name="new", scopes=["read"], days=None, by=stranger).secret
    assert opens(new)


def test_password_link_ends_tokens(tokens: list[str], stranger: User, administrator: User) -> None:
    elsewhere = Person()
    elsewhere.sign_in("sam", PASSWORD)
    link = f"/set-password/{make_password_link(stranger, by=administrator)}/"
    sam = Person()
    assert "revokes your 2 API tokens" in sam.client.get(link).content.decode()
    assert all(map(opens, tokens)), "not before"

    assert sam.send(link, password=NEW, repeated_password=NEW)["Location"] == "/login/"
    assert not any(map(opens, tokens))
    assert "2 API tokens were revoked" in sam.client.get("/login/").content.decode()
    assert elsewhere.client.get("/settings/").status_code == 302


def test_an_administrator_s_reset_ends_password_sessions_and_tokens_at_once(
    tokens: list[str], stranger: User, administrator: User
) -> None:
    sam, adam = Person(), Person()
    sam.sign_in("sam", PASSWORD)
    adam.sign_in("adam", PASSWORD)
    page = f"/users/{stranger.pk}/"
    answer = adam.send(page, f"{page}reset/")
    assert "/set-password/" in answer.content.decode()
    assert "2 API tokens were revoked" in answer.content.decode()
    assert not any(map(opens, tokens))
    assert sam.client.get("/settings/").status_code == 302
    assert sam.sign_in("sam", PASSWORD).status_code == 422

    own = f"/users/{administrator.pk}/"
    assert f"{own}reset/" not in adam.client.get(own).content.decode()
    adam.client.cookies["csrftoken"] = token = "x" * 32
    answer = adam.client.post(f"{own}reset/", {"csrfmiddlewaretoken": token})
    assert answer.status_code == 422, "they would lock themselves out"


def test_deactivation_ends_tokens(tokens: list[str], stranger: User, administrator: User) -> None:
    adam = Person()
    adam.sign_in("adam", PASSWORD)
    page = f"/users/{stranger.pk}/"
    adam.send(page, f"{page}deactivate/")
    assert "2 API tokens were revoked" in adam.client.get(page).content.decode()
    assert not any(map(opens, tokens))
    services.reactivate(stranger, by=administrator)
    assert not any(map(opens, tokens))


def test_command_line_ends_them(tokens: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt: NEW)
    call_command("changepassword", "sam", stdout=io.StringIO())
    assert not any(map(opens, tokens))


def test_rehash_keeps_tokens(tokens: list[str], stranger: User, settings: object) -> None:
    """After the work factor is raised, Django hashes the password again when the user signs in."""
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
        "django.contrib.auth.hashers.MD5PasswordHasher",
    ]
    before = stranger.password
    assert Person().sign_in("sam", PASSWORD).status_code == 302
    stranger.refresh_from_db()
    assert stranger.password != before
    assert all(map(opens, tokens))


def test_service_accounts_keep_theirs(administrator: User) -> None:
    """Service accounts have no password, and their tokens do not depend on the administrator who created them."""
    bot = services.create_account("bot", service_account=True, by=administrator)
    secret = make_token(bot, name="chat", scopes=["read"], days=None, by=administrator).secret
    adam = Person()
    adam.sign_in("adam", PASSWORD)
    adam.send("/settings/", "/settings/password/", current_password=PASSWORD, new_password=NEW)
    assert opens(secret)
    bot.set_password(NEW)
    bot.save()
    assert opens(secret)
    services.deactivate(bot, by=administrator)
    assert not opens(secret)
