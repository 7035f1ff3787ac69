"""The product's own address, as it stands in what leaves the page: files, e-mails, events, keys to copy."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site_url(path: str, request: HttpRequest | None = None) -> str:
    """The whole address of a page: by SCRIPTSMITH_URL, so that a file fetched by an inner name does not carry that.

    Where none is known, as the request came; without one, where the server listens.
    """
    if settings.SCRIPTSMITH_URL:
        return f"{settings.SCRIPTSMITH_URL}{path}"
    if request is not None:
        return request.build_absolute_uri(path)
    return f"http://{settings.BIND}:{settings.PORT}{path}"
