"""Access to slash commands for administrators. Views must use these functions, which raise 403 or 404."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from scriptsmith_site.models import ChatCommand
from scriptsmith_site.people.services import require_administrator


def access_commands(user: User) -> QuerySet[ChatCommand]:
    """Return all slash commands."""
    require_administrator(user)
    return ChatCommand.objects.all()


def access_command(user: User, pk: int) -> ChatCommand:
    """Return one slash command."""
    return get_object_or_404(access_commands(user), pk=pk)
