"""Secrets can't be guessed at without end: names, passwords, links and tokens, by address and by account."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from scriptsmith_site.people.sign_in.links import make_password_link
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.people import PASSWORD, make_person
from tests.site.browsing import Person
from tests.web_client import WebClient


@pytest.fixture(autouse=True)
def _axes(settings: Settings) -> None:
    settings.AXES_ENABLED = True


def bearer(secret: str, address: str = "127.0.0.1") -> tuple[int, str]:
    answer = WebClient(REMOTE_ADDR=address).get(
        "/api/v1/runs/", headers={"Authorization": f"Bearer {secret}"}
    )
    return answer.status_code, answer.get("Retry-After", "")


@pytest.mark.slow
def test_one_password_tried_on_thirty_names_is_stopped(stranger: User) -> None:
    sprayer = Person("192.0.2.66")
    answers = [sprayer.sign_in(f"name{n}", "Winter2026!").status_code for n in range(30)]
    assert answers == [422] * 20 + [429] * 10
    assert sprayer.sign_in("sam", PASSWORD).status_code == 429, "the right one is not looked at"
    assert Person("192.0.2.7").sign_in("sam", PASSWORD).status_code == 302, "nobody else waits"


@pytest.mark.slow
def test_the_page_says_how_long(stranger: User) -> None:
    sprayer = Person("192.0.2.66")
    for n in range(20):
        sprayer.sign_in(f"name{n}", "Winter2026!")
    answer = sprayer.sign_in("sam", "Winter2026!")
    assert 890 <= int(answer["Retry-After"]) <= 900
    assert "Too many wrong passwords came from this address. Wait 15 minutes" in (
        answer.content.decode()
    )


@pytest.mark.slow
def test_signing_in_between_does_not_start_the_count_anew(stranger: User) -> None:
    for n in range(19):
        Person("192.0.2.66").sign_in(f"name{n}", "Winter2026!")
    for _time in range(3):
        assert Person("192.0.2.66").sign_in("sam", PASSWORD).status_code == 302
    assert Person("192.0.2.66").sign_in("name20", "Winter2026!").status_code == 422
    assert Person("192.0.2.66").sign_in("name21", "Winter2026!").status_code == 429


@pytest.mark.slow
def test_all_addresses_of_one_ipv6_network_are_one(stranger: User) -> None:
    answers = [
        Person(f"2001:db8:1:2::{n:x}").sign_in(f"name{n}", "Winter2026!").status_code
        for n in range(1, 22)
    ]
    assert answers == [422] * 20 + [429]
    assert Person("2001:db8:1:3::1").sign_in("sam", PASSWORD).status_code == 302


@pytest.mark.slow
def test_many_addresses_on_one_account_are_stopped_and_its_person_is_not(
    stranger: User,
) -> None:
    assert Person("198.51.100.1").sign_in("sam", PASSWORD).status_code == 302
    answers = [
        Person(f"192.0.2.{n}").sign_in("sam", "Winter2026!").status_code for n in range(1, 18)
    ]
    assert answers == [422] * 15 + [429] * 2
    assert Person("192.0.2.99").sign_in("sam", PASSWORD).status_code == 429
    assert Person("198.51.100.1").sign_in("sam", PASSWORD).status_code == 302, "where they work"


@pytest.mark.slow
def test_the_account_s_limit_is_short_and_a_link_gets_around_it(
    stranger: User, administrator: User
) -> None:
    for n in range(1, 18):
        answer = Person(f"192.0.2.{n}").sign_in("sam", "Winter2026!")
    assert int(answer["Retry-After"]) <= 300
    sam = Person("203.0.113.5")
    link = f"/set-password/{make_password_link(stranger, by=administrator)}/"
    new = "another good passphrase"
    assert sam.send(link, password=new, repeated_password=new).status_code == 302
    for n in range(20, 40):
        Person(f"192.0.2.{n}").sign_in("sam", "Winter2026!")
    assert sam.sign_in("sam", new).status_code == 302


@pytest.mark.slow
def test_the_answer_does_not_say_who_has_an_account(stranger: User) -> None:
    def answers(name: str) -> list[int]:
        return [
            Person(f"192.0.2.{n}").sign_in(name, "Winter2026!").status_code for n in range(1, 18)
        ]

    assert answers("sam") == answers("nobody")


@pytest.mark.slow
def test_guesses_of_the_present_password_are_stopped(stranger: User, settings: Settings) -> None:
    sam = Person()
    sam.sign_in("sam", PASSWORD)
    typed = {"current_password": "guess", "new_password": "another good passphrase"}
    answers = [sam.send("/settings/", "/settings/password/", **typed) for _try in range(10)]
    assert [answer.status_code for answer in answers] == [422] * 8 + [429] * 2
    assert answers[-1]["Retry-After"]
    typed["current_password"] = PASSWORD
    assert sam.send("/settings/", "/settings/password/", **typed).status_code == 429
    stranger.refresh_from_db()
    assert stranger.check_password(PASSWORD)


@pytest.mark.slow
def test_unknown_links_are_stopped(stranger: User, administrator: User) -> None:
    guesser = WebClient(REMOTE_ADDR="192.0.2.66")
    answers = [guesser.get(f"/set-password/guess{n}/").status_code for n in range(22)]
    assert answers == [404] * 20 + [429] * 2
    link = f"/set-password/{make_password_link(stranger, by=administrator)}/"
    assert guesser.get(link).status_code == 429
    assert WebClient().get(link).status_code == 200


@pytest.mark.slow
def test_unknown_tokens_are_stopped_and_known_ones_go_on(reviewer: User) -> None:
    mine = make_token(reviewer, name="mine", scopes=["read"], days=None, by=reviewer)
    other = make_token(reviewer, name="other", scopes=["read"], days=None, by=reviewer)
    address = "192.0.2.66"
    assert bearer(mine.secret, address)[0] == 200
    answers = [bearer(f"sst_guess{n}", address) for n in range(22)]
    assert [status for status, _wait in answers] == [401] * 20 + [429] * 2
    assert 0 < int(answers[-1][1]) <= 900
    assert bearer(other.secret, address)[0] == 429, "a right guess is refused as well"
    assert bearer(mine.secret, address)[0] == 200, "what was used here before goes on"
    assert bearer(other.secret)[0] == 200

    answer = WebClient(REMOTE_ADDR=address).get(
        "/api/v1/runs/", headers={"Authorization": "Bearer sst_guess"}
    )
    assert json.loads(answer.content)["error"]["code"] == "too_many_attempts"


@pytest.mark.slow
def test_a_program_with_a_revoked_token_stops_nobody(reviewer: User) -> None:
    made = make_token(reviewer, name="old", scopes=["read"], days=None, by=reviewer)
    made.token.revoked_at = timezone.now()
    made.token.save()
    assert {bearer(made.secret)[0] for _poll in range(25)} == {401}


@pytest.mark.slow
def test_a_lockout_ends_by_itself(stranger: User, monkeypatch: pytest.MonkeyPatch) -> None:
    sprayer = Person("192.0.2.66")
    for n in range(22):
        sprayer.sign_in(f"name{n}", "Winter2026!")
    now = timezone.now()
    monkeypatch.setattr(
        "scriptsmith_site.people.sign_in.guess_limits.timezone.now",
        lambda: now + timedelta(minutes=16),
    )
    assert Person("192.0.2.66").sign_in("sam", PASSWORD).status_code == 302


@pytest.mark.slow
def test_an_administrator_lifts_the_lockout_of_an_address(
    stranger: User, administrator: User
) -> None:
    for n in range(21):
        Person("192.0.2.66").sign_in(f"name{n}", "Winter2026!")
    adam = Person()
    adam.sign_in("adam", PASSWORD)
    page = adam.client.get("/audit/security/").content.decode()
    assert "Locked out at present" in page
    action = page.split("/lift/")[0].rsplit('"', 1)[1] + "/lift/"
    assert adam.send("/audit/security/", action).status_code == 302
    assert "Locked out at present" not in adam.client.get("/audit/security/").content.decode()
    assert Person("192.0.2.66").sign_in("sam", PASSWORD).status_code == 302


@pytest.mark.slow
def test_an_administrator_lifts_all_lockouts_of_a_person(
    stranger: User, administrator: User
) -> None:
    for n in range(1, 18):
        Person(f"192.0.2.{n}").sign_in("sam", "Winter2026!")
    for _try in range(8):
        Person("203.0.113.9").sign_in("sam", "Winter2026!")
    adam = Person()
    adam.sign_in("adam", PASSWORD)
    page = f"/users/{stranger.pk}/"
    assert adam.send(page, f"{page}unlock/").status_code == 302
    assert "this person has to wait" not in adam.client.get(page).content.decode()
    assert Person("203.0.113.9").sign_in("sam", PASSWORD).status_code == 302


def test_only_administrators_lift(stranger: User, curator: User) -> None:
    carla = WebClient()
    carla.force_login(curator)
    assert carla.post("/audit/security/lockouts/1/lift/").status_code == 403


def test_no_name_that_was_typed_is_kept(stranger: User, caplog: pytest.LogCaptureFixture) -> None:
    """People type passwords into the field of the name."""
    typed = "my secret passphrase"
    Person().sign_in(typed, "x")
    assert AccessAttempt.objects.count() == 1
    assert typed not in str(list(AccessAttempt.objects.values()))
    assert typed not in caplog.text
    make_person("zoe")
    Person().sign_in("zoe", "x")
    assert "zoe" not in str(list(AccessAttempt.objects.values()))
