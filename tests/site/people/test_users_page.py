"""Tests that administrators manage accounts, and that the last administrator is protected."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from core.errors import Refused
from scriptsmith_site.models import ApiToken
from scriptsmith_site.people import services
from scriptsmith_site.people.roles import ADMINISTER, PERMISSIONS, Role, make_roles
from scriptsmith_site.people.services import roles_of
from scriptsmith_site.people.sign_in.tokens import make_token
from tests import people
from tests.people import make_person
from tests.web_client import WebClient

admin = people.as_administrator


def test_user_in_an_unknown_group_has_a_page(admin: Client, reviewer: User) -> None:
    reviewer.groups.add(Group.objects.create(name="choir"))
    assert admin.get(f"/users/{reviewer.pk}/").status_code == 200


def test_list_is_filtered(admin: Client, reviewer: User, curator: User, stranger: User) -> None:
    User.objects.filter(pk=stranger.pk).update(is_active=False)
    for query, expected in (
        ("", {"adam", "rita", "carla", "sam"}),
        ("q=RIT", {"rita"}),
        ("role=curator", {"carla"}),
        ("state=inactive", {"sam"}),
        ("role=curator&state=inactive", set()),
    ):
        text = admin.get(f"/users/?{query}").content.decode()
        assert set(re.findall(r'href="/users/\d+/">([^<]+)</a>', text)) == expected, query
        assert ("No matches" in text) is (not expected), query


def test_the_list_asks_a_fixed_number_of_questions(
    admin: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(60):
        make_person(f"person{number}", "reviewer")
    admin.get("/users/")  # caches the content types
    with django_assert_num_queries(5):
        text = admin.get("/users/").content.decode()
    assert "before=" in text, "the list is paged"


def test_an_account_is_made_with_roles(admin: Client, administrator: User) -> None:
    typed = {
        "username": "new.person",
        "display_name": "New Person",
        "roles": ["reviewer", "curator"],
    }
    answer = admin.post("/users/new/", typed)
    user = User.objects.get(username="new.person")
    assert answer["Location"] == f"/users/{user.pk}/"
    assert {role.value for role in roles_of(user)} == {"reviewer", "curator"}
    assert not user.has_usable_password()
    assert user.has_perm("catalog.curate")
    record = LogEntry.objects.get()
    assert (record.actor, record.additional_data) == (administrator, {"event": "account created"})


def test_invalid_account_is_not_created(admin: Client) -> None:
    for typed, field in (
        ({"username": ""}, "username"),
        ({"username": "ADAM"}, "username"),  # a user with this name in lowercase exists
        ({"username": "a b"}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": "x", "roles": ["king"]}, "roles"),
        ({"username": "x", "roles": ["administrator"], "service_account": "on"}, "roles"),
    ):
        answer = admin.post("/users/new/", typed)
        assert answer.status_code == 422, typed
        assert f'id="id_{field}_error"' in answer.content.decode(), typed
    assert User.objects.count() == 1


def test_roles_are_changed_and_recorded(admin: Client, reviewer: User) -> None:
    admin.post(f"/users/{reviewer.pk}/roles/", {"roles": ["curator", "manager"]})
    assert {role.value for role in roles_of(reviewer)} == {"curator", "manager"}
    assert LogEntry.objects.get().changes == {"roles": ["reviewer", "curator manager"]}


def test_own_administrator_role_is_kept(admin: Client, administrator: User) -> None:
    make_person("other", "administrator")
    answer = admin.post(f"/users/{administrator.pk}/roles/", {"roles": ["reviewer"]})
    assert answer.status_code == 422
    assert "can&#x27;t remove your own administrator role" in answer.content.decode()
    assert {role.value for role in roles_of(administrator)} == {"administrator"}
    answer = admin.post(f"/users/{administrator.pk}/deactivate/")
    assert answer.status_code == 422
    administrator.refresh_from_db()
    assert administrator.is_active


def test_the_last_administrator_is_protected(client: Client, administrator: User) -> None:
    # A superuser created on the command line has the permission without the role.
    client.force_login(User.objects.create_superuser("root"))
    for action, typed in (("roles", {"roles": ["reviewer"]}), ("deactivate", {})):
        answer = client.post(f"/users/{administrator.pk}/{action}/", typed)
        assert answer.status_code == 422
        assert "This is the last administrator" in answer.content.decode()
    make_person("other", "administrator")
    client.post(f"/users/{administrator.pk}/deactivate/")
    administrator.refresh_from_db()
    assert not administrator.is_active


def test_deactivated_user_loses_tokens_and_links(admin: Client, reviewer: User) -> None:
    theirs = WebClient()
    theirs.force_login(reviewer)
    make_token(reviewer, name="bot", scopes=["read"], days=None, by=reviewer)
    admin.post(f"/users/{reviewer.pk}/password-link/")
    assert theirs.get("/settings/").status_code == 200

    admin.post(f"/users/{reviewer.pk}/deactivate/")
    assert theirs.get("/settings/").status_code == 302
    assert not ApiToken.objects.get().is_live
    assert admin.post(f"/users/{reviewer.pk}/deactivate/").status_code == 409
    assert admin.post(f"/users/{reviewer.pk}/password-link/").status_code == 409

    admin.post(f"/users/{reviewer.pk}/reactivate/")
    reviewer.refresh_from_db()
    assert reviewer.is_active
    assert not ApiToken.objects.get().is_live, "tokens stay revoked"
    assert admin.post(f"/users/{reviewer.pk}/reactivate/").status_code == 409


def test_a_service_account_lives_by_tokens(admin: Client, reviewer: User) -> None:
    admin.post("/users/new/", {"username": "bot", "service_account": "on", "roles": ["reviewer"]})
    bot = User.objects.get(username="bot")
    assert admin.post(f"/users/{bot.pk}/password-link/").status_code == 409
    made = admin.post(f"/users/{bot.pk}/tokens/", {"name": "chat", "scopes": ["ask"], "days": ""})
    assert re.search(r'value="sst_', made.content.decode())
    assert ApiToken.objects.get().expires_at is None

    theirs = admin.post(
        f"/users/{reviewer.pk}/tokens/", {"name": "spy", "scopes": ["ask"], "days": ""}
    )
    assert theirs.status_code == 409, "Users create their own"
    assert ApiToken.objects.count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_of_two_administrators_who_remove_each_other_stays() -> None:
    """Only two real transactions can show whether the rows are locked."""
    make_roles()
    for name in ("adam", "eve"):
        make_person(name, "administrator")
    together = Barrier(2)

    def remove(name: str) -> str:
        other = User.objects.get(username=name)
        by = User.objects.exclude(username=name).get()
        # Read the permissions before the other transaction can change them.
        assert by.has_perm(ADMINISTER)
        together.wait()
        try:
            services.change_roles(other, roles=[], by=by)
        except Refused as refusal:
            return str(refusal)
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(2) as both:
        answers = sorted(both.map(remove, ["adam", "eve"]))
    assert answers[0] == ""
    assert "last administrator" in answers[1]
    assert User.objects.filter(groups__name=Role.ADMINISTRATOR).count() == 1


def test_roles_have_their_permissions(db: None) -> None:
    assert {
        role: {
            f"{permission.content_type.app_label}.{permission.codename}"
            for permission in Group.objects.get(name=role).permissions.select_related(
                "content_type"
            )
        }
        for role in Role
    } == PERMISSIONS


def test_migration_resets_roles(reviewer: User, curator: User, stranger: User, db: None) -> None:
    assert not reviewer.has_perm("catalog.curate")
    reviewer.groups.add(Group.objects.get(name=Role.CURATOR))
    both = User.objects.get(pk=reviewer.pk)
    assert both.has_perms(["catalog.curate", "review.review", "pipeline.ask"])
    assert not both.has_perm(ADMINISTER)
    assert not stranger.get_all_permissions()
    curators = Group.objects.get(name=Role.CURATOR)
    curators.permissions.set(Permission.objects.filter(codename="administer"))
    make_roles()
    assert {permission.codename for permission in curators.permissions.all()} == {
        "curate",
        "set_threshold",
    }
