"""Send requests as a browser with a CSRF token would, and roll back their changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponseBase
from django.test import RequestFactory
from django.test.client import ClientHandler
from django.urls import reverse

from tests.web_client import WebClient

NOTHING_THERE = "no history"  # the admin's response for a missing row
_TOKEN = "c" * 32


class _Requests(RequestFactory):
    """Django's request factory with a client handler. The test client would record every template, which is slow."""

    handler = ClientHandler(enforce_csrf_checks=True)

    def request(self, **request: object) -> HttpResponseBase:  # type: ignore[override]
        response: HttpResponseBase = self.handler(self._base_environ(**request))
        return response


class Browser:
    """The browser of a user or of an anonymous visitor."""

    def __init__(self, user: User | None = None, *, token: str = "") -> None:
        self._requests = _Requests()
        client = WebClient()
        if user is not None:
            client.force_login(user)
        client.cookies[settings.CSRF_COOKIE_NAME] = _TOKEN
        self._is_anonymous = user is None
        self._cookies = client.cookies.output()
        self._admin = ""
        self._headers = {"Authorization": f"Bearer {token}"} if token else {"X-CSRFToken": _TOKEN}

    def answer(self, method: str, url: str) -> str:
        """Return allowed, 403, 404, 405, sign-in, no history, or an error. Roll back all changes."""
        return self.ask(method, url)[0]

    def ask(self, method: str, url: str) -> tuple[str, str]:
        """Return the result from `answer` and the page's HTML, which is empty for streams and other content types."""
        with undone():
            response = self._send(method, url, **self._refused_as(method))
            kind = response.headers.get("Content-Type", "")
            is_page = "html" in kind and not response.streaming
            html = response.content.decode() if is_page else ""  # type: ignore[attr-defined]
            return self._sort(response, url), html

    def get(self, url: str) -> HttpResponseBase:
        """Return the response itself. Its changes are not rolled back, and the caller reads streams."""
        return self._send("GET", url)

    def _refused_as(self, method: str) -> dict[str, str]:
        """Return headers that request JSON, because three in five responses are denials, whose HTML pages are all the
        same.

        An anonymous browser requests HTML, because it follows redirects to the sign-in page.
        """
        if self._is_anonymous and method == "GET":
            return {}
        return {"Accept": "application/json"}

    def _send(self, method: str, url: str, **headers: str) -> HttpResponseBase:
        # Discard the cookies that the previous response set.
        self._requests.cookies = SimpleCookie(self._cookies.replace("Set-Cookie: ", ""))
        kind = {"content_type": "application/json"} if url.startswith("/api/") else {}
        send = getattr(self._requests, method.lower())
        body = {"data": {}} if method != "GET" and kind else {}
        response: HttpResponseBase = send(url, headers={**self._headers, **headers}, **body, **kind)
        return response

    def _sort(self, response: HttpResponseBase, url: str) -> str:
        status = response.status_code
        if status >= 500 or status in (403, 404, 405):
            return str(status)
        to = urlsplit(response.headers.get("Location", "")).path
        if to == reverse("admin:login"):  # check whether the user may sign in there
            self._admin = self._admin or self._sort(self._send("GET", to), to)
            return self._admin
        if to == reverse("admin:index") and "/history/" in url:
            return NOTHING_THERE
        if status == 401 or (to == reverse("login") and "next=" in response.headers["Location"]):
            return "sign-in"
        return "allowed"


@contextmanager
def undone() -> Iterator[None]:
    """Roll back all database changes made in the block."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
