"""An authenticator app: the codes it shows."""

from __future__ import annotations

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.utils import timezone

from scriptsmith_site.people.second_factor import services


def code_of(secret: str, *, later: int = 0) -> str:
    """What the app shows now, or so many half minutes later."""
    step = int(timezone.now().timestamp()) // 30 + later
    return str(format_hotp_value(hotp_value(secret, step)))


def add_app(user: User) -> tuple[str, list[str]]:
    """Its secret, and the recovery codes; the code of the half minute before is used up."""
    secret = services.new_app_secret()
    return secret, services.add_app(user, secret, code=code_of(secret, later=-1))
