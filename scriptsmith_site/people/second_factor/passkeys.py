"""Passkeys (WebAuthn): keys in a device or browser that sign a challenge of this site."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth
from cryptography.exceptions import InvalidSignature
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import BadInput, NotAllowedNow
from core.network.addresses import read_address
from scriptsmith_site.people.second_factor.services import MOST_PASSKEYS, Type, note_added
from scriptsmith_site.people.security_log import Kind, note

_LONGEST_NAME = 60
_LONGEST_CREDENTIAL = 64_000
# Exceptions that the libraries in use raise for malformed credentials.
_UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    InvalidSignature,
    LookupError,
    RecursionError,
    TypeError,
    ValidationError,
    ValueError,
    struct.error,
)


def can_have_passkeys(request: HttpRequest) -> bool:
    """Return whether browsers support passkeys here: they need a host name, and HTTPS or localhost."""
    host = request.get_host()
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    is_local = name == "localhost" or name.endswith(".localhost")
    return read_address(name) is None and (is_local or request.is_secure())


def begin_adding(user: User) -> str:
    """Return the registration options as JSON. The challenge is stored in the session."""
    return json.dumps(auth.begin_registration(user, passwordless=True))


@transaction.atomic
def add(user: User, *, name: str, credential: str) -> list[str]:
    """Add a passkey and return the user's first recovery codes, if they are created now.

    Raises BadInput for an invalid credential, and NotAllowedNow if the user has too many passkeys.
    """
    User.objects.select_for_update().get(pk=user.pk)
    had = Authenticator.objects.filter(user=user, type=Type.WEBAUTHN).count()
    if had >= MOST_PASSKEYS:
        raise NotAllowedNow(
            _("You have %s passkeys, which is the maximum. Remove one first.") % had
        )
    with _readable():
        answer = _read(credential)
        auth.parse_registration_response(answer)
        binding = auth.complete_registration(answer)
        if not binding.is_user_verified():
            raise ValueError
    name = name.strip()[:_LONGEST_NAME] or _("Passkey %s") % (had + 1)
    return note_added(user, auth.WebAuthn.add(user, name, answer).instance)


def begin_proving(user: User | None) -> str:
    """Return the authentication options as JSON. Without a user, the passkey identifies the account."""
    return json.dumps(auth.begin_authentication(user))


def prove(credential: str, *, user: User | None) -> User:
    """Verify a passkey's signature of the session's challenge, and return its user. With `user`, accept only that user.

    Raises BadInput.
    """
    try:
        with _readable():
            answer = _read(credential)
            auth.parse_authentication_response(answer)
            owner: User = user or auth.extract_user_from_response(answer)
            if not owner.is_active:
                raise ValueError
            used = auth.complete_authentication(owner, answer)
    except BadInput:
        # Without a known user, record a failed sign-in.
        note(Kind.FACTOR_WRONG if user else Kind.SIGN_IN_FAILED, user=user, detail="passkey")
        raise
    Authenticator.objects.filter(pk=used.pk).update(last_used_at=timezone.now())
    return owner


def _read(credential: str) -> dict[str, Any]:
    if len(credential) > _LONGEST_CREDENTIAL:
        raise ValueError
    answer = json.loads(credential)
    if not isinstance(answer, dict):
        raise TypeError
    return answer


@contextmanager
def _readable() -> Iterator[None]:
    """Raise BadInput for invalid credentials, and discard the challenge."""
    try:
        yield
    except _UNREADABLE as error:
        auth.clear_state()
        words = _("This passkey was not accepted. Try again, or use another method.")
        raise BadInput(words, field="credential") from error
