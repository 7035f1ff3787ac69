"""The account behind an agent's call and the scopes of its token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User

from scriptsmith_site.models import ApiToken

Scope = ApiToken.Scope
AGENT_SCOPES = frozenset({Scope.AGENT_READ, Scope.REPORT_OUTCOME, Scope.REQUEST_SCRIPT})


@dataclass(frozen=True)
class Caller:
    """An account and the scopes that limit the call."""

    user: User
    scopes: frozenset[str]
    name: str  # name of the token
    subject: ApiToken | User  # subject of the audit log entries
    link: Callable[[str], str]  # converts a path of this site into an absolute URL
