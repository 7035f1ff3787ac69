"""Access to accounts, tokens and one-time links. Views must use these functions."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import Http404
from django.shortcuts import get_object_or_404

from scriptsmith_site.models import ApiToken, OneTimeLink
from scriptsmith_site.origin import current_origin, shared_part
from scriptsmith_site.people.services import require_administrator
from scriptsmith_site.people.sign_in import guess_limits
from scriptsmith_site.people.sign_in.links import find_link


def access_account(by: User, pk: int) -> User:
    """Return any account for administrators. Raises 403 for other users, and 404 if the account does not exist."""
    require_administrator(by)
    return get_object_or_404(
        User.objects.select_related("profile").prefetch_related("groups"), pk=pk
    )


def access_token(by: User, pk: int) -> ApiToken:
    """Return the token if the user owns it or is an administrator.

    Raises 403 for other users, and 404 if the token does not exist.
    """
    token = get_object_or_404(ApiToken.objects.select_related("user"), pk=pk)
    if token.user != by:
        require_administrator(by)
    return token


def access_link(secret: str) -> OneTimeLink:
    """Return the valid link with this secret, or raise 404.

    Raises TooManyAttempts for an address with too many unknown secrets.
    """
    guess = guess_limits.Kind.LINK, shared_part(current_origin().address)
    guess_limits.require_room(*guess)
    link = find_link(secret)
    if link is None:
        guess_limits.spend(*guess)
        raise Http404
    return link
