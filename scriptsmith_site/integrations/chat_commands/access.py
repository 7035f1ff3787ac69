"""The only way for a view to obtain a slash command: for administrators, or else 403 or 404."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from scriptsmith_site.models import ChatCommand
from scriptsmith_site.people.services import require_administrator


def access_commands(user: User) -> QuerySet[ChatCommand]:
    """All of them."""
    require_administrator(user)
    return ChatCommand.objects.all()


def access_command(user: User, pk: int) -> ChatCommand:
    """One of them."""
    return get_object_or_404(access_commands(user), pk=pk)
