"""How the API pages its lists."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    """Pages by key, newest first, so that the last page costs what the first one does."""

    ordering = "-pk"
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200
