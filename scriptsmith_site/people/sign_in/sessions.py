"""Sessions in a table that records their user. A prepared statement reads them, because every page needs them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from allauth.account.internal.stagekit import LOGIN_SESSION_KEY
from allauth.account.utils import url_str_to_user_pk
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session as FormerSession
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from core.database.prepared import fetch
from scriptsmith_site.models import Session
from scriptsmith_site.origin import current_origin

_READ = (
    "SELECT session_data, last_seen_at FROM scriptsmith_site_session"
    " WHERE session_key = %s AND expire_date > %s"
)
# The key under which the session stores data about its start.
_BEGINNING = "beginning"
_PROVED_AT = "proved_at"
_SEEN_IS_NOTED_EVERY = timedelta(minutes=5)
_PROOF_HOLDS = timedelta(minutes=15)


class SessionStore(DatabaseStore):
    """The session store of this site."""

    seen_at: datetime | None = None

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """Return the row for the session's data."""
        row = super().create_model_instance(data)
        assert isinstance(row, Session)
        beginning = data.get(_BEGINNING) or {}
        # A pending sign-in already belongs to the user and ends with the user's sessions.
        waiting = data.get(LOGIN_SESSION_KEY)
        if SESSION_KEY in data:
            row.user_id = int(data[SESSION_KEY])
        else:
            row.user_id = url_str_to_user_pk(waiting["user_pk"]) if waiting else None
        row.started_at = parse_datetime(beginning["at"]) if beginning else None
        row.address = beginning.get("address")
        row.agent = beginning.get("agent", "")
        row.proofs = beginning.get("proofs", "")
        row.last_seen_at = timezone.now()
        return row

    def load(self) -> dict[str, object]:
        """Return the session's data.

        If the session does not exist or has expired, return no data and discard the key.
        """
        for data, seen_at in fetch(_READ, [self.session_key, timezone.now()]):
            assert isinstance(seen_at, datetime)
            self.seen_at = seen_at
            found: dict[str, object] = self.decode(str(data))
            return found
        self._session_key = None
        return {}


def note_beginning(session: SessionBase, *, proofs: str) -> None:
    """Record the time, address, program and authentication methods of a sign-in."""
    origin, now = current_origin(), timezone.now()
    session[_BEGINNING] = {
        "at": now.isoformat(),
        "address": origin.address,
        "agent": origin.agent,
        "proofs": proofs[:200],
    }
    note_proof(session)


def proofs_of(session: SessionBase) -> str:
    """Return the authentication methods of the session as text."""
    return str(session.get(_BEGINNING, {}).get("proofs", ""))


def note_proof(session: SessionBase) -> None:
    """Record that the user has just authenticated."""
    session[_PROVED_AT] = timezone.now().isoformat()


def was_proved_lately(session: SessionBase) -> bool:
    """Return whether the user authenticated within the last 15 minutes."""
    proved_at = parse_datetime(session.get(_PROVED_AT, ""))
    return proved_at is not None and proved_at > timezone.now() - _PROOF_HOLDS


def note_seen(session: SessionBase) -> None:
    """Record the last use of a session, at most every five minutes."""
    seen_at, now = getattr(session, "seen_at", None), timezone.now()
    if seen_at is not None and seen_at < now - _SEEN_IS_NOTED_EVERY:
        Session.objects.filter(pk=session.session_key).update(last_seen_at=now)


def delete_old() -> None:
    """Delete expired sessions, and all rows of the former session table."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    FormerSession.objects.all().delete()
