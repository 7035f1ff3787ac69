"""Reauthentication before security settings change, to protect sessions that are left open."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_http_methods

from core.errors import BadInput
from core.web.requests import signed_in
from scriptsmith_site.people.forms import show_refusal_in
from scriptsmith_site.people.second_factor.forms import AnyCodeForm, ConfirmForm
from scriptsmith_site.people.second_factor.services import factors_of, prove_by_code
from scriptsmith_site.people.services import require_password
from scriptsmith_site.people.sign_in.sessions import note_proof, was_proved_lately

View = Callable[..., HttpResponse]


def proved_lately(view: View, *, page: str = "") -> View:
    """Require that the user authenticated within the last 15 minutes.

    Otherwise, the view is not called. After reauthentication, the user returns to `page` with the view's arguments, or
    to the page of second factors.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if was_proved_lately(request.session):
            return view(request, *args, **kwargs)
        sent_from = reverse(page, kwargs=kwargs) if page else reverse("second-factor")
        back = request.path if request.method == "GET" else sent_from
        return redirect(f"{reverse('confirm')}?{urlencode({'next': back})}")

    return wrapped


@require_http_methods(["GET", "POST"])
def confirm(request: HttpRequest) -> HttpResponse:
    """Reauthenticate the user with a password, or with a code if the account has no password."""
    user = signed_in(request)
    form = _form_for(user, request)
    if form is not None and form.is_valid():
        try:
            _check(user, form)
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            note_proof(request.session)
            return HttpResponseRedirect(safe_next(request) or reverse("second-factor"))
    context = {"form": form, "next": safe_next(request)}
    status = 422 if form is not None and form.errors else 200
    return render(request, "people/confirm.html", context, status=status)


def safe_next(request: HttpRequest) -> str:
    """Return the path of the `next` parameter if it belongs to this site, or an empty string."""
    wanted = request.POST.get("next", request.GET.get("next", ""))
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours and wanted.startswith("/") else ""


def _form_for(user: User, request: HttpRequest) -> forms.Form | None:
    """Return the form, or None if the user has neither a password nor an app and must sign in again."""
    if user.has_usable_password():
        return ConfirmForm(request.POST or None)
    return AnyCodeForm(request.POST or None) if factors_of(user).app else None


def _check(user: User, form: forms.Form) -> None:
    """Verify the password or code. Raises BadInput and TooManyAttempts."""
    if isinstance(form, ConfirmForm):
        require_password(user, form.cleaned_data["current_password"], field="current_password")
    else:
        prove_by_code(user, form.cleaned_data["code"])
