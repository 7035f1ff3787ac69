"""List and end the sessions of a user."""

from __future__ import annotations

from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow
from scriptsmith_site.models import Session
from scriptsmith_site.people.security_log import Kind, note


def sessions_of(user: User) -> QuerySet[Session]:
    """Return the user's active sessions, the most recently used first."""
    live = Session.objects.filter(user=user, expire_date__gt=timezone.now())
    return live.exclude(started_at=None).order_by("-last_seen_at", "-started_at")


def mark_of(session: Session) -> str:
    """Return a public ID of a session. The session's key is secret, because it grants access."""
    return sha256(session.session_key.encode()).hexdigest()[:24]


@transaction.atomic
def end_session(user: User, mark: str) -> None:
    """End the user's session with this public ID. Raises NotAllowedNow if it does not exist."""
    session = next((one for one in sessions_of(user) if mark_of(one) == mark), None)
    if session is None or not Session.objects.filter(pk=session.pk).delete()[0]:
        raise NotAllowedNow(_("This session has already ended."))
    record(user, "session ended", by=user)
    note(Kind.SESSION_ENDED, user=user, by=user, detail=session.agent)


@transaction.atomic
def end_sessions(user: User, *, by: User | None, keep: str | None = None) -> int:
    """End all sessions of the user except for the session with the key `keep`, and return their number.

    Pending sign-ins also end, but they are not counted.
    """
    ended = sessions_of(user).exclude(pk=keep or "").count()
    Session.objects.filter(user=user).exclude(pk=keep or "").delete()
    if ended:
        record(user, "sessions ended", by=by, sessions=(ended, 0))
        note(Kind.SESSION_ENDED, user=user, by=by, detail=f"{ended} of this account")
    return ended
