"""Who a session belongs to and what they may do, by one query: every page asks both."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission, User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from catalog.planned import Planned


class RoleBackend(ModelBackend):
    """Signs people in by password; the permissions of their roles come with them."""

    def get_user(self, user_id: int) -> User | None:
        user = next(iter(_with_permissions(int(user_id))), None)
        if user is None or not self.user_can_authenticate(user):
            return None
        if not user.is_superuser:  # who may do everything, whatever is granted
            # Where ModelBackend looks before it asks the database.
            user._perm_cache = set(user.granted)  # type: ignore[attr-defined]
        return user


def _person(pk: int) -> QuerySet[User]:
    granted = (
        Permission.objects.filter(Q(group__user=OuterRef("pk")) | Q(user=OuterRef("pk")))
        .order_by()
        .annotate(name_in_full=Concat(F("content_type__app_label"), Value("."), F("codename")))
        .values("name_in_full")
    )
    return User.objects.filter(pk=pk).annotate(granted=ArraySubquery(granted))


_with_permissions = Planned(_person, values=1)
