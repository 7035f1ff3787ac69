"""Error pages and API errors."""

from __future__ import annotations

import sys
from typing import NamedTuple, TypeVar

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from core.errors import BadInput, NotAllowedNow, Paused, Refused, TooManyRequests
from core.web.requests import wants_fragment
from scriptsmith_site.people.forms import SignInForm
from scriptsmith_site.people.second_factor.services import SecondFactorMissing
from scriptsmith_site.people.sign_in.guess_limits import TooManyAttempts
from scriptsmith_site.people.sign_in.unsent_forms import keep, sent_by
from scriptsmith_site.web.outages import Outage, outage_of

AnyResponse = TypeVar("AnyResponse", bound=HttpResponseBase)


class ErrorKind(NamedTuple):
    status: int
    code: str  # stable, for programs


BAD_REQUEST = ErrorKind(400, "bad_request")
UNSUPPORTED = ErrorKind(415, "unsupported_media_type")


def wants_json(request: HttpRequest) -> bool:
    """Return whether the client expects JSON."""
    if request.path_info.startswith("/api/"):
        return True
    return request.headers.get("Accept", "").startswith("application/json")


def is_from_script(request: HttpRequest) -> bool:
    """Return whether htmx or a script of this site sent the request, so that the browser stays on the page."""
    return request.headers.get("HX-Request") == "true" or "X-Requested-With" in request.headers


def error_body(code: str, message: str, field: str = "") -> dict[str, dict[str, str]]:
    """Return the body of an API error."""
    return {"error": {"code": code, "message": message, "field": field}}


def show_error(
    request: HttpRequest, kind: ErrorKind, *, detail: str = "", field: str = ""
) -> HttpResponse:
    """Return the error as a page, as JSON, or as a fragment for htmx. `detail` describes the specific error."""
    status, code = kind
    if wants_json(request):
        body = error_body(code, detail or code.replace("_", " "), field)
        return JsonResponse(body, status=status)
    if wants_fragment(request):
        context = {"text": detail or _("The server rejected the request. Nothing was changed.")}
        return render(request, "components/_refusal.html", context, status=status)
    return render(request, f"errors/{status}.html", {"detail": detail}, status=status)


def show_refusal(request: HttpRequest, refusal: Refused) -> HttpResponse:
    """Return the error response for a service's refusal that no view handled."""
    answer = show_error(request, _kind_of(refusal), detail=str(refusal), field=_field_of(refusal))
    return _with_wait(answer, refusal)


def show_locked_out(
    request: HttpRequest, response: HttpResponse | None = None, credentials: object = None
) -> HttpResponse:
    """Return the response of django-axes after too many wrong passwords from one address."""
    words = _("Too many wrong passwords. Wait 15 minutes, then try again.")
    seconds = round(settings.AXES_COOLOFF_TIME * 60 * 60)
    return show_refusal(request, TooManyAttempts(words, seconds=seconds))


def show_method_not_allowed(request: HttpRequest, allowed: str) -> HttpResponse:
    """Return a 405 response with the `allowed` methods, if they are known."""
    detail = _("This page does not support %(method)s requests.") % {
        "method": str(request.method)[:20]
    }
    answer = show_error(request, ErrorKind(405, "method_not_allowed"), detail=detail)
    if allowed:
        answer["Allow"] = allowed
    return answer


def show_expired_session(request: HttpRequest) -> HttpResponse:
    """Return a 401 response that keeps the user's input.

    For requests from scripts, the browser stays on the page, and live.js links to the sign-in page. A submitted form is
    stored in the sign-in page and submitted again after sign-in.
    """
    message = _("You are not signed in, or your session has ended. Nothing was changed.")
    if wants_json(request):
        return JsonResponse(error_body("not_signed_in", message), status=401)
    if is_from_script(request):
        return HttpResponse(
            message, status=401, headers={"HX-Reswap": "none", "X-Session": "expired"}
        )
    context = {
        "form": SignInForm(request),
        "next": request.get_full_path(),
        "kept": keep(sent_by(request)),
    }
    return render(request, "registration/login.html", context, status=401)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 400 errors, and 413 errors for requests that are too large."""
    if isinstance(exception, RequestDataTooBig):
        most = filesizeformat(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        return show_error(
            request,
            ErrorKind(413, "too_large"),
            detail=_("The limit is %(most)s.") % {"most": most},
        )
    return show_error(request, BAD_REQUEST)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 403 errors."""
    return show_error(request, ErrorKind(403, "not_permitted"), detail=str(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 404 errors. The exception's message is for developers and is not shown."""
    return show_error(request, ErrorKind(404, "not_found"))


def server_error(request: HttpRequest) -> HttpResponse:
    """Handle 500 errors without the request's context, because any part of it may be broken.

    Return 503 if the database is unavailable or the disk is full, because a retry may then succeed.
    """
    if outage := outage_of(sys.exc_info()[1]):
        return _show_outage(request, outage)
    if wants_json(request):
        return JsonResponse(
            error_body("server_error", _("An error occurred on the server.")), status=500
        )
    return HttpResponse(render_to_string("errors/500.html"), status=500)


def _show_outage(request: HttpRequest, outage: Outage) -> HttpResponse:
    headers = {"Retry-After": "30", "Cache-Control": "no-store"}
    said = f"{outage.title}. {outage.text}"
    if wants_json(request):
        return JsonResponse(error_body(outage.code, said), status=503, headers=headers)
    # Check the headers, because htmx's middleware may not have run yet.
    if is_from_script(request):
        text = render_to_string("components/_refusal.html", {"text": said})
    else:
        text = render_to_string("errors/503.html", outage._asdict())
    return HttpResponse(text, status=503, headers=headers)


def handle_api_exception(exception: Exception, context: dict[str, object]) -> Response | None:
    """Return an API error as {"error": {"code", "message", "field"}}, or None for an unexpected exception."""
    if isinstance(exception, Refused):
        kind = _kind_of(exception)
        body = error_body(kind.code, str(exception), _field_of(exception))
        return _with_wait(Response(body, status=kind.status), exception)
    # REST framework sets the status and the headers. Replace only the body.
    response = exception_handler(exception, context)
    if response is None:
        return None
    if isinstance(exception, ValidationError):
        field, message = _first_problem(exception.detail)
        response.status_code, response.data = 422, error_body("bad_input", message, field)
    elif isinstance(exception, Http404):
        response.data = error_body("not_found", _("Not found."))
    elif isinstance(exception, PermissionDenied):
        response.data = error_body(
            "not_permitted", str(exception) or _("You don't have permission to do this.")
        )
    elif isinstance(exception, APIException):
        response.data = error_body(_code_of(exception), str(exception.detail))
    return response


def _with_wait(response: AnyResponse, refusal: Refused) -> AnyResponse:
    if isinstance(refusal, TooManyAttempts | TooManyRequests):
        response["Retry-After"] = str(refusal.seconds)
    return response


def _kind_of(refusal: Refused) -> ErrorKind:
    if isinstance(refusal, TooManyAttempts):
        return ErrorKind(429, "too_many_attempts")
    if isinstance(refusal, TooManyRequests):
        return ErrorKind(429, "too_many_requests")
    if isinstance(refusal, Paused):
        return ErrorKind(503, "paused")
    if isinstance(refusal, SecondFactorMissing):
        return ErrorKind(403, "second_factor_missing")
    if isinstance(refusal, NotAllowedNow):
        return ErrorKind(409, "not_allowed_now")
    return ErrorKind(422, "bad_input" if isinstance(refusal, BadInput) else "refused")


def _field_of(refusal: Refused) -> str:
    return refusal.field if isinstance(refusal, BadInput) else ""


def _first_problem(detail: object, path: str = "") -> tuple[str, str]:
    """Return the first error in REST framework's nested lists and dicts, with its field."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            step = "" if name == "non_field_errors" else str(name)
            return _first_problem(inner, ".".join(part for part in (path, step) if part))
    if isinstance(detail, list):
        for position, inner in enumerate(detail):
            if inner:
                nested = f"{path}.{position}" if isinstance(inner, dict) else path
                return _first_problem(inner, nested)
    return path, str(detail)


def _code_of(exception: APIException) -> str:
    codes = exception.get_codes()
    return codes if isinstance(codes, str) else "refused"
