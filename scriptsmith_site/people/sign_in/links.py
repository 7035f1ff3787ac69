"""One-time links, which an administrator creates. Each is shown once, works once and expires after two days."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow, Refused
from scriptsmith_site.models import OneTimeLink
from scriptsmith_site.people.security_log import Kind, name_key, note
from scriptsmith_site.people.services import (
    is_service_account,
    require_administrator,
    set_password,
)
from scriptsmith_site.people.sign_in import guess_limits
from scriptsmith_site.people.sign_in.credentials import (
    comes_by_provider,
    end_links,
    end_tokens,
)
from scriptsmith_site.people.sign_in.own_sessions import sessions_of
from scriptsmith_site.people.sign_in.tokens import hash_secret

LIFE = timedelta(hours=48)


@transaction.atomic
def make_password_link(user: User, *, by: User | None) -> str:
    """Create a link for setting a password and return its secret. Earlier links become invalid.

    Raises NotAllowedNow for deactivated accounts, service accounts and users of single sign-on.
    """
    require_administrator(by)
    if not user.is_active:
        raise NotAllowedNow(_("This account is deactivated. Reactivate it first."))
    if is_service_account(user):
        raise NotAllowedNow(_("A service account has no password. Create a token for it instead."))
    if comes_by_provider(user):
        raise NotAllowedNow(
            _(
                "This user signs in with single sign-on, which a password would bypass. Remove single "
                "sign-on first."
            )
        )
    end_links(user)
    secret = secrets.token_urlsafe(32)
    OneTimeLink.objects.create(
        user=user,
        token_sha256=hash_secret(secret),
        expires_at=timezone.now() + LIFE,
        created_by=by,
    )
    record(user, "password link made", by=by)
    note(Kind.LINK_MADE, user=user, by=by)
    return secret


class Reset(NamedTuple):
    """The result of a reset: the new link's secret and the number of revoked API tokens."""

    secret: str
    ended_tokens: int


@transaction.atomic
def reset_password(user: User, *, by: User | None) -> Reset:
    """Invalidate the user's password, sessions and API tokens immediately, and create a link for a new password.

    Use this function if someone else may know the password or a token. After `make_password_link`, the old password
    works until the link is used. Raises NotAllowedNow like `make_password_link`, and Refused for `by`'s own account.
    """
    require_administrator(by)
    if user == by:
        raise Refused(_("Change your own password in Settings."))
    secret = make_password_link(user, by=by)
    ended = end_tokens(user, by=by)
    user.set_unusable_password()  # ends all sessions, because they depend on the password
    user.save(update_fields=["password"])
    sessions_of(user).delete()
    record(user, "password reset", by=by, tokens=(ended, 0))
    note(Kind.PASSWORD_RESET, user=user, by=by)
    return Reset(secret, ended)


def find_link(secret: str) -> OneTimeLink | None:
    """Return the valid link with this secret, or None."""
    return (
        OneTimeLink.objects.select_related("user")
        .filter(
            token_sha256=hash_secret(secret),
            used_at=None,
            expires_at__gt=timezone.now(),
            user__is_active=True,
        )
        .first()
    )


@transaction.atomic
def set_password_by_link(link: OneTimeLink, *, password: str) -> int:
    """Set the password, invalidate the link, and return the number of revoked API tokens.

    This also lifts a lockout of the account. Raises BadInput without invalidating the link, and NotAllowedNow if the
    link has been used.
    """
    ended = set_password(link.user, password, field="password", by=link.user)
    if not OneTimeLink.objects.filter(pk=link.pk, used_at=None).update(used_at=timezone.now()):
        raise NotAllowedNow(_("This link has already been used."))
    record(link.user, "password set by link", by=link.user)
    note(Kind.LINK_USED, user=link.user, by=link.user)
    guess_limits.forget(guess_limits.Kind.SIGN_IN_ACCOUNT, name_key(link.user.username))
    return ended
