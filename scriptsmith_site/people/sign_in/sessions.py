"""Sessions in the database as Django has them, read by a prepared statement: every page reads one."""

from __future__ import annotations

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone

from core.database.prepared import fetch

_READ = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class SessionStore(DatabaseStore):
    """Where Django looks for the session of a request."""

    def load(self) -> dict[str, object]:
        """What the session holds; empty, and without a key from then on, where there is none or it has ended."""
        for (data,) in fetch(_READ, [self.session_key, timezone.now()]):
            found: dict[str, object] = self.decode(str(data))
            return found
        self._session_key = None
        return {}
