"""Who an agent acts for, and what its token lets it do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User

from scriptsmith_site.models import ApiToken

Scope = ApiToken.Scope
AGENT_SCOPES = frozenset({Scope.AGENT_READ, Scope.REPORT_OUTCOME, Scope.REQUEST_SCRIPT})


@dataclass(frozen=True)
class Caller:
    """An account and the scopes that it acts within."""

    user: User
    scopes: frozenset[str]
    name: str  # of its token
    subject: ApiToken | User  # what the audit log's lines are about
    link: Callable[[str], str]  # from an address of the product to a whole one
