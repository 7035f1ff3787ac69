"""The security log: who proved who they are, who failed to, and what became of passwords, tokens and roles.

It stands beside the audit log, which is about objects that were changed: a sign-in changes none, and a failed one
may be about nobody we know. Of a name that no account has only four digits of a keyed hash are kept, for people
type passwords into the field of the name: one sees that the same name was tried again, and never what it was.
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

# These stand in the audit log as well, which says more of them.
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
# By these a person has proved at an address who they are.
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
    """One more line, with the address, program and id of the present request."""
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
    """What axes and the limits know a typed name by: nobody reads the name from it without the secret key."""
    return salted_hmac("scriptsmith.typed-name", name, algorithm="sha256").hexdigest()


def unknown_name_mark(name: str) -> str:
    """What the log keeps of a name that no account has."""
    return name_key(name)[:4]


def axes_name(request: HttpRequest, credentials: dict[str, str] | None = None) -> str:
    """The name as django-axes is to store it; called by axes alone."""
    name = (credentials or {}).get("username") or request.POST.get("username", "")
    # However its letters are typed, a name has one count of failures.
    known = find_user(name)
    return name_key(known.username if known else name)


def has_proved_here(user: User, address: str | None) -> bool:
    """Whether the person has signed in from this address in the last 90 days, or set their password there."""
    if address is None:
        return False
    since = timezone.now() - _PROOF_HOLDS
    proofs = SecurityEvent.objects.filter(user=user, address=address, at__gte=since)
    return proofs.filter(kind__in=_PROOFS).exists()


def events_of(user: User) -> QuerySet[SecurityEvent]:
    """What concerns the person's own account, the newest first."""
    return SecurityEvent.objects.filter(user=user).select_related("user", "by").order_by("-pk")


# --- Django's signals: every way of signing in or out sends them ------------------------------------------------


def note_sign_in(user: User, request: HttpRequest, **_signal: object) -> None:
    """Connected after the session was told of its beginning, which says what the person proved themselves by."""
    note(Kind.SIGNED_IN, user=user, by=user, detail=proofs_of(request.session))


def note_sign_out(user: User | None, **_signal: object) -> None:
    if user is not None:  # whose session had ended signs out of nothing
        note(Kind.SIGNED_OUT, user=user, by=user)


def note_failure(
    credentials: dict[str, str], request: HttpRequest | None = None, **_signal: object
) -> None:
    """A wrong password, and the lockout that it brings; what comes during a lockout adds no line.

    Connected after axes, which has counted this failure.
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


# --- What ends ----------------------------------------------------------------------------------------------------


def forget_person(user: User) -> None:
    """What they did and what was tried on their account stays, without address and program; in a transaction."""
    with erasing():
        own = SecurityEvent.objects.filter(by=user) | SecurityEvent.objects.filter(
            user=user, by=None
        )
        own.update(address=None, agent="")


def delete_old() -> int:
    """Delete what is older than SCRIPTSMITH_SECURITY_LOG_DAYS; how many lines those were."""
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
