"""Tests for passkeys created and used by a software key. `tests/browser` tests the same with Chromium's passkeys."""

from __future__ import annotations

import json

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from fido2.utils import websafe_decode, websafe_encode
from pytest_django import Settings

from scriptsmith_site.models import SecurityEvent, Session
from tests.people import PASSWORD, make_person
from tests.site.sign_in.software_key import SoftwareKey
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db
ADD = "/settings/second-factor/passkey/"


def browser() -> WebClient:
    return WebClient(SERVER_NAME="localhost")


def signed_in(name: str = "rita") -> WebClient:
    client = browser()
    client.post("/login/", {"username": name, "password": PASSWORD})
    return client


def add(client: WebClient, key: SoftwareKey, *, name: str = "ring") -> int:
    options = client.get(ADD).context["options"]
    return client.post(ADD, {"name": name, "credential": key.create(options)}).status_code


def sign_in(client: WebClient, key: SoftwareKey) -> str:
    """Sign in with only the passkey and return the address of the redirect."""
    options = client.get("/login/passkey/").text
    answer = client.post("/login/passkey/", {"credential": key.get(options), "next": "/catalogue/"})
    return str(answer["Location"])


@pytest.fixture
def key(reviewer: User) -> SoftwareKey:
    made = SoftwareKey()
    assert add(signed_in(), made) == 200
    return made


def test_a_passkey_lets_its_person_in_without_a_password(key: SoftwareKey, reviewer: User) -> None:
    client = browser()
    assert sign_in(client, key) == "/catalogue/"
    assert client.session["_auth_user_id"] == str(reviewer.pk)
    session = Session.objects.get(session_key=client.session.session_key)
    assert session.proofs == "passkey"
    assert SecurityEvent.objects.order_by("-pk")[0].kind == "signed-in"
    assert Authenticator.objects.get(type="webauthn").last_used_at is not None


def test_it_is_a_second_factor_after_the_password(key: SoftwareKey, reviewer: User) -> None:
    client = browser()
    answer = client.post("/login/", {"username": "rita", "password": PASSWORD})
    assert answer["Location"] == "/login/second-factor/"
    options = client.get("/login/second-factor/").context["options"]
    stranger = SoftwareKey()
    stranger.owner = key.owner
    refused = client.post("/login/second-factor/", {"credential": stranger.get(options)})
    assert refused.status_code == 422 and "was not accepted" in refused.text
    options = client.get("/login/second-factor/").context["options"]
    answer = client.post("/login/second-factor/", {"credential": key.get(options)})
    assert answer.status_code == 302 and client.session["_auth_user_id"] == str(reviewer.pk)
    assert SecurityEvent.objects.filter(user=reviewer, kind="second-factor-wrong").count() == 1


def test_an_answer_is_good_once_and_for_the_session_that_asked(key: SoftwareKey) -> None:
    client = browser()
    answer = key.get(client.get("/login/passkey/").text)
    other = browser()
    other.get("/login/passkey/")
    assert other.post("/login/passkey/", {"credential": answer})["Location"] == "/login/"
    assert client.post("/login/passkey/", {"credential": answer})["Location"] == "/"
    client.post("/logout/")
    assert client.post("/login/passkey/", {"credential": answer})["Location"] == "/login/"


def test_invalid_passkey_is_refused(reviewer: User, stranger: User, key: SoftwareKey) -> None:
    key.origin = "https://phishing.example.org"
    assert sign_in(browser(), key) == "/login/"
    key.origin = SoftwareKey().origin
    client = browser()
    credential = json.loads(key.get(client.get("/login/passkey/").text))
    whole = websafe_decode(credential["response"]["authenticatorData"])
    credential["response"]["authenticatorData"] = websafe_encode(whole[:35])
    answer = client.post("/login/passkey/", {"credential": json.dumps(credential)})
    assert answer["Location"] == "/login/", "data that is cut off"
    User.objects.filter(pk=reviewer.pk).update(is_active=False)
    assert sign_in(browser(), key) == "/login/", "a deactivated account"
    User.objects.filter(pk=reviewer.pk).update(is_active=True)
    assert sign_in(browser(), key) == "/catalogue/"
    weak = SoftwareKey(verifies=False)
    assert add(signed_in("sam"), weak) == 422
    assert not Authenticator.objects.filter(user=stranger).exists()


def test_refused_passkeys_count_as_wrong_sign_ins(key: SoftwareKey, settings: Settings) -> None:
    settings.SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS = 3
    wrong = SoftwareKey()
    wrong.owner = key.owner
    for _try in range(3):
        assert sign_in(browser(), wrong) == "/login/"
    client = browser()
    options = client.get("/login/passkey/").text
    assert client.post("/login/passkey/", {"credential": key.get(options)}).status_code == 429


def test_removing_it_takes_the_recovery_codes_along(key: SoftwareKey, reviewer: User) -> None:
    client = browser()
    sign_in(client, key)
    passkey = Authenticator.objects.get(type="webauthn")
    other = browser()
    other.force_login(make_person("eve"))
    other.get("/settings/second-factor/")
    assert other.post(f"/settings/second-factor/{passkey.pk}/remove/").status_code == 404
    client.get("/settings/second-factor/")
    assert client.post(f"/settings/second-factor/{passkey.pk}/remove/").status_code == 302
    assert not Authenticator.objects.filter(user=reviewer).exists()


def test_passkey_is_offered_only_at_a_name_and_leads_to_own_pages(reviewer: User) -> None:
    client = WebClient(SERVER_NAME="127.0.0.1")
    assert "passkey" not in client.get("/login/").text
    client.post("/login/", {"username": "rita", "password": PASSWORD})
    page = client.get("/settings/second-factor/").text
    assert "http://localhost" in page and "Add a passkey" not in page
    client = browser()
    typed = {"username": "rita", "password": PASSWORD, "next": "abc"}
    assert client.post("/login/", typed)["Location"] == "/"
    typed = {"current_password": PASSWORD, "next": "abc"}
    assert client.post("/settings/confirm/", typed)["Location"] == "/settings/second-factor/"


def test_second_step_passkey_does_not_sign_in_alone(key: SoftwareKey) -> None:
    client = signed_in()
    options = client.get("/login/second-factor/").context["options"]
    key.verifies = False
    answer = client.post("/login/passkey/", {"credential": key.get(options)})
    assert answer["Location"] == "/login/" and "_auth_user_id" not in client.session
