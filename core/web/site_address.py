"""The public URL of this installation, for files, emails, events and copied links."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site_url(path: str, request: HttpRequest | None = None) -> str:
    """Return the absolute URL of a page, based on SCRIPTSMITH_URL.

    The setting keeps internal host names out of downloaded files. Without the setting, the URL is based on the request
    or, without a request, on the address on which the server listens.
    """
    if settings.SCRIPTSMITH_URL:
        return f"{settings.SCRIPTSMITH_URL}{path}"
    if request is not None:
        return request.build_absolute_uri(path)
    return f"http://{settings.BIND}:{settings.PORT}{path}"
