"""One-time links: made by an administrator, shown once, used once, void after two days."""

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
    """The secret of a new link with which the person sets a password; earlier links are void.

    Raises NotAllowedNow for a deactivated or a service account, and for who comes in by the provider.
    """
    require_administrator(by)
    if not user.is_active:
        raise NotAllowedNow(_("This account is deactivated: reactivate it first."))
    if is_service_account(user):
        raise NotAllowedNow(_("A service account has no password; give it a token."))
    if comes_by_provider(user):
        raise NotAllowedNow(
            _(
                "This person comes in by single sign-on; a password would lead around it. Remove that first."
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
    """What a reset came to: the new link's secret, and how many API tokens ended."""

    secret: str
    ended_tokens: int


@transaction.atomic
def reset_password(user: User, *, by: User | None) -> Reset:
    """The person's password, sessions and API tokens end at once; a new link lets them set a password.

    For a password or token that somebody else may have; `make_password_link` alone leaves the old one in
    force until the link is used. Raises NotAllowedNow as that does, and Refused for oneself.
    """
    require_administrator(by)
    if user == by:
        raise Refused(_("Change your own password in Settings."))
    secret = make_password_link(user, by=by)
    ended = end_tokens(user, by=by)
    user.set_unusable_password()  # every session of theirs hangs on the old one
    user.save(update_fields=["password"])
    sessions_of(user).delete()
    record(user, "password reset", by=by, tokens=(ended, 0))
    note(Kind.PASSWORD_RESET, user=user, by=by)
    return Reset(secret, ended)


def find_link(secret: str) -> OneTimeLink | None:
    """The link with this secret, while it can be used."""
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
    """The link's user has this password, and the link is used up; how many of their API tokens ended.

    They may sign in at once: what locked this account out is forgotten. Raises BadInput, which leaves the link
    as it was, and NotAllowedNow where it was used meanwhile.
    """
    ended = set_password(link.user, password, field="password", by=link.user)
    if not OneTimeLink.objects.filter(pk=link.pk, used_at=None).update(used_at=timezone.now()):
        raise NotAllowedNow(_("This link has been used already."))
    record(link.user, "password set by link", by=link.user)
    note(Kind.LINK_USED, user=link.user, by=link.user)
    guess_limits.forget(guess_limits.Kind.SIGN_IN_ACCOUNT, name_key(link.user.username))
    return ended
