"""An OpenID Connect provider on loopback: `oidc-provider-mock`, whose responses a test can falsify."""

from __future__ import annotations

import json
import re
import threading
import urllib.request
from collections.abc import Callable
from html import unescape
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import flask
import jwt
import oidc_provider_mock
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from django.http import HttpResponse
from werkzeug.serving import make_server

from tests.web_client import WebClient

Change = Callable[[dict[str, Any]], dict[str, Any]]
START = "/login/single-sign-on/"


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_given: object) -> None:
        return None


class Provider:
    """An identity provider, used as a context manager.

    `discovery` and `id_token` change its responses, and `forge` signs with an unknown key.
    """

    def __init__(self, port: int = 0) -> None:
        self.discovery: Change = lambda document: document
        self.id_token: Change = lambda claims: claims
        self.userinfo: Change = lambda claims: claims
        self.forge = False
        self.asked: list[str] = []
        app = oidc_provider_mock.app()
        app.before_request(lambda: self.asked.append(flask.request.path))
        app.after_request(self._change)
        self._server = make_server("localhost", port, app, threaded=True)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def issuer(self) -> str:
        return f"http://localhost:{self._server.server_port}"

    def knows(self, subject: str, **claims: object) -> None:
        """Set the provider's claims about the user."""
        request = urllib.request.Request(
            f"{self.issuer}/users/{subject}",
            json.dumps({"preferred_username": subject, **claims}).encode(),
            {"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(request).close()

    def leave(self, client: WebClient, *, next_url: str = "") -> str:
        """Return the address to which the button on the sign-in page redirects."""
        client.get("/login/")
        page = client.post(START, {"next": next_url})
        found = re.search(r'<meta http-equiv="refresh" content="0; url=([^"]+)"', page.text)
        assert found, page.text
        return unescape(found[1])

    def agree(self, address: str, subject: str) -> str:
        """Sign in at the provider, and return the path to which it redirects the user."""
        data = urlencode({"sub": subject}).encode()
        try:
            urllib.request.build_opener(_Stay).open(address, data)
        except urllib.error.HTTPError as answer:
            parts = urlsplit(answer.headers["Location"])
            return f"{parts.path}?{parts.query}"
        raise AssertionError("the provider did not send the person back")

    def sign_in(
        self, client: WebClient, subject: str = "alice", *, next_url: str = ""
    ) -> HttpResponse:
        """Sign in, follow all redirects, and return the response to the callback."""
        return client.get(self.agree(self.leave(client, next_url=next_url), subject))

    def _change(self, response: flask.Response) -> flask.Response:
        if not response.is_json or response.status_code != 200:
            return response
        document = response.get_json()
        path = flask.request.path
        if path.endswith("openid-configuration"):
            document = self.discovery(document)
        elif path == "/userinfo":
            document = self.userinfo(document)
        elif path == "/oauth2/token":
            document["id_token"] = self._sign(document["id_token"])
        response.set_data(json.dumps(document))
        return response

    def _sign(self, token: str) -> str:
        header = jwt.get_unverified_header(token)
        claims = jwt.decode(token, options={"verify_signature": False})
        if self.forge:
            key: Any = generate_private_key(65537, 2048)
        else:
            own = flask.g.oidc_provider_mock_storage.jwk
            key = jwt.PyJWK(own.as_dict(is_private=True), "RS256").key
        return jwt.encode(self.id_token(claims), key, "RS256", headers=header)
