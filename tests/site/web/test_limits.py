"""Tests that guessing of names, passwords, links and tokens is limited by address and by account."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.utils import timezone
from pytest_django import Settings

from scriptsmith_site import settings as defaults
from scriptsmith_site.people.sign_in.links import make_password_link
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.people import PASSWORD, make_person
from tests.site.browsing import Person
from tests.web_client import WebClient


@pytest.fixture(autouse=True)
def _low_limits(settings: Settings) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 5
    settings.SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS = 4
    settings.SCRIPTSMITH_LOGIN_TRIES_PER_ACCOUNT = 3
    settings.SCRIPTSMITH_SECRET_TRIES = 3


def test_default_limits() -> None:
    assert defaults.AXES_FAILURE_LIMIT == 8
    assert defaults.SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS == 20
    assert defaults.SCRIPTSMITH_LOGIN_TRIES_PER_ACCOUNT == 15
    assert defaults.SCRIPTSMITH_SECRET_TRIES == 20


def bearer(secret: str, address: str = "127.0.0.1") -> tuple[int, str]:
    answer = WebClient(REMOTE_ADDR=address).get(
        "/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"}
    )
    return answer.status_code, answer.get("Retry-After", "")


def test_sprayed_password_is_stopped(stranger: User, monkeypatch: pytest.MonkeyPatch) -> None:
    sprayer = Person("192.0.2.66")
    answers = [sprayer.sign_in(f"name{n}", "Winter2026!").status_code for n in range(6)]
    assert answers == [422] * 4 + [429] * 2
    refused = sprayer.sign_in("sam", PASSWORD)
    assert refused.status_code == 429, "the right password is not checked"
    assert 890 <= int(refused["Retry-After"]) <= 900
    assert "Too many wrong passwords from this address. Try again in 15 min" in (
        refused.content.decode()
    )
    assert Person("192.0.2.7").sign_in("sam", PASSWORD).status_code == 302, "nobody else waits"
    now = timezone.now()
    monkeypatch.setattr(
        "scriptsmith_site.people.sign_in.guess_limits.timezone.now",
        lambda: now + timedelta(minutes=16),
    )
    assert sprayer.sign_in("sam", PASSWORD).status_code == 302


def test_signing_in_between_does_not_start_the_count_anew(stranger: User) -> None:
    for n in range(3):
        Person("192.0.2.66").sign_in(f"name{n}", "Winter2026!")
    for _time in range(3):
        assert Person("192.0.2.66").sign_in("sam", PASSWORD).status_code == 302
    assert Person("192.0.2.66").sign_in("name20", "Winter2026!").status_code == 422
    assert Person("192.0.2.66").sign_in("name21", "Winter2026!").status_code == 429


def test_all_addresses_of_one_ipv6_network_are_one(stranger: User) -> None:
    answers = [
        Person(f"2001:db8:1:2::{n:x}").sign_in(f"name{n}", "Winter2026!").status_code
        for n in range(1, 6)
    ]
    assert answers == [422] * 4 + [429]
    assert Person("2001:db8:1:3::1").sign_in("sam", PASSWORD).status_code == 302


def test_guesses_at_one_account_are_stopped(stranger: User, administrator: User) -> None:
    assert Person("198.51.100.1").sign_in("sam", PASSWORD).status_code == 302

    def guess(name: str, addresses: range) -> list[HttpResponse]:
        return [Person(f"192.0.2.{n}").sign_in(name, "Winter2026!") for n in addresses]

    answers = guess("sam", range(1, 6))
    assert [answer.status_code for answer in answers] == [422] * 3 + [429] * 2
    assert int(answers[-1]["Retry-After"]) <= 300
    unknown = guess("nobody", range(101, 106))
    assert [one.status_code for one in unknown] == [one.status_code for one in answers], (
        "the answer does not tell whether an account exists"
    )
    assert Person("192.0.2.99").sign_in("sam", PASSWORD).status_code == 429
    assert Person("198.51.100.1").sign_in("sam", PASSWORD).status_code == 302, "a known address"
    # Signing in with an administrator's link makes another address known.
    sam = Person("203.0.113.5")
    link = f"/set-password/{make_password_link(stranger, by=administrator)}/"
    new = "another good passphrase"
    assert sam.send(link, password=new, repeated_password=new).status_code == 302
    guess("sam", range(20, 26))
    assert sam.sign_in("sam", new).status_code == 302


def test_guesses_of_the_present_password_are_stopped(stranger: User, settings: Settings) -> None:
    sam = Person()
    sam.sign_in("sam", PASSWORD)
    typed = {"current_password": "guess", "new_password": "another good passphrase"}
    answers = [sam.send("/settings/", "/settings/password/", **typed) for _try in range(6)]
    assert [answer.status_code for answer in answers] == [422] * 5 + [429]
    assert answers[-1]["Retry-After"]
    typed["current_password"] = PASSWORD
    assert sam.send("/settings/", "/settings/password/", **typed).status_code == 429
    stranger.refresh_from_db()
    assert stranger.check_password(PASSWORD)


def test_unknown_links_are_stopped(stranger: User, administrator: User) -> None:
    guesser = WebClient(REMOTE_ADDR="192.0.2.66")
    answers = [guesser.get(f"/set-password/guess{n}/").status_code for n in range(5)]
    assert answers == [404] * 3 + [429] * 2
    link = f"/set-password/{make_password_link(stranger, by=administrator)}/"
    assert guesser.get(link).status_code == 429
    assert WebClient().get(link).status_code == 200


def test_unknown_tokens_are_stopped_and_known_ones_go_on(reviewer: User) -> None:
    mine = make_token(reviewer, name="mine", scopes=["read"], days=None, by=reviewer)
    other = make_token(reviewer, name="other", scopes=["read"], days=None, by=reviewer)
    address = "192.0.2.66"
    assert bearer(mine.secret, address)[0] == 200
    answers = [bearer(f"sst_guess{n}", address) for n in range(5)]
    assert [status for status, _wait in answers] == [401] * 3 + [429] * 2
    assert 0 < int(answers[-1][1]) <= 900
    assert bearer(other.secret, address)[0] == 429, "a right guess is refused as well"
    assert bearer(mine.secret, address)[0] == 200, "what was used here before goes on"
    assert bearer(other.secret)[0] == 200

    answer = WebClient(REMOTE_ADDR=address).get(
        "/api/v1/runs/", headers={"Authorization": "Bearer sst_guess"}
    )
    assert json.loads(answer.content)["error"]["code"] == "too_many_attempts"


def test_a_program_with_a_revoked_token_stops_nobody(reviewer: User) -> None:
    made = make_token(reviewer, name="old", scopes=["read"], days=None, by=reviewer)
    made.token.revoked_at = timezone.now()
    made.token.save()
    assert {bearer(made.secret)[0] for _poll in range(5)} == {401}


def test_administrator_lifts_lockout_of_address(stranger: User, administrator: User) -> None:
    for n in range(5):
        Person("192.0.2.66").sign_in(f"name{n}", "Winter2026!")
    adam = Person()
    adam.sign_in("adam", PASSWORD)
    page = adam.client.get("/audit/security/").content.decode()
    assert "Current lockouts" in page
    action = page.split("/lift/")[0].rsplit('"', 1)[1] + "/lift/"
    assert adam.send("/audit/security/", action).status_code == 302
    assert "Current lockouts" not in adam.client.get("/audit/security/").content.decode()
    assert Person("192.0.2.66").sign_in("sam", PASSWORD).status_code == 302


def test_administrator_lifts_locks(stranger: User, administrator: User, settings: Settings) -> None:
    settings.SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS = 20
    for n in range(1, 6):
        Person(f"192.0.2.{n}").sign_in("sam", "Winter2026!")
    for _try in range(5):
        Person("203.0.113.9").sign_in("sam", "Winter2026!")
    adam = Person()
    adam.sign_in("adam", PASSWORD)
    page = f"/users/{stranger.pk}/"
    assert "Too many wrong passwords" in adam.client.get(page).content.decode()
    assert adam.send(page, f"{page}unlock/").status_code == 302
    assert "Too many wrong passwords" not in adam.client.get(page).content.decode()
    assert Person("203.0.113.9").sign_in("sam", PASSWORD).status_code == 302


def test_no_name_that_was_typed_is_kept(stranger: User, caplog: pytest.LogCaptureFixture) -> None:
    """Users may type passwords into the name field."""
    typed = "my secret passphrase"
    Person().sign_in(typed, "x")
    assert AccessAttempt.objects.count() == 1
    assert typed not in str(list(AccessAttempt.objects.values()))
    assert typed not in caplog.text
    make_person("zoe")
    Person().sign_in("zoe", "x")
    assert "zoe" not in str(list(AccessAttempt.objects.values()))
