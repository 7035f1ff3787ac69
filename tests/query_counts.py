"""Count the queries of a page, which must be the same for one row and for thirty."""

from __future__ import annotations

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def count_queries(client: Client, address: str, **headers: str) -> int:
    """Return the number of queries of a request that must succeed, including those for session and user."""
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address, headers=headers)
    assert response.status_code in (200, 204)
    return len(queries)
