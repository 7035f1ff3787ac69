"""Load a session's user and the user's permissions with one query, because every page needs both."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Group, User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, F, Func, IntegerField, OuterRef, QuerySet, Value
from django.db.models.functions import Concat
from django.http import HttpRequest

from core.actor import find_user
from core.database.prepared import PreparedQuery
from scriptsmith_site.models import Notification
from scriptsmith_site.people.second_factor.services import FACTORS

MOST_UNREAD = 99


class RoleBackend(ModelBackend):
    """A backend for password sign-in that loads the permissions of roles with the user."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **credentials: Any,
    ) -> User | None:
        known = find_user(username) if username else None
        name = known.username if known else username
        return super().authenticate(request, username=name, password=password, **credentials)

    def get_user(self, user_id: int) -> User | None:
        user = next(iter(_with_permissions(int(user_id))), None)
        if user is None or not self.user_can_authenticate(user):
            return None
        if not user.is_superuser:  # superusers have all permissions
            # ModelBackend checks this cache before it queries the database.
            user._perm_cache = {*user.by_role, *user.granted}  # type: ignore[attr-defined]
        return user


def _person(pk: int) -> QuerySet[User]:
    """Return the user with the permissions of their roles and their own permissions. Subqueries start from the user."""
    by_role = Group.permissions.through.objects.filter(group__user=OuterRef("pk"))
    own = User.user_permissions.through.objects.filter(user=OuterRef("pk"))
    unread = Notification.objects.filter(person=OuterRef("pk"), in_bell=True, read_at=None)
    return User.objects.filter(pk=pk).annotate(
        by_role=_names(by_role),
        granted=_names(own),
        role_names=ArraySubquery(
            Group.objects.filter(user=OuterRef("pk")).values("name"),
        ),
        has_second_factor=Exists(
            Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
        ),
        # The number of unread notifications, which every page shows, counted up to the displayed limit.
        unread=Func(
            ArraySubquery(unread.values("pk")[: MOST_UNREAD + 1]),
            function="cardinality",
            output_field=IntegerField(),
        ),
    )


def _names(rows: QuerySet[Any]) -> ArraySubquery:
    label, codename = F("permission__content_type__app_label"), F("permission__codename")
    name = Concat(label, Value("."), codename)
    return ArraySubquery(rows.annotate(name_in_full=name).values("name_in_full"))


_with_permissions = PreparedQuery(_person)
