"""The security log: sign-ins, failed attempts, and changes to passwords, tokens and roles.

The audit log records changes to objects. A sign-in changes no object, and a failed sign-in may be for an unknown name.
For an unknown name, only four digits of a keyed hash are stored, because users sometimes type passwords into the name
field. Repeated attempts can be recognized, but the name can't.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core.actor import find_user
from core.audit import erasing
from scriptsmith_site.models import SecurityEvent
from scriptsmith_site.origin import current_origin
from scriptsmith_site.people.sign_in.sessions import proofs_of

Kind = SecurityEvent.Kind

# The audit log records these events in more detail.
IN_AUDIT_LOG = frozenset(
    {
        Kind.LOCKOUT_LIFTED,
        Kind.PASSWORD_CHANGED,
        Kind.PASSWORD_RESET,
        Kind.LINK_MADE,
        Kind.LINK_USED,
        Kind.TOKEN_MADE,
        Kind.TOKEN_REVOKED,
        Kind.ROLE_GIVEN,
        Kind.ROLE_TAKEN,
        Kind.ACCOUNT_MADE,
        Kind.DEACTIVATED,
        Kind.REACTIVATED,
        Kind.ANONYMISED,
        Kind.SESSION_ENDED,
        Kind.FACTOR_ADDED,
        Kind.FACTOR_REMOVED,
        Kind.CODES_MADE,
        Kind.IDENTITY_LINKED,
        Kind.IDENTITY_REMOVED,
    }
)
# Events that show that a user has authenticated from an address.
_PROOFS = (Kind.SIGNED_IN, Kind.LINK_USED, Kind.PASSWORD_CHANGED)
_PROOF_HOLDS = timedelta(days=90)
_DELETED_AT_ONCE = 5000


def note(
    kind: SecurityEvent.Kind,
    *,
    user: User | None = None,
    by: User | None = None,
    detail: str = "",
    unknown_name: str = "",
) -> SecurityEvent:
    """Record an event with the address, user agent and ID of the current request."""
    origin = current_origin()
    return SecurityEvent.objects.create(
        kind=kind,
        user=user,
        by=by,
        detail=detail[:200],
        unknown_name=unknown_name,
        address=origin.address,
        agent=origin.agent,
        request_id=origin.request_id,
    )


def name_key(name: str) -> str:
    """Return the keyed hash with which django-axes and the limits identify a typed name."""
    return salted_hmac("scriptsmith.typed-name", name, algorithm="sha256").hexdigest()


def unknown_name_mark(name: str) -> str:
    """Return the mark that the log stores for a name without an account."""
    return name_key(name)[:4]


def axes_name(request: HttpRequest, credentials: dict[str, str] | None = None) -> str:
    """Return the name that django-axes stores. Only django-axes calls this function."""
    name = (credentials or {}).get("username") or request.POST.get("username", "")
    # Failures are counted per name, regardless of case.
    known = find_user(name)
    return name_key(known.username if known else name)


def has_proved_here(user: User, address: str | None) -> bool:
    """Return whether the user signed in or set a password from this address in the last 90 days."""
    if address is None:
        return False
    since = timezone.now() - _PROOF_HOLDS
    proofs = SecurityEvent.objects.filter(user=user, address=address, at__gte=since)
    return proofs.filter(kind__in=_PROOFS).exists()


def events_of(user: User) -> QuerySet[SecurityEvent]:
    """Return the events of the user's own account, newest first."""
    return SecurityEvent.objects.filter(user=user).select_related("user", "by").order_by("-pk")


# --- Receivers of Django's sign-in and sign-out signals ----------------------------------------------------------


def note_sign_in(user: User, request: HttpRequest, **_signal: object) -> None:
    """Record a sign-in. This receiver runs after `note_session`, which stores the authentication methods."""
    note(Kind.SIGNED_IN, user=user, by=user, detail=proofs_of(request.session))


def note_sign_out(user: User | None, **_signal: object) -> None:
    if user is not None:  # None if the session had already ended
        note(Kind.SIGNED_OUT, user=user, by=user)


def note_failure(
    credentials: dict[str, str], request: HttpRequest | None = None, **_signal: object
) -> None:
    """Record a wrong password and the resulting lockout. Attempts during a lockout are not recorded.

    This receiver runs after django-axes, which has counted the failure.
    """
    failures = getattr(request, "axes_failures_since_start", 0)
    if failures > settings.AXES_FAILURE_LIMIT:
        return
    name = credentials.get("username") or ""
    user = find_user(name)
    unknown = "" if user else unknown_name_mark(name)
    note(Kind.SIGN_IN_FAILED, user=user, unknown_name=unknown)
    if failures == settings.AXES_FAILURE_LIMIT:
        note(
            Kind.LOCKED_OUT,
            user=user,
            unknown_name=unknown,
            detail="wrong passwords for this name from this address",
        )


# --- Erasure and retention ----------------------------------------------------------------------------------------


def forget_person(user: User) -> None:
    """Remove the IP address and the user agent from the user's events, which remain. Call this in a transaction."""
    with erasing():
        own = SecurityEvent.objects.filter(by=user) | SecurityEvent.objects.filter(
            user=user, by=None
        )
        own.update(address=None, agent="")


def delete_old() -> int:
    """Delete events older than SCRIPTSMITH_SECURITY_LOG_DAYS, and return their number."""
    before = timezone.now() - timedelta(days=settings.SCRIPTSMITH_SECURITY_LOG_DAYS)
    deleted = 0
    while True:
        oldest = SecurityEvent.objects.filter(at__lt=before).order_by("at")[:_DELETED_AT_ONCE]
        with transaction.atomic(), erasing():
            count, _by_model = SecurityEvent.objects.filter(
                pk__in=list(oldest.values_list("pk", flat=True))
            ).delete()
        deleted += count
        if count < _DELETED_AT_ONCE:
            return deleted
