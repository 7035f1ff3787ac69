"""Tests that second factors are added, required at sign-in or for a role, used once, and removed."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from core.errors import BadInput
from scriptsmith_site.models import SecurityEvent
from scriptsmith_site.people.second_factor import services
from scriptsmith_site.people.sign_in.links import make_password_link, reset_password
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.people import PASSWORD, make_person
from tests.site.sign_in.codes import add_app, code_of
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db
FACTOR = "/settings/second-factor/"


def begin(client: Client, name: str = "rita", **more: str) -> Client:
    answer = client.post("/login/", {"username": name, "password": PASSWORD, **more})
    assert answer.status_code == 302
    return client


def send_code(client: Client, code: str) -> int:
    return client.post("/login/second-factor/", {"code": code}).status_code


def is_in(client: Client) -> bool:
    return client.get("/settings/keys/").status_code == 200


def lines(user: User) -> list[str]:
    found = SecurityEvent.objects.filter(user=user).order_by("pk")
    return [f"{line.kind} {line.detail}".strip() for line in found]


def test_added_app_is_required_at_sign_in(reviewer: User, client: WebClient) -> None:
    begin(client)
    page = client.get(f"{FACTOR}app/")
    shown = re.search(r'id="app-secret">([^<]+)<', page.text)
    assert shown and "data:image/svg+xml;base64," in page.text
    secret = shown[1].replace(" ", "")
    wrong = client.post(f"{FACTOR}app/", {"code": "000000"})
    assert wrong.status_code == 422 and shown[1] in wrong.text, "the same secret, nothing is lost"
    assert not Authenticator.objects.exists()
    code = code_of(secret, later=-1)
    added = client.post(f"{FACTOR}app/", {"code": f" {code[:3]} {code[3:]}"})
    codes = re.findall(r"\b\d{5} \d{5}\b", added.text)
    assert len(set(codes)) == 10
    kept = Authenticator.objects.get(type="totp").data
    assert secret not in json.dumps(kept), "sealed"
    assert codes[0] not in client.get(FACTOR).text, "shown once"
    assert {"second-factor-added authenticator app", "recovery-codes-made"} <= set(lines(reviewer))
    assert LogEntry.objects.filter(additional_data__event="second factor added").exists()

    other = WebClient()
    answer = other.post(
        "/login/", {"username": "rita", "password": PASSWORD, "next": "/catalogue/"}
    )
    assert answer["Location"] == "/login/second-factor/"
    assert not is_in(other), "the password alone opens nothing"
    assert send_code(other, "123456") == 422
    answer = other.post("/login/second-factor/", {"code": code_of(secret)})
    assert answer["Location"] == "/catalogue/"
    assert is_in(other)
    assert lines(reviewer)[-1] == "signed-in password, authenticator app"
    assert "second-factor-wrong" in lines(reviewer)


def test_a_code_is_good_once_also_for_two_at_once(reviewer: User) -> None:
    secret, _codes = add_app(reviewer)
    code = code_of(secret)
    first, second = begin(WebClient()), begin(WebClient())
    assert send_code(first, code) == 302
    assert send_code(second, code) == 422
    assert send_code(second, code_of(secret, later=-1)) == 422, "nor one from before it"
    assert not is_in(second)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_two_processes_that_see_one_code_one_takes_it(db: None) -> None:
    user = make_person("rita", "reviewer")
    secret, codes = add_app(user)
    for code in (code_of(secret), codes[0]):

        def prove(_number: int, code: str = code) -> bool:
            try:
                services.prove_by_code(user, code)
            except BadInput:
                return False
            finally:
                connection.close()
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sorted(pool.map(prove, range(4))) == [False, False, False, True]


def test_recovery_code_is_used_once(reviewer: User, client: WebClient) -> None:
    _secret, codes = add_app(reviewer)
    assert send_code(begin(client), f"{codes[0][:5]} {codes[0][5:]}") == 302
    assert "recovery-code-used 9 left" in lines(reviewer)
    assert send_code(begin(WebClient()), codes[0]) == 422
    client.get(FACTOR)
    made = client.post(f"{FACTOR}codes/")
    new = re.findall(r"\b\d{5} \d{5}\b", made.text)
    assert len(new) == 10
    assert send_code(begin(WebClient()), codes[1]) == 422
    assert send_code(begin(WebClient()), new[1]) == 302


def test_wrong_codes_are_limited_and_the_lockout_is_listed_and_lifted(
    reviewer: User, settings: Settings, as_administrator: Client
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    secret, _codes = add_app(reviewer)
    client = begin(WebClient())
    assert [send_code(client, "000000") for _try in range(4)] == [422, 422, 422, 429]
    assert send_code(client, code_of(secret)) == 429, "the right one waits as well"
    assert "locked-out Wrong second-factor codes" in lines(reviewer)
    assert "Wrong second-factor codes" in as_administrator.get("/audit/security/").text
    as_administrator.get(f"/users/{reviewer.pk}/")
    as_administrator.post(f"/users/{reviewer.pk}/unlock/")
    assert send_code(client, code_of(secret)) == 302


def test_password_reset_ends_a_begun_sign_in_and_its_link_does_not_skip_the_second_factor(
    reviewer: User, administrator: User, client: WebClient
) -> None:
    secret, _codes = add_app(reviewer)
    begin(client)
    reset_password(reviewer, by=administrator)
    answer = client.post("/login/second-factor/", {"code": code_of(secret)}, follow=True)
    assert "has expired" in answer.text
    assert not is_in(client)
    assert client.get("/login/second-factor/")["Location"] == "/login/"
    link = f"/set-password/{make_password_link(reviewer, by=administrator)}/"
    client, new = WebClient(), "a good new passphrase"
    client.get(link)
    typed = {"password": new, "repeated_password": new}
    assert client.post(link, typed).status_code == 302
    answer = client.post("/login/", {"username": "rita", "password": new})
    assert answer["Location"] == "/login/second-factor/" and not is_in(client)


def test_a_form_that_was_kept_is_sent_on_after_both(reviewer: User, client: WebClient) -> None:
    secret, _codes = add_app(reviewer)
    kept = client.post("/settings/preferences/", {"display_name": "Rita R.", "theme": ""})
    text = re.search(r'name="kept" value="([^"]+)"', kept.text)
    assert text
    begin(client, kept=text[1])
    answer = client.post("/login/second-factor/", {"code": code_of(secret)})
    assert "Submit again" in answer.text and "Rita R." in answer.text


def test_change_needs_fresh_proof(reviewer: User, client: WebClient, settings: Settings) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    begin(client)
    session = client.session
    session["proved_at"] = (timezone.now() - timedelta(minutes=16)).isoformat()
    session.save()
    to = client.get(f"{FACTOR}app/")["Location"]
    assert to == "/settings/confirm/?next=%2Fsettings%2Fsecond-factor%2Fapp%2F"
    page = client.get(to)
    assert f'name="next" value="{FACTOR}app/"' in page.text
    assert client.post("/settings/confirm/", {"current_password": "wrong"}).status_code == 422
    right = {"current_password": PASSWORD, "next": "https://example.org/"}
    assert client.post("/settings/confirm/", right)["Location"] == FACTOR, "nowhere else"
    assert client.get(f"{FACTOR}app/").status_code == 200
    assert "present-password-wrong" in lines(reviewer)


class TestRequired:
    """Tests that a user whose role requires a second factor can only set one up until it exists."""

    @pytest.fixture(autouse=True)
    def _required(self, settings: Settings) -> None:
        settings.SCRIPTSMITH_SECOND_FACTOR_ROLES = ["administrator", "curator"]

    def test_pages_redirect_until_it_is_set_up(self, curator: User, client: WebClient) -> None:
        begin(client, "carla")
        for address in ("/", "/catalogue/", "/settings/", "/settings/keys/"):
            assert client.get(address)["Location"] == FACTOR, address
        assert client.post("/settings/preferences/", {"theme": "dark"})["Location"] == FACTOR
        page = client.get(FACTOR).text
        assert "Your role requires a second factor" in page
        secret = client.get(f"{FACTOR}app/").context["secret"].replace(" ", "")
        client.post(f"{FACTOR}app/", {"code": code_of(secret)})
        assert client.get("/catalogue/").status_code == 200
        app = Authenticator.objects.get(type="totp")
        client.get(FACTOR)
        refused = client.post(f"{FACTOR}{app.pk}/remove/")
        assert refused.status_code == 422 and "Add another one first" in refused.text

    def test_api_is_closed_without_factor(self, curator: User, client: WebClient) -> None:
        token = make_token(curator, name="bot", scopes=["read", "agent_read"], days=9, by=curator)
        begin(client, "carla")
        answers = [
            client.get("/api/v1/entries/"),
            WebClient().get(
                "/api/v1/entries/", headers={"Authorization": f"Bearer {token.secret}"}
            ),
            WebClient().post(
                "/mcp/",
                {"jsonrpc": "2.0", "id": 1, "method": "ping"},
                content_type="application/json",
                headers={"Authorization": f"Bearer {token.secret}"},
            ),
        ]
        assert [one.status_code for one in answers] == [403, 403, 403]
        assert all("second factor" in one.text for one in answers)
        add_app(curator)
        answer = WebClient().get(
            "/api/v1/entries/", headers={"Authorization": f"Bearer {token.secret}"}
        )
        assert answer.status_code == 200, "a program shows no second factor; its person has one"

    def test_other_roles_go_on_until_the_setting_names_them_and_signing_out_is_open(
        self, reviewer: User, curator: User, client: WebClient, settings: Settings
    ) -> None:
        begin(client, "carla")
        assert client.post("/logout/").status_code == 302
        client = begin(WebClient())
        assert is_in(client)
        settings.SCRIPTSMITH_SECOND_FACTOR_ROLES = ["all"]
        assert not is_in(client)

    def test_an_administrator_removes_it_of_who_lost_everything(
        self, curator: User, administrator: User, as_administrator: Client
    ) -> None:
        add_app(administrator)
        add_app(curator)
        page = as_administrator.get(f"/users/{curator.pk}/").text
        assert "Remove second factor" in page
        as_administrator.post(f"/users/{curator.pk}/second-factor/remove/")
        assert "second-factor-removed all of this account" in lines(curator)
        client = begin(WebClient(), "carla")
        assert client.get("/")["Location"] == FACTOR, "and is led to set one up again"


def test_changed_secret_key_voids_factor(administrator: User, settings: Settings) -> None:
    secret, codes = add_app(administrator)
    settings.SECRET_KEY = "another key, under which nothing was ever sealed"
    client = begin(WebClient(), "adam")
    assert client.get("/login/second-factor/").status_code == 200
    assert send_code(client, code_of(secret)) == send_code(client, codes[0]) == 422
    call_command("remove_second_factor", "adam")
    assert is_in(begin(WebClient(), "adam"))
    for name in ("adam", "nobody"):
        with pytest.raises(CommandError):
            call_command("remove_second_factor", name)


def test_hostile_credentials_are_refused(reviewer: User, client: WebClient) -> None:
    deep = "[" * 100_000
    bad = ["", "{}", "[]", "null", deep, '{"id": 1}', '{"id":"AA","rawId":"AA","type":"public-key"}',
           json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": {
               "clientDataJSON": "AA", "attestationObject": "AA", "authenticatorData": "AA",
               "signature": "AA", "userHandle": "MQ"}})]  # fmt: skip
    visitor = WebClient(SERVER_NAME="localhost")
    assert "challenge" in visitor.get("/login/passkey/").json()["publicKey"]
    for credential in bad:
        answer = visitor.post("/login/passkey/", {"credential": credential})
        assert answer["Location"] == "/login/", credential[:60]
    begin(client)
    for credential in bad:
        client.get(f"{FACTOR}passkey/")
        answer = client.post(f"{FACTOR}passkey/", {"name": "x", "credential": credential})
        assert answer.status_code == 422, credential[:60]
    assert not Authenticator.objects.exists()
    assert not is_in(visitor)


def test_nobody_removes_their_own_from_the_page_of_their_account_nor_others_without_a_proof(
    reviewer: User, administrator: User, as_administrator: Client
) -> None:
    add_app(administrator)
    add_app(reviewer)
    own, other = f"/users/{administrator.pk}/", f"/users/{reviewer.pk}/"
    assert "Remove second factor" not in as_administrator.get(own).text
    refused = as_administrator.post(f"{own}second-factor/remove/")
    assert refused.status_code == 422 and "in Settings" in refused.text
    session = as_administrator.session
    del session["proved_at"]
    session.save()
    as_administrator.get(other)
    answer = as_administrator.post(f"{other}second-factor/remove/")
    assert answer["Location"] == f"/settings/confirm/?next=%2Fusers%2F{reviewer.pk}%2F"
    assert Authenticator.objects.filter(type="totp").count() == 2
