"""Credentials of an account, and the API tokens and links that become invalid when its password changes."""

from __future__ import annotations

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, User
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from scriptsmith_site.models import ApiToken, Door, OneTimeLink, Profile
from scriptsmith_site.people.security_log import Kind, note

PROVIDER_DOOR = "single sign-on"


def comes_by_provider(user: User) -> bool:
    """Return whether the user signs in with the current provider."""
    issuer = settings.SCRIPTSMITH_OIDC_ISSUER
    return bool(issuer) and SocialAccount.objects.filter(user=user, provider=issuer).exists()


def provider_is_open() -> bool:
    """Return whether a provider is configured and not paused."""
    paused = Door.objects.filter(name=PROVIDER_DOOR, paused_at__isnull=False)
    return bool(settings.SCRIPTSMITH_OIDC_ISSUER) and not paused.exists()


def has_identity(user: User) -> bool:
    """Return whether the account is linked to a provider, current or former."""
    found: bool = SocialAccount.objects.filter(user=user).exists()
    return found


def needs_provider(user: User) -> bool:
    """Return whether the user must sign in with the provider, so that a passkey can't bypass the provider's access
    check.

    This includes users of a former provider until an administrator gives them a password.
    """
    return comes_by_provider(user) or (not user.has_usable_password() and has_identity(user))


def live_tokens(user: User) -> QuerySet[ApiToken]:
    """Return the user's valid tokens."""
    lives = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiToken.objects.filter(lives, user=user, revoked_at=None)


def end_tokens(user: User, *, by: User | None) -> int:
    """Revoke all API tokens of an account and return how many were valid."""
    ended = live_tokens(user).update(revoked_at=timezone.now())
    if ended:
        note(Kind.TOKEN_REVOKED, user=user, by=by, detail=f"all {ended} of this account")
    return ended


def end_links(user: User) -> None:
    """Invalidate all password links of the user."""
    now = timezone.now()
    OneTimeLink.objects.filter(user=user, used_at=None, expires_at__gt=now).update(expires_at=now)


def ended_words(ended: int) -> str:
    """Return a message with the number of revoked tokens, or an empty string."""
    if not ended:
        return ""
    if ended == 1:
        return _("1 API token was revoked.")
    return _("%(count)d API tokens were revoked.") % {"count": ended}


class TokensEndWithPassword:
    """A password validator that accepts every password and revokes tokens when the password changes.

    Django calls it for every change, including `changepassword`. Service accounts have no password and keep their
    tokens.
    """

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Accept any password."""

    def get_help_text(self) -> str:
        return ""

    def password_changed(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Revoke the tokens. Django does not call this when it only upgrades the hash."""
        if not isinstance(user, User) or not live_tokens(user).exists():
            return
        if not Profile.objects.filter(user=user, service_account=True).exists():
            end_tokens(user, by=None)
