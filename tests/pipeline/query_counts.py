"""How many queries a page takes: the same number for one row and for thirty."""

from __future__ import annotations

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def count_queries(client: Client, address: str, **headers: str) -> int:
    """Queries of one request that must succeed, those for session and person included."""
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address, headers=headers)
    assert response.status_code in (200, 204)
    return len(queries)
