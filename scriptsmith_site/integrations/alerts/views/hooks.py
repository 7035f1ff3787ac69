"""The webhook that receives alerts from other systems, without sessions and CSRF tokens."""

from __future__ import annotations

import json

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt

from scriptsmith_site.integrations.alerts.services.intake import (
    MOST_BYTES,
    Refused,
    Request,
    receive,
)
from scriptsmith_site.people.sign_in.guess_limits import TooManyAttempts


@csrf_exempt
@login_not_required
def receive_alerts(request: HttpRequest, kind: str, pk: int, token: str = "") -> HttpResponse:
    """Store an alert request and return 202. Senders may retry after 429 and 5xx only."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    try:
        # URLs appear in logs, so accept a token in the path only from senders that cannot set headers.
        in_path = token if kind == "instana" else ""
        if token and not in_path:
            raise Refused(404, "unknown address")
        receive(Request(kind, pk, lambda: _read(request), request.headers, in_path))
    except Refused as refusal:
        return _refuse(refusal.status, refusal.reason, seconds=60)
    except TooManyAttempts as refusal:
        return _refuse(429, str(refusal), seconds=refusal.seconds)
    return _answer(202, {"status": "accepted"})


def _read(request: HttpRequest) -> bytes:
    """Return the raw body, because signatures cover every byte."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Refused(415, "compressed bodies are not supported")
    if (request.content_type or "").startswith(("multipart/", "application/x-www-form-urlencoded")):
        raise Refused(415, "the body must be JSON")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > MOST_BYTES:
        raise Refused(413, f"the body is too large; the limit is {MOST_BYTES} bytes")
    body = request.body
    if len(body) > MOST_BYTES:
        raise Refused(413, f"the body is too large; the limit is {MOST_BYTES} bytes")
    return body


def _refuse(status: int, reason: str, *, seconds: int) -> HttpResponse:
    answer = _answer(status, {"error": {"code": "refused", "message": reason}})
    if status in (429, 503):
        answer["Retry-After"] = str(seconds)
    return answer


def _answer(status: int, body: dict[str, object]) -> HttpResponse:
    return HttpResponse(json.dumps(body), status=status, content_type="application/json")
