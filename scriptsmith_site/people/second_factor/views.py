"""Pages on which users manage their own second factors."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO

import qrcode
from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from qrcode.image.svg import SvgPathFillImage

from core.errors import BadInput
from core.web.requests import signed_in
from scriptsmith_site.people.forms import show_refusal_in
from scriptsmith_site.people.second_factor import passkeys, services
from scriptsmith_site.people.second_factor.forms import CodeForm, PasskeyForm
from scriptsmith_site.people.sign_in.confirmation import proved_lately
from scriptsmith_site.people.sign_in.credentials import needs_provider

_SECRET = "new_app_secret"


@require_GET
def show_factors(request: HttpRequest) -> HttpResponse:
    """Show the user's second factors, and the factors that the user can add."""
    return _render(request)


@require_http_methods(["GET", "POST"])
@proved_lately
def add_app(request: HttpRequest) -> HttpResponse:
    """Show the secret of a new app on GET, and verify the app's code on POST."""
    user = signed_in(request)
    secret = request.session.get(_SECRET)
    if secret is None:
        secret = request.session[_SECRET] = services.new_app_secret()
    form = CodeForm(request.POST or None)
    if form.is_valid():
        try:
            codes = services.add_app(user, secret, code=form.cleaned_data["code"])
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            del request.session[_SECRET]
            messages.success(
                request, _("Authenticator app added. Its codes are required when you sign in.")
            )
            return _render(request, codes=codes) if codes else redirect("second-factor")
    context = {
        "form": form,
        "picture": _picture(services.app_address(user, secret)),
        "secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
    }
    status = 422 if form.errors else 200
    return render(request, "people/second_factor/add_app.html", context, status=status)


@require_http_methods(["GET", "POST"])
@proved_lately
def add_passkey(request: HttpRequest) -> HttpResponse:
    """Show the registration options on GET, and add the new passkey on POST."""
    user = signed_in(request)
    form = PasskeyForm(request.POST or None)
    if form.is_valid():
        try:
            codes = passkeys.add(user, **form.cleaned_data)
        except BadInput as refusal:
            form.add_error(None, str(refusal))
        else:
            if needs_provider(user):
                words = _("Passkey added. Use it as a second step after single sign-on.")
            else:
                words = _("Passkey added. You can now use it to sign in.")
            messages.success(request, words)
            return _render(request, codes=codes) if codes else redirect("second-factor")
    context = {
        "form": form,
        "is_possible": passkeys.can_have_passkeys(request),
        "options": passkeys.begin_adding(user),
    }
    status = 422 if form.errors else 200
    return render(request, "people/second_factor/add_passkey.html", context, status=status)


@require_POST
@proved_lately
def remove_factor(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove one of the user's apps or passkeys."""
    user = signed_in(request)
    own = Authenticator.objects.filter(user=user, type__in=services.FACTORS)
    factor = get_object_or_404(own, pk=pk)
    services.remove(user, factor)
    messages.success(request, _("Second factor removed."))
    return redirect("second-factor")


@require_POST
@proved_lately
def make_codes(request: HttpRequest) -> HttpResponse:
    """Create recovery codes, and show them in the response.

    A redirect would lose the codes, which are shown only once.
    """
    return _render(request, codes=services.make_recovery_codes(signed_in(request)))


def _render(request: HttpRequest, *, codes: Sequence[str] = ()) -> HttpResponse:
    user = signed_in(request)
    context = {
        "factors": services.factors_of(user),
        "is_required": services.is_required(user),
        "needs_provider": needs_provider(user),
        "can_have_passkeys": passkeys.can_have_passkeys(request),
        "codes": [f"{code[:5]} {code[5:]}" for code in codes],
    }
    return render(request, "people/second_factor/list.html", context)


def _picture(text: str) -> str:
    """Return a QR code as a data URL, which the content security policy allows."""
    drawn = BytesIO()
    qrcode.make(text, image_factory=SvgPathFillImage, border=2).save(drawn)
    return f"data:image/svg+xml;base64,{b64encode(drawn.getvalue()).decode()}"
