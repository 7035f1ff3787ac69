"""Request id, sign-in, preferences, refusals: what surrounds every view."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.contrib.auth.middleware import LoginRequiredMiddleware as DjangoLoginRequiredMiddleware
from django.contrib.auth.middleware import get_user
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from catalog.types import Refused
from scriptsmith_site import errors, logs
from scriptsmith_site.people.preferences import preferences_of

GetResponse = Callable[[HttpRequest], HttpResponse]
View = Callable[..., HttpResponseBase]
Args = tuple[object, ...]
Kwargs = dict[str, object]

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


class RequestIdMiddleware:
    """Each request has an id, the caller's where it is sane: in answer, logs and audit log."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        offered = request.META.get("HTTP_X_REQUEST_ID", "")
        name = offered if _SANE_ID.fullmatch(offered) else secrets.token_hex(8)
        # What the audit log notes of a request.
        request.META["HTTP_X_CORRELATION_ID"] = name
        token = logs.request_id.set(name)
        try:
            response = self.get_response(request)
        finally:
            logs.request_id.reset(token)
        response["X-Request-ID"] = name
        return response


class NoStoreMiddleware:
    """No browser or proxy keeps an answer: behind Back, on a shared machine, would be what a person saw.

    But for what says itself that it is for everybody, and static files, which do not come this far.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "public" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "no-store, private"
        return response


class LoginRequiredMiddleware(DjangoLoginRequiredMiddleware):
    """Every page needs a signed-in person, but for views marked with `login_not_required`.

    A link leads through the sign-in page; what was sent by a form, htmx or a program is not lost.
    """

    def process_view(
        self, request: HttpRequest, view_func: View, view_args: Args, view_kwargs: Kwargs
    ) -> HttpResponseBase | None:
        to_sign_in = super().process_view(request, view_func, view_args, view_kwargs)
        by_script = errors.is_from_script(request) or errors.wants_json(request)
        if to_sign_in and (by_script or request.method == "POST"):
            return errors.show_expired_session(request)
        return to_sign_in


class PreferencesMiddleware:
    """Times are shown in the person's time zone, pages in their theme and with their keys."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(timezone.get_default_timezone()):
            return self.get_response(request)

    def process_view(self, request: HttpRequest, view: View, args: Args, kwargs: Kwargs) -> None:
        # Pages without sign-in must answer even while the database does not.
        if getattr(view, "login_required", True) and request.user.is_authenticated:
            # The person and not a promise of them, which is asked anew for whatever is wanted of it.
            request.user = get_user(request)
            preferences = preferences_of(request)
            request.theme = preferences.theme  # type: ignore[attr-defined]
            request.changed_keys = preferences.keys  # type: ignore[attr-defined]
            timezone.activate(ZoneInfo(preferences.time_zone or "UTC"))


class RefusalMiddleware:
    """What a service refused and no view answered becomes a page, or a fragment for htmx."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return errors.show_refusal(request, exception) if isinstance(exception, Refused) else None
