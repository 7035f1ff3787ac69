"""Roles are groups that have exactly their permissions, also after changes by hand."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission, User

from scriptsmith_site.people.roles import ADMINISTER, PERMISSIONS, Role, make_roles


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


def test_every_migrate_puts_them_right(db: None) -> None:
    curators = Group.objects.get(name=Role.CURATOR)
    curators.permissions.set(Permission.objects.filter(codename="administer"))
    make_roles()
    assert {permission.codename for permission in curators.permissions.all()} == {
        "curate",
        "set_threshold",
    }


def test_roles_add_up(reviewer: User, curator: User, stranger: User) -> None:
    assert not reviewer.has_perm("catalog.curate")
    reviewer.groups.add(Group.objects.get(name=Role.CURATOR))
    both = User.objects.get(pk=reviewer.pk)
    assert both.has_perms(["catalog.curate", "review.review", "pipeline.ask"])
    assert not both.has_perm(ADMINISTER)
    assert not stranger.get_all_permissions()
