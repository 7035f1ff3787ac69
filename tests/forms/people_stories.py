"""Form stories for accounts and the home page."""

from __future__ import annotations

from collections.abc import Callable

from axes.models import AccessAttempt
from django.http import HttpResponse

from pipeline.models import Action
from review import services
from review.models import Assignment
from scriptsmith_site.models import ApiToken, GuessCount, OneTimeLink, Profile
from scriptsmith_site.people.security_log import name_key
from scriptsmith_site.people.services import roles_of
from scriptsmith_site.people.sign_in.links import make_password_link
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.forms.story import Story, World, now
from tests.make import make_run
from tests.page_forms import TOKEN
from tests.people import PASSWORD

NEW_PASSWORD = "a good new passphrase"


def at(address: str) -> Callable[[World], str]:
    """Return a story step that opens a page without creating rows."""
    return lambda _world: address


def is_signed_in(world: World) -> bool:
    return "_auth_user_id" in world.client.session


def own_token(world: World) -> str:
    world.token, _secret = make_token(world.me, name="bot", scopes=["read"], days=30, by=world.me)
    return "/settings/"


def a_person(world: World) -> str:
    return f"/users/{world.person('stranger').pk}/"


def a_person_who_is_out(world: World) -> str:
    person = world.person("stranger")
    person.is_active = False
    person.save()
    return f"/users/{person.pk}/"


def a_person_who_is_locked_out(world: World) -> str:
    tries = {"ip_address": "192.0.2.7", "failures_since_start": 1000}
    AccessAttempt.objects.create(username=name_key("sam"), **tries)
    return a_person(world)


def an_address_that_is_locked_out(world: World) -> str:
    kind = GuessCount.Kind.SIGN_IN_ADDRESS
    world.count = GuessCount.objects.create(kind=kind, key="192.0.2.7", count=1000)
    return "/audit/security/"


def a_program(world: World) -> str:
    person = world.person("stranger")
    Profile.objects.update_or_create(user=person, defaults={"service_account": True})
    return f"/users/{person.pk}/"


def a_link(world: World) -> str:
    secret = make_password_link(world.person("stranger"), by=world.person("administrator"))
    return f"/set-password/{secret}/"


def an_old_form(world: World) -> HttpResponse:
    world.client.get("/settings/")
    typed = {"display_name": "Rita R.", "time_zone": "", "theme": "", TOKEN: "x" * 64}
    headers = {"Origin": "http://testserver"}
    return world.client.post("/settings/preferences/", typed, headers=headers)


def one_waits(world: World) -> str:
    world.item = services.take_in(make_run().pk)
    return "/"


def stranger_now(world: World) -> object:
    person = world.person("stranger")
    person.refresh_from_db()
    return person


PEOPLE = {
    ("components/_nav.html", "reviewer"): [
        Story(at("/settings/"), "logout", "Sign out").then(lambda w: not is_signed_in(w))
    ],
    ("registration/login.html", "visitor"): [
        Story(
            lambda w: w.person("reviewer") and "/login/",
            "login",
            "Sign in",
            {"username": "rita", "password": PASSWORD},
        ).then(is_signed_in)
    ],
    ("registration/send_again.html", "reviewer"): [
        Story(an_old_form, "settings-preferences", "Submit").then(lambda w: "Rita R." in w.text)
    ],
    ("people/set_password.html", "visitor"): [
        Story(
            a_link,
            "set-password",
            "Set password",
            {"password": NEW_PASSWORD, "repeated_password": NEW_PASSWORD},
        ).then(lambda w: stranger_now(w).check_password(NEW_PASSWORD))
    ],
    ("people/_tokens.html", "reviewer"): [
        Story(own_token, "token-revoke", "Revoke").then(lambda w: ApiToken.objects.get().revoked_at)
    ],
    ("people/keys.html", "reviewer"): [
        Story(at("/settings/keys/"), "settings-keys-save", "Save", {"approve": "Y"}).then(
            lambda w: Profile.objects.get(user=w.me).keys == {"approve": "y"}
        )
    ],
    ("people/settings.html", "reviewer"): [
        Story(
            at("/settings/"),
            "settings-preferences",
            "Save",
            {"display_name": "Rita R.", "time_zone": "Asia/Tokyo", "theme": "dark"},
        ).then(lambda w: Profile.objects.get(user=w.me).time_zone == "Asia/Tokyo"),
        Story(
            at("/settings/"),
            "settings-password",
            "Change password",
            {"current_password": PASSWORD, "new_password": NEW_PASSWORD},
        ).then(lambda w: type(w.me).objects.get(pk=w.me.pk).check_password(NEW_PASSWORD)),
        Story(
            at("/settings/"),
            "token-new",
            "Create token",
            {"name": "bot", "scopes": ["read", "ask"], "days": "30"},
        ).then(lambda w: ApiToken.objects.get().scopes == ["read", "ask"] and "sst_" in w.text),
    ],
    ("people/user.html", "administrator"): [
        Story(a_person, "user-roles", "Change roles", {"roles": ["curator"]}).then(
            lambda w: {one.value for one in roles_of(w.person("stranger"))} == {"curator"}
        ),
        Story(a_person, "user-address", "Save address", {"address": "stranger@example.org"}).then(
            lambda w: now(w.person("stranger")).email == "stranger@example.org"
        ),
        Story(
            a_person,
            "user-address",
            "Save address",
            {"address": "no address"},
            name="refused address",
            status=422,
        ).then(lambda w: "Enter a valid email address." in w.text and "no address" in w.text),
        Story(a_person, "user-password-link", "Create password link").then(
            lambda w: OneTimeLink.objects.get().user_id == w.person("stranger").pk
        ),
        Story(a_person, "user-deactivate", "Deactivate").then(
            lambda w: not stranger_now(w).is_active
        ),
        Story(a_person_who_is_locked_out, "user-unlock", "Lift lockout").then(
            lambda w: not AccessAttempt.objects.exists()
        ),
        Story(a_person, "user-reset", "Reset password").then(
            lambda w: (
                not stranger_now(w).check_password(PASSWORD) and OneTimeLink.objects.count() == 1
            )
        ),
        Story(a_person_who_is_out, "user-reactivate", "Reactivate").then(
            lambda w: stranger_now(w).is_active
        ),
        Story(
            a_person_who_is_out,
            "user-anonymise",
            "Anonymize permanently",
            {"confirmed_name": "sam"},
        ).then(lambda w: stranger_now(w).username != "sam"),
        Story(
            a_program,
            "user-token-new",
            "Create token",
            {"name": "chat", "scopes": ["read"], "days": "90"},
        ).then(lambda w: ApiToken.objects.get().user_id == w.person("stranger").pk),
    ],
    ("site/security.html", "administrator"): [
        Story(an_address_that_is_locked_out, "audit-lockout-lift", "Lift").then(
            lambda w: not GuessCount.objects.filter(pk=w.count.pk).exists()
        )
    ],
    ("people/user_new.html", "administrator"): [
        Story(
            at("/users/new/"),
            "user-new",
            "Create account",
            {"username": "nina", "display_name": "Nina", "roles": ["reviewer", "curator"]},
        ).then(lambda w: type(w.me).objects.get(username="nina").groups.count() == 2)
    ],
    ("site/home/_reviewing.html", "reviewer"): [
        Story(one_waits, "queue-next", "Start reviewing").then(
            lambda w: Assignment.objects.get(item=w.item).reviewer == w.me
        )
    ],
    ("site/home.html", "reviewer"): [
        Story(
            at("/"), "action-new", "Request script", {"statement": "List all sockets that listen"}
        ).then(lambda w: Action.objects.get().statement == "List all sockets that listen"),
        Story(
            at("/"),
            "action-new",
            "Add context",
            {"statement": "List all sockets that listen"},
            name="with context",
        ).then(
            lambda w: (
                "List all sockets that listen</textarea>" in w.text and not Action.objects.exists()
            )
        ),
    ],
}
