"""API tokens: create, look up by hash, and revoke. The secret is shown only once."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from scriptsmith_site.models import ApiToken, TokenAddress
from scriptsmith_site.origin import shared_part
from scriptsmith_site.people.roles import ADMINISTER
from scriptsmith_site.people.second_factor.services import SecondFactorMissing, is_missing
from scriptsmith_site.people.security_log import Kind, note
from scriptsmith_site.people.services import is_service_account, require_administrator
from scriptsmith_site.people.sign_in import guess_limits

START = "sst_"
LONGEST_LIFE_DAYS = 366
_SHOWN = 10
_USE_IS_NOTED_EVERY = timedelta(minutes=1)


class MadeToken(NamedTuple):
    """A new token and its secret, which is not stored."""

    token: ApiToken
    secret: str


def hash_secret(secret: str) -> str:
    """Return the secret's hash for storage. A secret has 256 random bits, so it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


@transaction.atomic
def make_token(
    user: User, *, name: str, scopes: Sequence[str], days: int | None, by: User
) -> MadeToken:
    """Create a token for `user` that is valid for `days` days. Without `days`, it does not expire.

    Raises BadInput. The caller must check the permissions of `by`.
    """
    name = name.strip()
    if not name:
        raise BadInput(_("Enter a name for the token, so that you can recognize it."), field="name")
    if not scopes or not set(scopes) <= set(ApiToken.Scope.values):
        raise BadInput(_("Choose at least one scope."), field="scopes")
    if ApiToken.Scope.METRICS in scopes and not may_read_metrics(user):
        raise BadInput(
            _("Only administrators and service accounts may read metrics."), field="scopes"
        )
    if days is not None and not 1 <= days <= LONGEST_LIFE_DAYS:
        raise BadInput(
            _("A token must expire after 1 to %(most)d days.") % {"most": LONGEST_LIFE_DAYS},
            field="days",
        )
    secret = START + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name[:80],
        sha256=hash_secret(secret),
        prefix=secret[:_SHOWN],
        scopes=[scope for scope in ApiToken.Scope.values if scope in scopes],
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
        created_by=by,
    )
    record(user, "token made", by=by, token=("", token), scopes=("", " ".join(token.scopes)))
    note(Kind.TOKEN_MADE, user=user, by=by, detail=f"{token} {' '.join(token.scopes)}")
    return MadeToken(token, secret)


def make_token_for_service(
    account: User, *, name: str, scopes: Sequence[str], days: int | None, by: User
) -> MadeToken:
    """Create a token for a service account, as an administrator. Users create their own tokens.

    Raises BadInput and NotAllowedNow.
    """
    require_administrator(by)
    if not is_service_account(account):
        raise NotAllowedNow(
            _("You can only create tokens for service accounts. Users create their own.")
        )
    if not account.is_active:
        raise NotAllowedNow(_("This account is deactivated. Reactivate it first."))
    return make_token(account, name=name, scopes=scopes, days=days, by=by)


@transaction.atomic
def revoke_token(token: ApiToken, *, by: User) -> None:
    """Revoke the token. Raises NotAllowedNow if it is already revoked."""
    now = timezone.now()
    if not ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
        raise NotAllowedNow(_("This token is already revoked."))
    token.revoked_at = now
    record(token.user, "token revoked", by=by, token=(token, ""))
    note(Kind.TOKEN_REVOKED, user=token.user, by=by, detail=str(token))


def may_read_metrics(user: User) -> bool:
    """Return whether the account may read /metrics."""
    return user.has_perm(ADMINISTER) or is_service_account(user)


def find_token(secret: str, *, address: str | None) -> ApiToken | None:
    """Return the valid token with this secret and its user, or None.

    The token of a single sign-on user is suspended if the user has not signed in for SCRIPTSMITH_OIDC_TOKEN_DAYS,
    because the provider does not report removed users.

    The lookup uses the hash, so its duration reveals nothing about the secret. The first use from an address is logged.
    Raises TooManyAttempts for an address with too many unknown tokens, unless the token was used from it before. Raises
    SecondFactorMissing if the user needs a second factor but has none.
    """
    now = timezone.now()
    sha256 = hash_secret(secret)
    token = (
        ApiToken.objects.select_related("user")
        .annotate(
            seen_here=Exists(TokenAddress.objects.filter(token=OuterRef("pk"), address=address)),
            # This includes former providers, which do not report removed users either.
            came_at=Subquery(
                SocialAccount.objects.filter(user=OuterRef("user"))
                .order_by("-last_login")
                .values("last_login")[:1]
            ),
        )
        .filter(
            Q(expires_at=None) | Q(expires_at__gt=now),
            sha256=sha256,
            revoked_at=None,
            user__is_active=True,
        )
        .first()
    )
    guess = guess_limits.Kind.TOKEN, shared_part(address)
    if token is None:
        # An expired or revoked token is not a guess, because its program may not know yet that the token is invalid.
        if not ApiToken.objects.filter(sha256=sha256).exists():
            guess_limits.spend(*guess)
        return None
    if is_missing(token.user):
        raise SecondFactorMissing
    awake_for = timedelta(days=settings.SCRIPTSMITH_OIDC_TOKEN_DAYS)
    if token.came_at is not None and token.came_at < now - awake_for:
        return None
    if address is not None and not token.seen_here:
        guess_limits.require_room(*guess)
        _note_address(token, address)
    return token


def _note_address(token: ApiToken, address: str) -> None:
    _row, is_new = TokenAddress.objects.get_or_create(token=token, address=address)
    if is_new:
        note(Kind.TOKEN_NEW_ADDRESS, user=token.user, by=token.user, detail=str(token))


def note_use(token: ApiToken) -> None:
    """Record the last use of a token, at most once per minute."""
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - _USE_IS_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
