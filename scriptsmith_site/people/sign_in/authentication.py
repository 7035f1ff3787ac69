"""API tokens for Django REST framework."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from scriptsmith_site.models import ApiToken
from scriptsmith_site.origin import current_origin
from scriptsmith_site.people.sign_in.tokens import find_token, note_use


class ApiTokenAuthentication(BaseAuthentication):
    """Authentication with `Authorization: Bearer sst_...` that also checks the token's scopes.

    The check is here and not in a permission class, so that a viewset with its own permissions can't omit it. Reading
    requires `read` or the view's `reading_scope`, and writing requires its `required_scope`. If a view names multiple
    scopes, one of them is enough.
    """

    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        keyword, _space, secret = request.headers.get("Authorization", "").partition(" ")
        if keyword.lower() != self.keyword.lower():
            return None
        token = find_token(secret.strip(), address=current_origin().address)
        if token is None:
            raise AuthenticationFailed(_("This token is unknown, expired or revoked."))
        needed = scopes_needed(request)
        if not set(needed) & set(token.scopes):
            raise PermissionDenied(
                _("This token lacks the scope %(scope)s.") % {"scope": " or ".join(needed)}
            )
        note_use(token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return self.keyword


def scopes_needed(request: Request) -> tuple[str, ...]:
    """Return the scopes that allow this request. The token needs at least one of them."""
    view = (request.parser_context or {}).get("view")
    if request.method in SAFE_METHODS:
        named = getattr(view, "reading_scope", ApiToken.Scope.READ)
    else:
        named = getattr(view, "required_scope", ApiToken.Scope.ASK)
    return (named,) if isinstance(named, str) else tuple(named)
