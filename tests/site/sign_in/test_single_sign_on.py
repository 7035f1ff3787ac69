"""Tests for single sign-on with a real provider on loopback: accounts, roles and rejected sign-ins."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from core.errors import BadInput, NotAllowedNow
from scriptsmith_site.integrations.single_sign_on.claims import read_claims
from scriptsmith_site.models import Door, NotificationChoices, Profile, SecurityEvent, Session
from scriptsmith_site.people.services import change_roles, roles_of, set_address
from scriptsmith_site.people.sign_in.links import make_password_link
from scriptsmith_site.people.sign_in.own_sessions import sessions_of
from scriptsmith_site.people.sign_in.tokens import find_token, make_token
from tests.people import PASSWORD, make_person
from tests.site.sign_in.codes import add_app, code_of
from tests.site.sign_in.software_key import SoftwareKey
from tests.web_client import WebClient

if TYPE_CHECKING:
    from tests.site.sign_in.provider import Provider

pytestmark = pytest.mark.django_db
START = "/login/single-sign-on/"


def signed_in_as(client: Client) -> str:
    key = client.session.get("_auth_user_id")
    return User.objects.get(pk=key).username if key else ""


def roles(name: str) -> set[str]:
    return {str(role) for role in roles_of(User.objects.get(username=name))}


def security(name: str) -> list[str]:
    lines = SecurityEvent.objects.filter(user__username=name).order_by("pk")
    return [f"{line.kind} {line.detail}".strip() for line in lines]


@pytest.mark.slow
def test_groups_give_roles(provider: Provider, client: WebClient) -> None:
    answer = provider.sign_in(client, next_url="/catalogue/")
    assert (answer.status_code, answer["Location"]) == (302, "/catalogue/")
    assert signed_in_as(client) == "alice"
    alice = User.objects.get(username="alice")
    assert alice.first_name == "Alice A." and not alice.has_usable_password()
    assert roles("alice") == {"reviewer"}
    assert SocialAccount.objects.get().extra_data == {}, "nothing of the provider's is kept"
    log = security("alice")
    assert log == [
        "account-made",
        f"identity-linked {provider.issuer}",
        "role-given reviewer",
        "signed-in single sign-on",
    ]
    events = LogEntry.objects.get_for_object(alice).values_list("additional_data", flat=True)
    assert {one["event"] for one in events if one} >= {
        "account created", "identity linked", "roles changed",
    }  # fmt: skip

    session = Session.objects.get(user=alice)
    assert session.proofs == "single sign-on"
    assert session.expire_date <= timezone.now() + timedelta(hours=8)


@pytest.mark.slow
def test_state_is_bound_to_session(provider: Provider, client: WebClient) -> None:
    address = provider.leave(client)
    asked = parse_qs(urlsplit(address).query)
    assert asked["code_challenge_method"] == ["S256"] and asked["nonce"] and asked["state"]
    assert asked["redirect_uri"] == ["http://testserver/login/single-sign-on/callback/"]
    back = provider.agree(address, "alice")
    assert WebClient().get(back).status_code == 401, "of another browser"
    assert client.get(back).status_code == 302
    client.get("/settings/")
    client.post("/logout/")
    assert client.get(back).status_code == 401, "once more"


@pytest.mark.slow
def test_groups_give_and_take_at_each_sign_in_and_what_was_lost_ends_sessions_and_tokens(
    provider: Provider, client: WebClient, administrator: User
) -> None:
    provider.sign_in(client)
    alice = User.objects.get(username="alice")
    change_roles(alice, roles=["reviewer", "manager"], by=administrator)
    token = make_token(alice, name="bot", scopes=["read"], days=9, by=alice)

    provider.knows("alice", groups=["staff", "sre", "owners"])
    other = WebClient()
    provider.sign_in(other)
    assert roles("alice") == {"reviewer", "curator", "manager"}, "managers are not made by groups"
    assert find_token(token.secret, address=None) is not None
    assert client.get("/settings/").status_code == 200, "a group more ends nothing"

    provider.knows("alice", groups=["staff"])
    third = WebClient()
    provider.sign_in(third)
    assert roles("alice") == {"manager"}
    assert find_token(token.secret, address=None) is None
    assert client.get("/settings/").status_code == other.get("/settings/").status_code == 302
    assert third.get("/settings/").status_code == 200
    assert "role-taken curator reviewer" in security("alice")


@pytest.mark.slow
def test_user_who_may_not_enter_any_more_loses_everything_at_once(provider: Provider) -> None:
    provider.knows("mallory", groups=["<script>alert(1)</script>", 7, None])
    assert provider.sign_in(WebClient(), "mallory").status_code == 403
    assert not User.objects.exists(), "nor does a user get an account who never was in a group"
    assert SecurityEvent.objects.get().kind == "entry-refused"
    for groups, words in (
        ({"groups": ["sre"]}, "None of your groups may use ScriptSmith"),
        ({}, "did not send your groups"),  # providers do this if a user has too many groups
        ({"groups": {"staff": 1}}, "did not send your groups"),
    ):
        provider.knows("alice", groups=["staff", "sre"])
        client = WebClient()
        provider.sign_in(client)
        alice = User.objects.get(username="alice")
        token = make_token(alice, name="bot", scopes=["read"], days=9, by=alice)
        assert roles("alice") and find_token(token.secret, address=None) is not None
        provider.knows("alice", **groups)
        refused = provider.sign_in(WebClient())
        assert refused.status_code == 403 and words in refused.text
        assert roles("alice") == set(), groups
        assert find_token(token.secret, address=None) is None, groups
        assert client.get("/settings/").status_code == 302, groups
        assert security("alice")[-1].startswith("entry-refused")


@pytest.mark.slow
def test_an_administrator_is_made_by_a_group_only_where_a_setting_says_so_and_a_local_one_always_remains(
    provider: Provider, client: WebClient, settings: Settings, administrator: User
) -> None:
    provider.knows("alice", groups=["staff", "administrator", "admins"])
    provider.sign_in(client)
    assert roles("alice") == set()

    settings.SCRIPTSMITH_OIDC_ROLES = {"administrator": ["admins"]}
    provider.sign_in(WebClient())
    assert roles("alice") == {"administrator"}
    provider.knows("alice", groups=["staff"])
    provider.sign_in(WebClient())
    assert roles("alice") == set(), "taken as it was given: adam is left"

    provider.knows("alice", groups=["staff", "admins"])
    provider.sign_in(WebClient())
    User.objects.filter(pk=administrator.pk).update(is_active=False)
    provider.knows("alice", groups=["staff"])
    provider.sign_in(WebClient())
    assert roles("alice") == {"administrator"}, "the last one"
    User.objects.filter(pk=administrator.pk).update(is_active=True)

    # adam was linked manually, so no group mapping removes his role, and his password still works.
    SocialAccount.objects.create(user=administrator, provider=provider.issuer, uid="adam")
    provider.knows("adam", groups=["staff"])
    provider.sign_in(WebClient(), "adam")
    assert roles("adam") == {"administrator"}
    local = WebClient()
    assert local.post("/login/", {"username": "adam", "password": PASSWORD}).status_code == 302


class TestLinking:
    """Tests that accounts are linked by an address that the provider has verified, if a setting trusts the provider."""

    @pytest.fixture
    def bob(self) -> User:
        bob = make_person("bob", "reviewer")
        NotificationChoices.objects.create(
            person=bob, mail_address="Alice@example.org", confirmed_at=timezone.now()
        )
        return bob

    @pytest.mark.slow
    def test_a_verified_address_gets_the_account_and_its_password_ends(
        self, provider: Provider, client: WebClient, settings: Settings, bob: User
    ) -> None:
        settings.SCRIPTSMITH_OIDC_LINK_BY_EMAIL = True
        token = make_token(bob, name="bot", scopes=["read"], days=9, by=bob)
        provider.sign_in(client)
        assert signed_in_as(client) == "bob"
        assert f"identity-linked {provider.issuer}" in security("bob")
        bob.refresh_from_db()
        assert not bob.has_usable_password(), "the provider alone lets him in"
        assert find_token(token.secret, address=None) is None
        with pytest.raises(NotAllowedNow, match="single sign-on"):
            make_password_link(bob, by=None)

    @pytest.mark.slow
    def test_unverified_and_unconfirmed_addresses_join_nothing(
        self, provider: Provider, settings: Settings, bob: User
    ) -> None:
        provider.sign_in(client := WebClient())
        assert signed_in_as(client) == "alice", "off unless a setting trusts the provider"
        settings.SCRIPTSMITH_OIDC_LINK_BY_EMAIL = True
        for number, verified in enumerate((False, None, "no", 1, True)):
            if verified is True:
                # bob has not confirmed the address.
                NotificationChoices.objects.update(confirmed_at=None)
            name, client = f"alice{number}", WebClient()
            claims = {"email": "alice@example.org", "email_verified": verified}
            provider.knows(name, groups=["staff"], **claims)
            provider.sign_in(client, name)
            assert signed_in_as(client) == name, verified

    @pytest.mark.slow
    def test_an_address_by_an_administrators_word_joins_and_a_change_of_it_takes_that_back(
        self,
        provider: Provider,
        client: WebClient,
        settings: Settings,
        bob: User,
        administrator: User,
    ) -> None:
        settings.SCRIPTSMITH_OIDC_LINK_BY_EMAIL = True
        NotificationChoices.objects.update(confirmed_at=None)
        set_address(bob, address="Alice@example.org", by=administrator)
        with pytest.raises(BadInput, match="Another account"):
            set_address(administrator, address="alice@example.org", by=administrator)
        with pytest.raises(PermissionDenied):
            set_address(bob, address="bob@example.org", by=bob)
        set_address(bob, address="bob@example.org", by=administrator)
        lines = LogEntry.objects.filter(additional_data__event="email address set")
        assert lines.count() == 2 and "example.org" not in str(list(lines.values()))
        provider.sign_in(client)
        assert signed_in_as(client) == "alice", "the address of before joins nothing any more"
        set_address(bob, address="carol@example.org", by=administrator)
        provider.knows("carol", email="carol@example.org", email_verified=True, groups=["staff"])
        other = WebClient()
        provider.sign_in(other, "carol")
        assert signed_in_as(other) == "bob"

    @pytest.mark.slow
    @pytest.mark.parametrize("what", ["administrator", "service", "inactive", "linked", "two"])
    def test_some_accounts_are_never_joined(
        self, provider: Provider, client: WebClient, settings: Settings, bob: User, what: str
    ) -> None:
        settings.SCRIPTSMITH_OIDC_LINK_BY_EMAIL = True
        if what == "administrator":
            change_roles(bob, roles=["administrator"], by=None)
        elif what == "service":
            Profile.objects.create(user=bob, service_account=True)
        elif what == "inactive":
            User.objects.filter(pk=bob.pk).update(is_active=False)
        elif what == "linked":
            SocialAccount.objects.create(user=bob, provider=provider.issuer, uid="bob")
        else:
            User.objects.create_user("eve", email="alice@example.org")
        refused = provider.sign_in(client)
        assert refused.status_code == 403 and "be linked to single sign-on" in refused.text
        assert signed_in_as(client) == "" and not User.objects.filter(username="alice").exists()


@pytest.mark.slow
def test_taken_name_gets_a_number(provider: Provider, client: WebClient) -> None:
    make_person("Alice")
    provider.sign_in(client)
    assert signed_in_as(client) == "alice-2"
    hostile = "<script>\u202e" + "x" * 400
    provider.knows("eve", preferred_username=hostile, name="\x00" + hostile, groups="staff")
    other = WebClient()
    assert provider.sign_in(other, "eve").status_code == 302
    assert re.fullmatch(r"script--x+", signed_in_as(other))
    page = other.get("/settings/").text
    assert "<script>\u202e" not in page


def _wrong(name: str, value: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda claims: {**claims, name: value}


@pytest.mark.slow
def test_invalid_id_token_signs_nobody_in(
    provider: Provider, client: WebClient, subtests: pytest.Subtests
) -> None:
    """Only a real exchange with a provider can show that every claim is checked."""
    claims_are_sent = provider.id_token
    for claim, value, why in (
        ("iss", "https://other.example.org", "issuer"),
        ("aud", "another client", "udience"),
        ("aud", ["scriptsmith", "another"], "several audiences"),
        ("exp", 1_000_000_000, "expired"),
        ("iat", 4_000_000_000, "iat"),
        ("nonce", "of another sign-in", "nonce"),
        ("sub", "bob", "different users"),  # the userinfo response names another user
    ):
        with subtests.test(claim, value=value):
            Door.objects.update(last_error="")
            provider.id_token = _wrong(claim, value)
            refused = provider.sign_in(client)
            assert refused.status_code == 401 and "sign-in failed" in refused.text
            assert why not in refused.text, "the reason is for administrators"
            assert why in Door.objects.get(name="single sign-on").last_error
            assert signed_in_as(client) == "" and not User.objects.exists()
            line = SecurityEvent.objects.latest("pk")
            assert line.kind == "sign-in-failed" and line.detail.startswith("single sign-on: ")
    assert SecurityEvent.objects.count() == 7
    provider.id_token = lambda claims: {k: v for k, v in claims.items() if k != "nonce"}
    assert provider.sign_in(client).status_code == 401
    provider.id_token, provider.forge = claims_are_sent, True
    assert provider.sign_in(client).status_code == 401
    assert "ignature" in Door.objects.get(name="single sign-on").last_error
    assert signed_in_as(client) == ""


@pytest.mark.slow
def test_misnamed_provider_is_not_asked(provider: Provider, client: WebClient) -> None:
    provider.discovery = _wrong("issuer", "https://other.example.org")
    client.get("/login/")
    answer = client.post(START)
    assert answer.status_code == 503 and "is unavailable" in answer.text
    assert "https://other.example.org" in Door.objects.get().last_error
    assert set(provider.asked) <= {"/users/alice", "/.well-known/openid-configuration"}


def test_provider_addresses_obey_rules(provider: Provider, client: WebClient) -> None:
    for address in (
        "http://169.254.169.254/keys",
        "file:///etc/passwd",
        "http://127.0.0.1:25/keys",
    ):
        cache.clear()
        Door.objects.update(last_error="")
        provider.discovery = _wrong("jwks_uri", address)
        client.get("/login/")
        if client.post(START).status_code == 200:
            assert provider.sign_in(client).status_code == 401, address
        last_error = Door.objects.get(name="single sign-on").last_error
        assert last_error and ("port 25" in last_error) is (":25" in address), address
        assert signed_in_as(client) == ""


def test_saying_no_there_is_no_error(provider: Provider, client: WebClient) -> None:
    state = parse_qs(urlsplit(provider.leave(client)).query)["state"][0]
    answer = client.get(f"/login/single-sign-on/callback/?error=access_denied&state={state}")
    assert answer.status_code == 200 and "You canceled the sign-in" in answer.text
    assert not Door.objects.exclude(last_error="").exists()


@pytest.mark.slow
def test_the_page_says_how_it_is_and_tests_and_pauses(
    provider: Provider, as_administrator: Client, administrator: User, settings: Settings
) -> None:
    page = as_administrator.get("/integrations/single-sign-on/").text
    assert provider.issuer in page and "sre leads, owners" in page
    assert f'href="/users/{administrator.pk}/">adam</a>' in page
    tested = as_administrator.post("/integrations/single-sign-on/test/").text
    assert "issuer " in tested and "failed" not in tested
    assert Door.objects.get().last_success_at is not None

    provider.discovery = _wrong("issuer", "<b>https://other</b>")
    tested = as_administrator.post("/integrations/single-sign-on/test/").text
    assert "failed" in tested and "<b>https" not in tested
    assert "failing" in as_administrator.get("/integrations/").text
    provider.discovery = lambda document: document

    as_administrator.get("/integrations/single-sign-on/")
    as_administrator.post("/integrations/single-sign-on/pause/")
    assert "paused" in as_administrator.get("/integrations/").text
    somebody = WebClient()
    assert "Corporate ID" not in somebody.get("/login/").text
    assert somebody.post(START).status_code == 409
    as_administrator.post("/integrations/single-sign-on/resume/")
    assert provider.sign_in(somebody).status_code == 302
    events = [
        one["event"] for one in LogEntry.objects.values_list("additional_data", flat=True) if one
    ]
    assert {"single sign-on paused", "single sign-on resumed", "single sign-on tested"} <= set(
        events
    )


def test_where_no_provider_is_set_there_is_no_button_and_no_address(client: WebClient) -> None:
    assert "single-sign-on" not in client.get("/login/").text
    assert client.post(START).status_code == 404
    assert client.get("/login/single-sign-on/callback/?code=1&state=2").status_code == 404


@pytest.mark.slow
def test_tokens_rest_while_their_person_has_not_come_by_the_provider_for_long(
    provider: Provider, client: WebClient, settings: Settings
) -> None:
    provider.sign_in(client)
    alice = User.objects.get(username="alice")
    token = make_token(alice, name="bot", scopes=["read"], days=None, by=alice)
    long_ago = timezone.now() - timedelta(days=31)
    SocialAccount.objects.update(last_login=long_ago)
    assert find_token(token.secret, address=None) is None
    issuer, settings.SCRIPTSMITH_OIDC_ISSUER = settings.SCRIPTSMITH_OIDC_ISSUER, ""
    assert find_token(token.secret, address=None) is None, "nor where nobody can come any more"
    settings.SCRIPTSMITH_OIDC_ISSUER = issuer
    SocialAccount.objects.create(user=alice, provider="https://former.example.org", uid="alice")
    SocialAccount.objects.filter(uid="alice").exclude(provider=issuer).update(last_login=long_ago)
    provider.sign_in(WebClient())
    assert find_token(token.secret, address=None) is not None


@pytest.mark.slow
def test_an_administrator_removes_the_identity_and_the_person_needs_a_link(
    provider: Provider, client: WebClient, as_administrator: Client
) -> None:
    provider.sign_in(client)
    alice = User.objects.get(username="alice")
    token = make_token(alice, name="bot", scopes=["read"], days=None, by=alice)
    SocialAccount.objects.update(last_login=timezone.now() - timedelta(days=31))
    page = as_administrator.get(f"/users/{alice.pk}/").text
    assert "Remove single sign-on" in page and "Create password link" not in page
    as_administrator.post(f"/users/{alice.pk}/identity/remove/")
    assert client.get("/settings/").status_code == 302
    assert "identity-removed" in security("alice")
    assert find_token(token.secret, address=None) is None, "it does not wake"
    assert "Create password link" in as_administrator.get(f"/users/{alice.pk}/").text


def test_nobody_removes_their_own_identity(
    provider: Provider, administrator: User, as_administrator: Client
) -> None:
    SocialAccount.objects.create(user=administrator, provider=provider.issuer, uid="adam")
    own = f"/users/{administrator.pk}/"
    assert "Remove single sign-on" not in as_administrator.get(own).text
    assert as_administrator.post(f"{own}identity/remove/").status_code == 422
    assert SocialAccount.objects.exists()


@pytest.mark.slow
def test_passkey_follows_provider(provider: Provider, settings: Settings) -> None:
    def browser() -> WebClient:
        return WebClient(SERVER_NAME="localhost")

    client, key = browser(), SoftwareKey()
    provider.sign_in(client)
    page = client.get("/settings/")
    assert "Change password" not in page.text and "Anyone with your password" not in page.text
    assert "does not replace single sign-on" in client.get("/settings/second-factor/").text
    options = client.get("/settings/second-factor/passkey/").context["options"]
    typed = {"name": "ring", "credential": key.create(options)}
    added = client.post("/settings/second-factor/passkey/", typed)
    assert "a second step after single sign-on" in added.text

    second = browser()
    assert provider.sign_in(second)["Location"] == "/login/second-factor/"
    options = second.get("/login/second-factor/").context["options"]
    second.post("/login/second-factor/", {"credential": key.get(options)})
    assert signed_in_as(second) == "alice"

    for issuer in (provider.issuer, "https://another.example.org", ""):
        settings.SCRIPTSMITH_OIDC_ISSUER = issuer
        alone = browser()
        typed = {"credential": key.get(alone.get("/login/passkey/").text)}
        answer = alone.post("/login/passkey/", typed, follow=True)
        assert "Use single sign-on first" in answer.text and signed_in_as(alone) == ""
    assert security("alice")[-1] == "sign-in-failed passkey, without single sign-on"


@pytest.mark.slow
def test_locked_user_stays_out(provider: Provider, client: WebClient) -> None:
    provider.sign_in(client)
    alice = User.objects.get(username="alice")
    secret, _codes = add_app(alice)
    waiting = WebClient()
    assert provider.sign_in(waiting)["Location"] == "/login/second-factor/"
    assert sessions_of(alice).count() == 1, "what waits is not listed"
    provider.knows("alice", groups=[])
    assert provider.sign_in(WebClient()).status_code == 403
    answer = waiting.post("/login/second-factor/", {"code": code_of(secret)})
    assert answer["Location"] == "/login/" and signed_in_as(waiting) == ""


@pytest.mark.slow
def test_open_sign_ins_are_limited(provider: Provider, settings: Settings) -> None:
    settings.SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS = 2
    for _time in range(3):
        assert provider.sign_in(WebClient()).status_code == 302, "what is finished is given back"
    works = Door.objects.get().last_success_at
    visitor = WebClient()
    for _time in range(2):
        state = parse_qs(urlsplit(provider.leave(visitor)).query)["state"][0]
        made_up = {"code": "made up", "state": state}
        assert visitor.get("/login/single-sign-on/callback/", made_up).status_code == 401
    assert visitor.post(START).status_code == 429
    door = Door.objects.get()
    assert (door.last_error, door.last_success_at) == ("", works)
    assert SecurityEvent.objects.filter(kind="sign-in-failed").count() == 2


@pytest.mark.slow
def test_provider_metadata_is_cached(provider: Provider, client: WebClient) -> None:
    provider.sign_in(client, next_url="abc")
    callback = "/login/single-sign-on/callback/"
    assert client.get(callback, {"next": "abc"})["Location"] == "/"
    assert client.get(callback, {"next": "/catalogue/"})["Location"] == "/catalogue/"
    provider.sign_in(WebClient())
    assert provider.asked.count("/.well-known/openid-configuration") == 1
    cache.clear()
    provider.sign_in(WebClient())
    assert provider.asked.count("/.well-known/openid-configuration") == 2


def test_email_is_verified_only_if_no_document_of_the_provider_says_otherwise() -> None:
    """Each case has the claims of both documents and whether the address is verified."""
    ann, bob = "ann@example.org", "bob@example.org"
    cases: list[tuple[dict[str, object], dict[str, object], bool]] = [
        ({"email": ann, "email_verified": True}, {}, True),
        ({}, {"email": ann, "email_verified": "true"}, True),
        ({"email": ann, "email_verified": True}, {"email": ann, "email_verified": True}, True),
        ({"email_verified": True}, {"email": ann}, True),
        ({"email": ann, "email_verified": False}, {"email": ann, "email_verified": True}, False),
        ({"email": ann, "email_verified": True}, {"email": ann, "email_verified": False}, False),
        ({"email": ann, "email_verified": "no"}, {"email": ann, "email_verified": True}, False),
        ({"email": ann, "email_verified": True}, {"email": bob}, False),
        ({"email": ann}, {"email": ann}, False),
    ]
    wrong = []
    for token, userinfo, verified in cases:
        documents = {"iss": "i", "sub": "s", **token}, {"sub": "s", **userinfo}
        if read_claims(*documents, groups_claim="groups").has_verified_email != verified:
            wrong.append((token, userinfo))
    assert not wrong
