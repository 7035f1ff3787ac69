"""The product's own address, as written in files, e-mails, events and copied links."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site_url(path: str, request: HttpRequest | None = None) -> str:
    """The absolute URL of a page. Based on SCRIPTSMITH_URL, so that a file that was fetched by an internal name
    does not contain that name.

    Without that setting, as the request came in; without a request, where the server listens.
    """
    if settings.SCRIPTSMITH_URL:
        return f"{settings.SCRIPTSMITH_URL}{path}"
    if request is not None:
        return request.build_absolute_uri(path)
    return f"http://{settings.BIND}:{settings.PORT}{path}"
