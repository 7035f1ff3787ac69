"""Sessions in a table of ours, which says whose each is, read by a prepared statement: every page reads one."""

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
# What a session holds of its own beginning, beside what Django and our sign-in keep in it.
_BEGINNING = "beginning"
_PROVED_AT = "proved_at"
_SEEN_IS_NOTED_EVERY = timedelta(minutes=5)
_PROOF_HOLDS = timedelta(minutes=15)


class SessionStore(DatabaseStore):
    """Where Django looks for the session of a request."""

    seen_at: datetime | None = None

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """The row of what the session holds."""
        row = super().create_model_instance(data)
        assert isinstance(row, Session)
        beginning = data.get(_BEGINNING) or {}
        # A sign-in that waits for its second factor is the person's already, and ends with their sessions.
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
        """What the session holds; empty, and without a key from then on, where there is none or it has ended."""
        for data, seen_at in fetch(_READ, [self.session_key, timezone.now()]):
            assert isinstance(seen_at, datetime)
            self.seen_at = seen_at
            found: dict[str, object] = self.decode(str(data))
            return found
        self._session_key = None
        return {}


def note_beginning(session: SessionBase, *, proofs: str) -> None:
    """Where and when the person signed in, and how; called at each sign-in."""
    origin, now = current_origin(), timezone.now()
    session[_BEGINNING] = {
        "at": now.isoformat(),
        "address": origin.address,
        "agent": origin.agent,
        "proofs": proofs[:200],
    }
    note_proof(session)


def proofs_of(session: SessionBase) -> str:
    """How the person proved who they are when the session began, in words."""
    return str(session.get(_BEGINNING, {}).get("proofs", ""))


def note_proof(session: SessionBase) -> None:
    """The person has just proved who they are."""
    session[_PROVED_AT] = timezone.now().isoformat()


def was_proved_lately(session: SessionBase) -> bool:
    """Whether the person has proved who they are within the last quarter of an hour."""
    proved_at = parse_datetime(session.get(_PROVED_AT, ""))
    return proved_at is not None and proved_at > timezone.now() - _PROOF_HOLDS


def note_seen(session: SessionBase) -> None:
    """When it was last used is known to five minutes; a busy session does not write at every request."""
    seen_at, now = getattr(session, "seen_at", None), timezone.now()
    if seen_at is not None and seen_at < now - _SEEN_IS_NOTED_EVERY:
        Session.objects.filter(pk=session.session_key).update(last_seen_at=now)


def delete_old() -> None:
    """Delete the rows of sessions that have ended by themselves, and all of the table that sessions were in before."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    FormerSession.objects.all().delete()
