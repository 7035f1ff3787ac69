"""Generate codes of an authenticator app."""

from __future__ import annotations

import time

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.utils import timezone

from scriptsmith_site.people.second_factor import services

_HALF_MINUTE, _TO_TYPE_IT = 30, 6  # seconds


def code_of(secret: str, *, later: int = 0) -> str:
    """Return the current code, or the code that is valid `later` half minutes from now.

    Wait if the code expires soon, because expired codes are rejected.
    """
    left = _HALF_MINUTE - timezone.now().timestamp() % _HALF_MINUTE
    if later < 0 and left < _TO_TYPE_IT:
        time.sleep(left)
    step = int(timezone.now().timestamp()) // 30 + later
    return str(format_hotp_value(hotp_value(secret, step)))


def add_app(user: User) -> tuple[str, list[str]]:
    """Add an authenticator app, and return its secret and recovery codes.

    This uses up the code of the previous half minute.
    """
    secret = services.new_app_secret()
    return secret, services.add_app(user, secret, code=code_of(secret, later=-1))
