"""Tests that a one-time password link is shown once, works once, and expires after two days."""

from __future__ import annotations

import io
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from scriptsmith_site.models import OneTimeLink
from scriptsmith_site.people.services import roles_of
from scriptsmith_site.people.sign_in.links import make_password_link
from tests.web_client import WebClient

GOOD = {"password": "a good new passphrase", "repeated_password": "a good new passphrase"}


@pytest.fixture
def link(stranger: User, administrator: User) -> str:
    return f"/set-password/{make_password_link(stranger, by=administrator)}/"


def test_link_is_used_once(client: Client, administrator: User, stranger: User) -> None:
    admin = WebClient()
    admin.force_login(administrator)
    answer = admin.post(f"/users/{stranger.pk}/password-link/")
    shown = re.search(r'value="http://testserver(/set-password/[^"]+)"', answer.content.decode())
    assert shown
    assert "no-store" in answer["Cache-Control"]
    assert shown[1] not in admin.get(f"/users/{stranger.pk}/").content.decode()

    page = client.get(shown[1])
    assert page.status_code == 200
    assert "You will sign in as sam" in page.content.decode()
    assert client.post(shown[1], GOOD)["Location"] == "/login/"
    signed_in = client.post("/login/", {"username": "sam", "password": GOOD["password"]})
    assert signed_in.status_code == 302
    assert client.get(shown[1]).status_code == 404
    assert client.post(shown[1], GOOD).status_code == 404


def test_invalid_password_leaves_the_link_usable(client: Client, link: str) -> None:
    for password, repeated, field in (
        (GOOD["password"], "something else", "repeated_password"),
        ("sam", "sam", "password"),
        ("password1234", "password1234", "password"),
    ):
        answer = client.post(link, {"password": password, "repeated_password": repeated})
        assert answer.status_code == 422, password
        assert f'id="id_{field}_error"' in answer.content.decode(), password
    assert client.post(link, GOOD).status_code == 302


def test_link_is_void_after_two_days_or_a_newer_one_or_deactivation(
    client: Client, link: str, stranger: User, administrator: User
) -> None:
    assert OneTimeLink.objects.get().expires_at - timezone.now() < timedelta(hours=48)
    newer = f"/set-password/{make_password_link(stranger, by=administrator)}/"
    assert client.get(link).status_code == 404
    assert client.get(newer).status_code == 200
    User.objects.filter(pk=stranger.pk).update(is_active=False)
    assert client.post(newer, GOOD).status_code == 404
    User.objects.filter(pk=stranger.pk).update(is_active=True)
    OneTimeLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get(newer).status_code == 404


def create(*arguments: str) -> str:
    out = io.StringIO()
    call_command("create_account", *arguments, stdout=out)
    return out.getvalue().strip()


def test_command_prints_a_link_for_users_only(client: Client, db: None) -> None:
    link = create(
        "ada", "--role", "administrator", "--role", "reviewer", "--display-name", "Ada L."
    )
    ada = User.objects.get(username="ada")
    assert {role.value for role in roles_of(ada)} == {"administrator", "reviewer"}
    assert ada.get_full_name() == "Ada L."
    assert client.get(link).status_code == 200
    assert create("bot", "--service", "--role", "reviewer") == ""


def test_invalid_account_is_refused(db: None) -> None:
    for arguments in (
        ["a b"],
        ["ada", "--role", "king"],
        ["bot", "--service", "--role", "administrator"],
    ):
        with pytest.raises(CommandError):
            create(*arguments)
    assert not User.objects.exists()
