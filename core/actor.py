"""Find a user by a typed name, from a sign-in, a form, an API request or the `--by` option of a command."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet

from core.errors import BadInput


def find_user(name: str, users: QuerySet[User] | None = None) -> User | None:
    """Return the user with exactly this name, or the only user with this name in a different case."""
    users = User.objects.all() if users is None else users
    alike = list(users.filter(username__iexact=name).order_by("pk")[:50])
    exact = next((user for user in alike if user.username == name), None)
    return exact or (alike[0] if len(alike) == 1 else None)


def find_actor(name: str | None) -> User | None:
    """Return the active user with this name, or None if `name` is None. Raises BadInput if no such user exists."""
    if name is None:
        return None
    user = find_user(name, User.objects.filter(is_active=True))
    if user is None:
        raise BadInput(f"No active account is named {name!r}.", field="by")
    return user
