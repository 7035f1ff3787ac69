"""The MCP endpoint: one URL that accepts POST, returns JSON and authenticates by token only."""

from __future__ import annotations

import logging
from functools import partial
from io import BytesIO
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import ParseError

from core.errors import BadInput
from core.web.parsers import JSONParser
from core.web.site_address import site_url
from scriptsmith_site.integrations.agents import protocol
from scriptsmith_site.integrations.agents.caller import AGENT_SCOPES, Caller
from scriptsmith_site.integrations.agents.pause import is_paused
from scriptsmith_site.models import ApiToken
from scriptsmith_site.origin import current_origin
from scriptsmith_site.people.second_factor.services import SecondFactorMissing
from scriptsmith_site.people.sign_in.guess_limits import TooManyAttempts
from scriptsmith_site.people.sign_in.tokens import find_token, note_use

MOST_BODY = 256 * 1024
UNAUTHORISED = -32001
NOT_NOW = -32002

logger = logging.getLogger(__name__)


class _Refusal(Exception):
    """A rejection that is sent before the message is read."""

    def __init__(self, status: int, code: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@csrf_exempt  # The view uses tokens and ignores cookies.
@login_not_required
def serve_agents(request: HttpRequest) -> HttpResponse:
    """Answer one message of the Model Context Protocol."""
    if request.method != "POST":
        return HttpResponse(
            "Use POST.",
            status=405,
            content_type="text/plain",
            headers={"Allow": "POST"},
        )
    key: str | int | None = None
    try:
        caller = _find_caller(request)
        _check_headers(request)
        message = protocol.read_message(_read_body(request))
        key = message.id
        version = request.headers.get("MCP-Protocol-Version", "")
        result = protocol.answer(message, caller, version=version)
    except _Refusal as refusal:
        return _error(None, refusal.code, str(refusal), refusal.status, refusal.headers)
    except protocol.Problem as problem:
        return _error(key, problem.code, str(problem), problem.status, {})
    if result is None:
        return HttpResponse(status=202)
    return JsonResponse({"jsonrpc": "2.0", "id": key, "result": result})


def _error(
    key: str | int | None, code: int, message: str, status: int, headers: dict[str, str]
) -> JsonResponse:
    body = {"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": message}}
    return JsonResponse(body, status=status, headers=headers)


def _check_headers(request: HttpRequest) -> None:
    origin = request.headers.get("Origin", "")
    if origin and not _is_own(origin, request):
        raise _Refusal(
            403, protocol.INVALID_REQUEST, "Requests from pages of other sites are not allowed."
        )
    if request.content_type != "application/json":
        raise _Refusal(415, protocol.INVALID_REQUEST, "Send application/json.")
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise _Refusal(415, protocol.INVALID_REQUEST, "Compressed bodies are not supported.")


def _is_own(origin: str, request: HttpRequest) -> bool:
    """Return whether the Origin header names this site."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    said = urlsplit(origin)
    return (said.scheme, said.netloc) == (request.scheme, request.get_host())


def _find_caller(request: HttpRequest) -> Caller:
    keyword, _space, secret = request.headers.get("Authorization", "").partition(" ")
    if keyword.lower() != "bearer" or not secret.strip():
        raise _Refusal(
            401,
            UNAUTHORISED,
            "Send a token: Authorization: Bearer sst_...",
            WWW_Authenticate="Bearer",
        )
    try:
        token = find_token(secret.strip(), address=current_origin().address)
    except TooManyAttempts as refusal:
        wait = str(refusal.seconds)
        raise _Refusal(429, UNAUTHORISED, str(refusal), Retry_After=wait) from None
    except SecondFactorMissing as refusal:
        raise _Refusal(403, UNAUTHORISED, str(refusal)) from None
    if token is None:
        raise _Refusal(
            401,
            UNAUTHORISED,
            "This token is unknown, expired or revoked.",
            WWW_Authenticate='Bearer error="invalid_token"',
        )
    scopes = AGENT_SCOPES & set(token.scopes)
    if not scopes:
        raise _Refusal(
            403,
            UNAUTHORISED,
            f"This token has none of the scopes {', '.join(sorted(AGENT_SCOPES))}.",
            WWW_Authenticate='Bearer error="insufficient_scope"',
        )
    if is_paused():
        raise _Refusal(503, NOT_NOW, "An administrator has paused agents.")
    note_use(token)
    return _caller(token, frozenset(str(scope) for scope in scopes), request)


def _caller(token: ApiToken, scopes: frozenset[str], request: HttpRequest) -> Caller:
    return Caller(token.user, scopes, token.name, token, partial(site_url, request=request))


def _read_body(request: HttpRequest) -> object:
    length = request.headers.get("Content-Length", "")
    too_large = _Refusal(
        413,
        protocol.INVALID_REQUEST,
        f"The message is too large. The limit is {MOST_BODY:,} bytes.",
    )
    if length.isdecimal() and int(length) > MOST_BODY:
        raise too_large
    body = request.read(MOST_BODY + 1)
    if len(body) > MOST_BODY:
        raise too_large
    try:
        return JSONParser().parse(BytesIO(body))
    except (ParseError, BadInput) as error:
        said = error.detail if isinstance(error, ParseError) else error
        raise protocol.Problem(protocol.PARSE_ERROR, str(said), status=400) from None
