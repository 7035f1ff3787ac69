"""What ends with a password: API tokens were made by whoever had it, and must not outlive it."""

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
    """Whether the person signs in with the provider of today."""
    issuer = settings.SCRIPTSMITH_OIDC_ISSUER
    return bool(issuer) and SocialAccount.objects.filter(user=user, provider=issuer).exists()


def provider_is_open() -> bool:
    """Whether the settings name a provider, and no administrator has paused coming by it."""
    paused = Door.objects.filter(name=PROVIDER_DOOR, paused_at__isnull=False)
    return bool(settings.SCRIPTSMITH_OIDC_ISSUER) and not paused.exists()


def has_identity(user: User) -> bool:
    """Whether the person has come by a provider, of today or of before, and was not parted from it."""
    found: bool = SocialAccount.objects.filter(user=user).exists()
    return found


def needs_provider(user: User) -> bool:
    """Whether a passkey alone would lead around the provider, which says at each sign-in who may still enter.

    Of who came by a provider of before too, until an administrator gives them a password.
    """
    return comes_by_provider(user) or (not user.has_usable_password() and has_identity(user))


def live_tokens(user: User) -> QuerySet[ApiToken]:
    """The person's tokens that open something now."""
    lives = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiToken.objects.filter(lives, user=user, revoked_at=None)


def end_tokens(user: User, *, by: User | None) -> int:
    """Revoke all API tokens of an account; how many opened something until now."""
    ended = live_tokens(user).update(revoked_at=timezone.now())
    if ended:
        note(Kind.TOKEN_REVOKED, user=user, by=by, detail=f"all {ended} of this account")
    return ended


def end_links(user: User) -> None:
    """No set-password link of the person works any more."""
    now = timezone.now()
    OneTimeLink.objects.filter(user=user, used_at=None, expires_at__gt=now).update(expires_at=now)


def ended_words(ended: int) -> str:
    """How many tokens ended, for a message; empty for none."""
    if not ended:
        return ""
    if ended == 1:
        return _("1 API token was revoked.")
    return _("%(count)d API tokens were revoked.") % {"count": ended}


class TokensEndWithPassword:
    """A password validator that refuses nothing: Django tells it of every new password, by `changepassword` too.

    A service account has no password that could be lost, and lives by its tokens: it keeps them.
    """

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Any password will do."""

    def get_help_text(self) -> str:
        return ""

    def password_changed(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Django calls it after the new password is saved, and not where only its hash is made stronger."""
        if not isinstance(user, User) or not live_tokens(user).exists():
            return
        if not Profile.objects.filter(user=user, service_account=True).exists():
            end_tokens(user, by=None)
