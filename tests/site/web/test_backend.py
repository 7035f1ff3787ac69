"""Tests that one query loads the user and the user's permissions."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import Permission, User

from scriptsmith_site.people.sign_in.backend import RoleBackend
from tests.people import make_person


def test_permissions_of_roles_and_users_add_up(
    reviewer: User, django_assert_num_queries: Callable[[int], object], db: None
) -> None:
    RoleBackend().get_user(reviewer.pk)
    with django_assert_num_queries(1):
        user = RoleBackend().get_user(reviewer.pk)
        assert user is not None and user.username == "rita"
        assert user.has_perm("review.review")
        assert not user.has_perm("review.manage_campaigns")
    person = make_person("ada", "reviewer", "curator")
    person.user_permissions.add(Permission.objects.get(codename="manage_endpoints"))
    found = RoleBackend().get_user(person.pk)
    assert found.get_all_permissions() == User.objects.get(pk=person.pk).get_all_permissions()
    assert found.has_perms(["review.review", "catalog.curate", "pipeline.manage_endpoints"])
    root = RoleBackend().get_user(User.objects.create_superuser("root").pk)
    assert root is not None and root.has_perm("review.manage_campaigns")
    User.objects.filter(pk=reviewer.pk).update(is_active=False)
    assert RoleBackend().get_user(reviewer.pk) is None
    assert RoleBackend().get_user(0) is None
