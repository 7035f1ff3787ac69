"""Apply the agents' pause and rate limits to verification requests from programs."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Model
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import Paused
from scriptsmith_site.integrations.agents import limits
from scriptsmith_site.integrations.agents.pause import is_paused
from scriptsmith_site.integrations.agents.protocol import REFUSED


def admit(user: User, token: Model, outside: bool) -> None:
    """Count a verification request. Raises TooManyCalls, or Paused if agents are paused and `outside` is true.

    `outside` means that the token has no scope to read the product itself.
    """
    if outside and is_paused():
        raise Paused(_("An administrator has paused agents."))
    try:
        limits.spend(user, limits.Kind.CALL)
    except limits.TooManyCalls as refusal:
        if refusal.is_first:
            record(token, "agent called verify", by=user, answer=("", REFUSED))
        raise
