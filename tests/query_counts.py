"""Count the queries of a page. Tests check that the count is the same for one row and for thirty."""

from __future__ import annotations

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def count_queries(client: Client, address: str, **headers: str) -> int:
    """Return the number of database queries of a successful request, including those for the session and the user."""
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address, headers=headers)
    assert response.status_code in (200, 204)
    return len(queries)
