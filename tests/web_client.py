"""The HTTP client for all tests, which enforces CSRF checks as a browser does.

Requests that change data send a CSRF token:

- If a fetched page has a form for the address, the client sends that form's token, or no token if the form has none.
- Requests by htmx or a script (`HX-Request`, `X-Requested-With`, JSON, the API with a session) send `X-CSRFToken` from
  the `hx-headers` of the newest page.
- If no such page was fetched, the client sends the token that any page would have given to this session.
- If the request has an API bearer token, or the test sets a CSRF token, the client adds nothing.
"""

from __future__ import annotations

import re
import secrets
import string
from copy import copy
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.template import Context, Template
from django.test import Client
from django.test import client as django_client
from django.test.client import MULTIPART_CONTENT
from django.test.utils import ContextList

from scriptsmith_site.people.sign_in.entrance import note_session
from scriptsmith_site.people.sign_in.sessions import SessionStore
from tests.page_forms import TOKEN, forms_in

_SECRET_LENGTH = 32
_HEADER = re.compile(r'hx-headers=\'\{"X-CSRFToken": "([^"]*)"\}\'')
_URLENCODED = "application/x-www-form-urlencoded"
_FORM_TYPES = (MULTIPART_CONTENT, _URLENCODED)


def _keep_page_context(
    kept: dict[str, Any], *, template: Template, context: Context, **rest: object
) -> None:
    """Store every template, but only the context of whole pages. Django's client copies the context of each partial
    template."""
    kept.setdefault("templates", []).append(template)
    if context.template is template:
        kept.setdefault("context", ContextList()).append(copy(context))


django_client.store_rendered_templates = _keep_page_context


class WebClient(Client):
    """A browser session with its cookies, fetched pages and their tokens."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"enforce_csrf_checks": True, **options})
        self._pages: dict[str, str] = {}  # fetched pages by path, newest last

    def post(
        self,
        path: str,
        data: Any = None,
        content_type: str = MULTIPART_CONTENT,
        *arguments: Any,
        **options: Any,
    ) -> HttpResponse:
        headers = dict(options.get("headers") or {})
        if data is None and _is_api(path):
            data, content_type = "", "application/json"  # no body, as API programs send it
        if not self._is_exempt(path, headers, data):
            if _is_script(path, content_type, headers):
                headers.setdefault("X-CSRFToken", self._page_token())
            else:
                data = _with_token(data, content_type, self._form_token(path))
        options["headers"] = headers or None
        return super().post(path, data, content_type, *arguments, **options)

    def generic(self, method: str, path: str, *arguments: Any, **options: Any) -> HttpResponse:
        headers = dict(options.get("headers") or {})
        if method in ("PUT", "PATCH", "DELETE") and not self._is_exempt(path, headers, None):
            headers.setdefault("X-CSRFToken", self._page_token())
            options["headers"] = headers
        return super().generic(method, path, *arguments, **options)

    def request(self, **request: Any) -> HttpResponse:
        """Send one request and store the page if the response is HTML. Each redirect that the client follows is also
        such a request."""
        response = super().request(**request)
        if not response.streaming and response.get("Content-Type", "").startswith("text/html"):
            path = request["PATH_INFO"].encode("latin-1").decode(errors="replace")
            self._pages.pop(path, None)
            self._pages[path] = response.content.decode(errors="replace")
        return response

    def _login(self, user: User, backend: str) -> None:
        """Store a new session with one query. Django's client also records a sign-in, which takes fifteen queries."""
        if settings.SESSION_COOKIE_NAME in self.cookies:
            super()._login(user, backend)
            return
        request = HttpRequest()
        request.session = session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = backend
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        note_session(request, user)
        session._session_key = secrets.token_hex(16)
        session.create_model_instance(session._session).save(force_insert=True)
        self._set_login_cookies(request)

    def logout(self) -> None:
        """Log out and forget all pages. Django's `logout` also clears the cookies."""
        super().logout()
        self._pages.clear()

    def _is_exempt(self, path: str, headers: dict[str, str], data: object) -> bool:
        """Return whether the test sets the token itself or the request does not come from a browser."""
        given = {name.lower() for name in headers}
        if "authorization" in given or "x-csrftoken" in given:
            return True
        if "HTTP_AUTHORIZATION" in self.defaults and _is_api(path):
            return True
        if not self.handler.enforce_csrf_checks:
            return True
        return isinstance(data, dict | str) and TOKEN in data

    def _form_token(self, path: str) -> str | None:
        """Return the token of the form for this address. Return None if a fetched form has no token."""
        wanted = unquote(urlsplit(path).path)
        for address, html in reversed(self._pages.items()):
            if "<form" not in html or not (address == wanted or _names(html, wanted)):
                continue
            found = [
                form.tokens
                for form in forms_in(html)
                if form.method == "post"
                and any(_goes_to(one, wanted, address) for one in form.addresses)
            ]
            if found:
                return next(iter(found[0]), None) if all(found) else None
        return self._page_token()

    def _page_token(self) -> str:
        """Return the newest page's token for scripts, or the token that any page would have."""
        for html in reversed(self._pages.values()):
            if found := _HEADER.search(html):
                return found[1]
        cookie = self.cookies.get(settings.CSRF_COOKIE_NAME)
        if cookie is None or not cookie.value:
            letters = string.ascii_letters + string.digits
            self.cookies[settings.CSRF_COOKIE_NAME] = "".join(
                secrets.choice(letters) for _one in range(_SECRET_LENGTH)
            )
        return str(self.cookies[settings.CSRF_COOKIE_NAME].value)


def _is_script(path: str, content_type: str, headers: dict[str, str]) -> bool:
    given = {name.lower() for name in headers}
    return (
        "hx-request" in given
        or "x-requested-with" in given
        or _is_api(path)
        or content_type not in _FORM_TYPES
    )


def _is_api(path: str) -> bool:
    return urlsplit(path).path.startswith("/api/")


def _names(html: str, path: str) -> bool:
    return f'action="{path}' in html


def _goes_to(action: str, wanted: str, page: str) -> bool:
    """Return whether a form with this action on this page is submitted to the wanted path."""
    path = unquote(urlsplit(action).path)
    return (path or page) == wanted


def _with_token(data: Any, content_type: str, token: str | None) -> Any:
    if token is None:
        return data
    if content_type == _URLENCODED:
        return "&".join(filter(None, [data or "", urlencode({TOKEN: token})]))
    return {**(data or {}), TOKEN: token}
