"""Request id, sign-in, preferences, refusals: what surrounds every view."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.contrib.auth.middleware import LoginRequiredMiddleware as DjangoLoginRequiredMiddleware
from django.contrib.auth.middleware import get_user
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import BadInput, Refused
from core.web.parsers import require_usable
from core.web.storable_text import MOST_KEY, has_control_character, why_unreadable, why_unusable
from review.services import exposure
from scriptsmith_site import logs
from scriptsmith_site.people.preferences.session import preferences_of
from scriptsmith_site.people.second_factor.services import SecondFactorMissing, is_missing
from scriptsmith_site.people.sign_in.sessions import note_seen
from scriptsmith_site.web import errors

GetResponse = Callable[[HttpRequest], HttpResponse]
View = Callable[..., HttpResponseBase]
Args = tuple[object, ...]
Kwargs = dict[str, object]

_API = "/api/"
_PAGE_METHODS = ("GET", "HEAD", "POST")
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


class MalformedRequestMiddleware:
    """What no view should have to think of is refused before any is asked, page or API.

    A character that no text can have, an invalid escape, a key that no row can have, a method that
    nothing here answers. What the body of a call of the API holds is for its parsers to judge.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._refuse(request) or self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: View, args: Args, kwargs: Kwargs
    ) -> HttpResponse | None:
        """Raises Http404 for a key beyond bigint, and what Django does for a form that can't be read."""
        if any(isinstance(value, int) and value > MOST_KEY for value in kwargs.values()):
            raise Http404
        if request.method == "POST" and not request.path_info.startswith(_API):
            try:
                _require_usable_form(request)
            except BadInput as refusal:
                return errors.show_refusal(request, refusal)
        return None

    def _refuse(self, request: HttpRequest) -> HttpResponse | None:
        # REST framework knows the methods of each of its addresses.
        if request.method not in _PAGE_METHODS and not request.path_info.startswith(_API):
            return errors.show_method_not_allowed(request, ", ".join(_PAGE_METHODS))
        if why_unusable(request.path_info):
            return errors.page_not_found(request, Http404())
        if any(
            has_control_character(value)
            for name, value in request.META.items()
            if name.startswith("HTTP_") or name == "CONTENT_TYPE"
        ):
            return errors.show_error(
                request, errors.BAD_REQUEST, detail=_("A header is malformed.")
            )
        charset = (request.content_params or {}).get("charset", "utf-8")
        if charset.lower() not in ("utf-8", "utf8"):
            return errors.show_error(
                request, errors.UNSUPPORTED, detail=_("Only UTF-8 is read here.")
            )
        if problem := why_unreadable(request.META.get("QUERY_STRING", "")):
            return _refuse_address(request, problem)
        return None


def _refuse_address(request: HttpRequest, problem: str) -> HttpResponse:
    pairs = (pair.split("=", 1) for pair in request.META["QUERY_STRING"].split("&"))
    name = next((one[0] for one in pairs if why_unreadable("=".join(one))), "")
    return errors.show_refusal(
        request, BadInput(problem, field="" if why_unreadable(name) else name)
    )


def _require_usable_form(request: HttpRequest) -> None:
    """Raise BadInput where a field, a file's name or what encodes them is malformed."""
    problem = ""
    if request.content_type == "application/x-www-form-urlencoded":
        problem = why_unreadable(request.body.decode("ascii", "replace"))
        # What decodes to usable text has only usable fields.
        if not problem:
            return
    for name, values in request.POST.lists():
        require_usable([name, *values], at=name)
    for name, files in request.FILES.lists():
        require_usable([name, *(file.name or "" for file in files)], at=name)
    if problem:
        raise BadInput(problem)


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
            note_seen(request.session)


class SecondFactorMiddleware:
    """Who needs a second factor and has none is led to set one up, and to nothing else but the way out."""

    _OPEN = frozenset(
        {
            "confirm",
            "logout",
            "second-factor",
            "second-factor-app",
            "second-factor-passkey",
            "settings-password",
        }
    )

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: View, args: Args, kwargs: Kwargs
    ) -> HttpResponse | None:
        """Nothing for whom it does not concern. Of the API, sessions; its tokens are looked at where they are read."""
        is_api = request.path_info.startswith(_API)
        if not (is_api or getattr(view, "login_required", True)) or not isinstance(
            request.user, User
        ):
            return None
        if not is_missing(request.user) or self._is_open(request):
            return None
        if is_api or errors.is_from_script(request):
            return errors.show_refusal(request, SecondFactorMissing())
        return redirect("second-factor")

    def _is_open(self, request: HttpRequest) -> bool:
        match = request.resolver_match
        return match is not None and match.view_name in self._OPEN


class ExposureMiddleware:
    """Whoever is shown a verdict is recorded before the answer leaves, or it does not leave."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with exposure.watching() as shown:
            response = self.get_response(request)
            if shown.runs or shown.campaigns:
                match = request.resolver_match
                exposure.write(shown, where=match.view_name if match else request.path_info)
        return response


class RefusalMiddleware:
    """What a service refused and no view answered becomes a page, or a fragment for htmx; so does a wrong method."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        if answer.status_code == 405 and not answer.content:
            return errors.show_method_not_allowed(request, answer.get("Allow", ""))
        if answer.status_code == 405 and answer.has_header("Allow"):
            # REST framework offers it whether or not there is anything to say.
            answer["Allow"] = answer["Allow"].removesuffix(", OPTIONS")
        return answer

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return errors.show_refusal(request, exception) if isinstance(exception, Refused) else None
