"""A one-time link: shown once, used once, void after two days."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from scriptsmith_site.models import OneTimeLink
from scriptsmith_site.people.sign_in.links import make_password_link
from tests.web_client import WebClient

GOOD = {"password": "a good new passphrase", "repeated_password": "a good new passphrase"}


@pytest.fixture
def link(stranger: User, administrator: User) -> str:
    return f"/set-password/{make_password_link(stranger, by=administrator)}/"


@pytest.mark.slow
def test_an_administrator_gets_the_link_and_the_person_uses_it_once(
    client: Client, administrator: User, stranger: User
) -> None:
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


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        pytest.param(
            {**GOOD, "repeated_password": "something else"},
            "repeated_password",
            id="not the same twice",
        ),
        pytest.param(
            {"password": "sam", "repeated_password": "sam"},
            "password",
            id="too short, and the name",
        ),
        pytest.param(
            {"password": "password1234", "repeated_password": "password1234"},
            "password",
            id="common",
        ),
    ],
)
def test_a_bad_password_leaves_the_link_usable(
    client: Client, link: str, typed: dict[str, str], field: str
) -> None:
    answer = client.post(link, typed)
    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert client.post(link, GOOD).status_code == 302


def test_a_link_is_void_after_two_days(client: Client, link: str) -> None:
    assert OneTimeLink.objects.get().expires_at - timezone.now() < timedelta(hours=48)
    OneTimeLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get(link).status_code == 404


def test_a_newer_link_voids_the_older_one(
    client: Client, link: str, stranger: User, administrator: User
) -> None:
    make_password_link(stranger, by=administrator)
    assert client.get(link).status_code == 404


def test_a_deactivated_person_s_link_is_void(client: Client, link: str, stranger: User) -> None:
    User.objects.filter(pk=stranger.pk).update(is_active=False)
    assert client.post(link, GOOD).status_code == 404


def test_a_guess_finds_nothing(client: Client, link: str) -> None:
    assert client.get("/set-password/guess/").status_code == 404
