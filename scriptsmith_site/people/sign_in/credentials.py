"""What ends with a password: API tokens were made by whoever had it, and must not outlive it."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, User
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from scriptsmith_site.models import ApiToken, OneTimeLink, Profile
from scriptsmith_site.people.security_log import Kind, note


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
