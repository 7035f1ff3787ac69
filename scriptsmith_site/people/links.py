"""One-time links: made by an administrator, shown once, used once, void after two days."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.audit import record
from catalog.types import NotAllowedNow
from scriptsmith_site.models import OneTimeLink
from scriptsmith_site.people.services import (
    is_service_account,
    require_administrator,
    set_password,
)
from scriptsmith_site.people.tokens import hash_secret

LIFE = timedelta(hours=48)


@transaction.atomic
def make_password_link(user: User, *, by: User | None) -> str:
    """The secret of a new link with which the person sets a password; earlier links are void.

    Raises NotAllowedNow for a deactivated or a service account.
    """
    require_administrator(by)
    if not user.is_active:
        raise NotAllowedNow(_("This account is deactivated: reactivate it first."))
    if is_service_account(user):
        raise NotAllowedNow(_("A service account has no password; give it a token."))
    now = timezone.now()
    OneTimeLink.objects.filter(user=user, used_at=None, expires_at__gt=now).update(expires_at=now)
    secret = secrets.token_urlsafe(32)
    OneTimeLink.objects.create(
        user=user, token_sha256=hash_secret(secret), expires_at=now + LIFE, created_by=by
    )
    record(user, "password link made", by=by)
    return secret


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
def set_password_by_link(link: OneTimeLink, *, password: str) -> User:
    """The link's user has this password, and the link is used up.

    Raises BadInput, which leaves the link as it was, and NotAllowedNow where it was used meanwhile.
    """
    set_password(link.user, password, field="password")
    if not OneTimeLink.objects.filter(pk=link.pk, used_at=None).update(used_at=timezone.now()):
        raise NotAllowedNow(_("This link has been used already."))
    record(link.user, "password set by link", by=link.user)
    return link.user
