"""Form stories of accounts and of the home page."""

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
    """A page that needs nothing to be there."""
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


PEOPLE = (
    Story(
        "components/_nav.html",
        "reviewer",
        at("/settings/"),
        "logout",
        press="Sign out",
        then=lambda w: not is_signed_in(w),
    ),
    Story(
        "registration/login.html",
        "visitor",
        lambda w: w.person("reviewer") and "/login/",
        "login",
        fill={"username": "rita", "password": PASSWORD},
        press="Sign in",
        then=is_signed_in,
    ),
    Story(
        "registration/send_again.html",
        "reviewer",
        an_old_form,
        "settings-preferences",
        press="Send it now",
        then=lambda w: "Rita R." in w.text,
    ),
    Story(
        "people/set_password.html",
        "visitor",
        a_link,
        "set-password",
        fill={"password": NEW_PASSWORD, "repeated_password": NEW_PASSWORD},
        press="Set password",
        then=lambda w: stranger_now(w).check_password(NEW_PASSWORD),
    ),
    Story(
        "people/_tokens.html",
        "reviewer",
        own_token,
        "token-revoke",
        press="Revoke",
        then=lambda w: ApiToken.objects.get().revoked_at,
    ),
    Story(
        "people/keys.html",
        "reviewer",
        at("/settings/keys/"),
        "settings-keys-save",
        fill={"approve": "Y"},
        press="Save",
        then=lambda w: Profile.objects.get(user=w.me).keys == {"approve": "y"},
    ),
    Story(
        "people/settings.html",
        "reviewer",
        at("/settings/"),
        "settings-preferences",
        fill={"display_name": "Rita R.", "time_zone": "Asia/Tokyo", "theme": "dark"},
        press="Save",
        then=lambda w: Profile.objects.get(user=w.me).time_zone == "Asia/Tokyo",
    ),
    Story(
        "people/settings.html",
        "reviewer",
        at("/settings/"),
        "settings-password",
        fill={"current_password": PASSWORD, "new_password": NEW_PASSWORD},
        press="Change password",
        then=lambda w: type(w.me).objects.get(pk=w.me.pk).check_password(NEW_PASSWORD),
    ),
    Story(
        "people/settings.html",
        "reviewer",
        at("/settings/"),
        "token-new",
        fill={"name": "bot", "scopes": ["read", "ask"], "days": "30"},
        press="Make token",
        then=lambda w: ApiToken.objects.get().scopes == ["read", "ask"] and "sst_" in w.text,
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person,
        "user-roles",
        fill={"roles": ["curator"]},
        press="Change roles",
        then=lambda w: {one.value for one in roles_of(w.person("stranger"))} == {"curator"},
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person,
        "user-address",
        fill={"address": "stranger@example.org"},
        press="Save the address",
        then=lambda w: now(w.person("stranger")).email == "stranger@example.org",
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person,
        "user-address",
        fill={"address": "no address"},
        press="Save the address",
        then=lambda w: "This is no e-mail address." in w.text and "no address" in w.text,
        name="refused address",
        status=422,
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person,
        "user-password-link",
        press="Make a password link",
        then=lambda w: OneTimeLink.objects.get().user_id == w.person("stranger").pk,
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person,
        "user-deactivate",
        press="Deactivate",
        then=lambda w: not stranger_now(w).is_active,
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person_who_is_locked_out,
        "user-unlock",
        press="Let them try again",
        then=lambda w: not AccessAttempt.objects.exists(),
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person,
        "user-reset",
        press="Reset the password now",
        then=lambda w: (
            not stranger_now(w).check_password(PASSWORD) and OneTimeLink.objects.count() == 1
        ),
    ),
    Story(
        "site/security.html",
        "administrator",
        an_address_that_is_locked_out,
        "audit-lockout-lift",
        press="Lift",
        then=lambda w: not GuessCount.objects.filter(pk=w.count.pk).exists(),
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person_who_is_out,
        "user-reactivate",
        press="Reactivate",
        then=lambda w: stranger_now(w).is_active,
    ),
    Story(
        "people/user.html",
        "administrator",
        a_person_who_is_out,
        "user-anonymise",
        fill={"confirmed_name": "sam"},
        press="Anonymise for good",
        then=lambda w: stranger_now(w).username != "sam",
    ),
    Story(
        "people/user.html",
        "administrator",
        a_program,
        "user-token-new",
        fill={"name": "chat", "scopes": ["read"], "days": "90"},
        press="Make token",
        then=lambda w: ApiToken.objects.get().user_id == w.person("stranger").pk,
    ),
    Story(
        "people/user_new.html",
        "administrator",
        at("/users/new/"),
        "user-new",
        fill={"username": "nina", "display_name": "Nina", "roles": ["reviewer", "curator"]},
        press="Make account",
        then=lambda w: type(w.me).objects.get(username="nina").groups.count() == 2,
    ),
    Story(
        "site/home/_reviewing.html",
        "reviewer",
        one_waits,
        "queue-next",
        press="Start reviewing",
        then=lambda w: Assignment.objects.get(item=w.item).reviewer == w.me,
    ),
    Story(
        "site/home.html",
        "reviewer",
        at("/"),
        "action-new",
        fill={"statement": "List all sockets that listen"},
        press="Get a script",
        then=lambda w: Action.objects.get().statement == "List all sockets that listen",
    ),
)
