"""Form stories for second factors, sessions and single sign-on."""

from __future__ import annotations

from datetime import timedelta

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.html import escape

from scriptsmith_site.models import Door, Session
from scriptsmith_site.people.second_factor import services
from tests.forms.people_stories import a_person, at, is_signed_in
from tests.forms.story import Story, World
from tests.people import PASSWORD
from tests.site.sign_in.codes import add_app, code_of
from tests.site.sign_in.software_key import SoftwareKey
from tests.web_client import WebClient

FACTORS = "people/second_factor/list.html"
PROVIDER = "integrations/single_sign_on/provider.html"
OWN = "/settings/second-factor/"


def with_app(world: World) -> str:
    world.secret, world.codes = add_app(world.me)
    return OWN


def an_app_to_add(world: World) -> str:
    session = world.client.session
    world.secret = session["new_app_secret"] = services.new_app_secret()
    session.save()
    return f"{OWN}app/"


def a_passkey_made(world: World) -> HttpResponse:
    """Return the passkey page, with a created credential in its form field."""
    world.client.defaults["SERVER_NAME"] = "localhost"
    page = world.client.get(f"{OWN}passkey/")
    made = escape(SoftwareKey().create(page.context["options"]))
    page.content = page.content.replace(
        b'name="credential"', f'name="credential" value="{made}"'.encode()
    )
    return page


def half_signed_in(world: World) -> str:
    world.secret, world.codes = add_app(world.person("reviewer"))
    world.client.post("/login/", {"username": "rita", "password": PASSWORD})
    return "/login/second-factor/"


def signed_in_long_ago(world: World) -> str:
    session = world.client.session
    session["proved_at"] = (timezone.now() - timedelta(hours=1)).isoformat()
    session.save()
    return f"{OWN}app/"


def without_password(world: World) -> str:
    world.me.set_unusable_password()
    world.me.save()
    world.client.force_login(world.me)
    return signed_in_long_ago(world)


def two_sessions(world: World) -> str:
    world.other = WebClient()
    world.other.force_login(world.me)
    return "/settings/sessions/"


def a_person_with_app(world: World) -> str:
    add_app(world.person("stranger"))
    return a_person(world)


def a_person_of_the_provider(world: World) -> str:
    person = world.person("stranger")
    SocialAccount.objects.create(user=person, provider=settings.SCRIPTSMITH_OIDC_ISSUER, uid="sam")
    return a_person(world)


def a_paused_door(world: World) -> str:
    Door.objects.create(name="single sign-on", paused_at=timezone.now())
    return "/integrations/single-sign-on/"


SIGN_IN = {
    ("registration/login.html", "visitor"): [
        Story(at("/login/"), "single-sign-on-start", status=503).then(
            lambda w: "is unavailable" in w.text
        )
    ],
    ("registration/second_factor.html", "visitor"): [
        Story(
            half_signed_in, "second-factor-ask", "Continue", lambda w: {"code": code_of(w.secret)}
        ).then(is_signed_in)
    ],
    ("people/second_factor/add_app.html", "reviewer"): [
        Story(
            an_app_to_add, "second-factor-app", "Add app", lambda w: {"code": code_of(w.secret)}
        ).then(
            lambda w: (
                Authenticator.objects.filter(user=w.me, type="totp").exists()
                and "Your recovery codes" in w.text
            )
        )
    ],
    ("people/second_factor/add_passkey.html", "reviewer"): [
        Story(a_passkey_made, "second-factor-passkey", "Create passkey", {"name": "laptop"}).then(
            lambda w: Authenticator.objects.get(type="webauthn").data["name"] == "laptop"
        )
    ],
    (FACTORS, "reviewer"): [
        Story(with_app, "second-factor-codes", "Create new codes").then(
            lambda w: "shown only once" in w.text
        ),
        Story(with_app, "second-factor-remove", "Remove").then(
            lambda w: not Authenticator.objects.exists()
        ),
    ],
    ("people/confirm.html", "reviewer"): [
        Story(signed_in_long_ago, "confirm", "Continue", {"current_password": PASSWORD}).then(
            lambda w: "Add an authenticator app" in w.text
        ),
        Story(without_password, "logout", "Sign out", name="without a password").then(
            lambda w: not is_signed_in(w)
        ),
    ],
    ("people/sessions.html", "reviewer"): [
        Story(two_sessions, "session-end", "End session").then(
            lambda w: Session.objects.filter(user=w.me).count() == 1
        ),
        Story(two_sessions, "session-end-others", "End all other sessions").then(
            lambda w: w.other.get("/settings/").status_code == 302
        ),
    ],
    ("people/user.html", "administrator"): [
        Story(a_person_with_app, "user-second-factor-remove", "Remove second factor").then(
            lambda w: not Authenticator.objects.exists()
        ),
        Story(a_person_of_the_provider, "user-identity-remove", "Remove single sign-on").then(
            lambda w: not SocialAccount.objects.exists()
        ),
    ],
    (PROVIDER, "administrator"): [
        Story(at("/integrations/single-sign-on/"), "single-sign-on-test", "Test now").then(
            lambda w: "failed" in w.text and Door.objects.get().last_error
        ),
        Story(at("/integrations/single-sign-on/"), "single-sign-on-pause", "Pause").then(
            lambda w: Door.objects.get().paused_at
        ),
        Story(a_paused_door, "single-sign-on-resume", "Resume").then(
            lambda w: Door.objects.get().paused_at is None
        ),
    ],
}
