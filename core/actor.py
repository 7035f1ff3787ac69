"""In whose name a command acts: `--by USER`."""

from __future__ import annotations

from django.contrib.auth.models import User

from core.errors import BadInput


def find_actor(name: str | None) -> User | None:
    """The active account of this name, or nobody where none is named. Raises BadInput for no such account."""
    if name is None:
        return None
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise BadInput(f"There is no active account {name!r}.", field="by")
    return user
