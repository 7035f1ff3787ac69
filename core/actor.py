"""The user that a management command acts for: `--by USER`."""

from __future__ import annotations

from django.contrib.auth.models import User

from core.errors import BadInput


def find_actor(name: str | None) -> User | None:
    """The active account with this name, or None if no name is given. Raises BadInput if there is no such account."""
    if name is None:
        return None
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise BadInput(f"There is no active account {name!r}.", field="by")
    return user
