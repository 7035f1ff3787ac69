"""Views for the second factor during sign-in, and for sign-in with a passkey."""

from __future__ import annotations

from allauth.account.stages import LoginStageController
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from core.errors import BadInput, Refused
from scriptsmith_site.origin import current_origin, shared_part
from scriptsmith_site.people.forms import show_refusal_in
from scriptsmith_site.people.second_factor import passkeys, services
from scriptsmith_site.people.second_factor.forms import AnyCodeForm
from scriptsmith_site.people.security_log import Kind, note
from scriptsmith_site.people.sign_in import guess_limits
from scriptsmith_site.people.sign_in.confirmation import safe_next
from scriptsmith_site.people.sign_in.credentials import needs_provider
from scriptsmith_site.people.sign_in.entrance import (
    PASSKEY,
    SecondFactorStage,
    enter,
    note_second_proof,
)


@login_not_required
@require_http_methods(["GET", "POST"])
def ask_second_factor(request: HttpRequest) -> HttpResponse:
    """Verify a code, a recovery code or a passkey after the first factor."""
    if request.user.is_authenticated:
        return redirect("home")
    stage: SecondFactorStage | None = LoginStageController.enter(request, SecondFactorStage.key)
    if stage is None:
        return redirect("login")
    try:
        user = stage.require_valid()
    except Refused as refusal:
        messages.error(request, str(refusal))
        return stage.abort()
    credential = request.POST.get("credential", "")
    form = AnyCodeForm(None if credential else request.POST or None)
    proof = refused = ""
    try:
        if credential:
            passkeys.prove(credential, user=user)
            proof = PASSKEY
        elif form.is_valid():
            proof = services.prove_by_code(user, form.cleaned_data["code"])
    except BadInput as refusal:
        if credential:
            refused = str(refusal)
        else:
            show_refusal_in(form, refusal)
    if proof:
        note_second_proof(request, user, proof)
        return stage.exit()  # type: ignore[no-any-return]
    return _render(request, user, form, refused)


def _render(request: HttpRequest, user: User, form: AnyCodeForm, refused: str) -> HttpResponse:
    factors = services.factors_of(user)
    has_passkey = bool(factors.passkeys) and passkeys.can_have_passkeys(request)
    context = {
        "form": form,
        "refused": refused,
        "has_codes": bool(factors.app or factors.codes_left),
        "has_app": bool(factors.app),
        "options": passkeys.begin_proving(user) if has_passkey else "",
    }
    status = 422 if form.errors or refused else 200
    return render(request, "registration/second_factor.html", context, status=status)


@login_not_required
@require_http_methods(["GET", "POST"])
def sign_in_by_passkey(request: HttpRequest) -> HttpResponse:
    """Return the passkey challenge as JSON on GET, and sign in on POST.

    Users of the provider are rejected, because only the provider decides whether they may sign in. Raises
    TooManyAttempts for an address with too many failures.
    """
    if request.user.is_authenticated:
        return redirect("home")
    if request.method == "GET":
        return HttpResponse(passkeys.begin_proving(None), content_type="application/json")
    spent = guess_limits.Kind.SIGN_IN_ADDRESS, shared_part(current_origin().address)
    guess_limits.spend(*spent)
    try:
        user = passkeys.prove(request.POST.get("credential", ""), user=None)
    except BadInput as refusal:
        messages.error(request, str(refusal))
        return redirect("login")
    guess_limits.give_back(*spent)
    if needs_provider(user):
        note(Kind.SIGN_IN_FAILED, user=user, detail="passkey, without single sign-on")
        messages.error(request, _("Your passkey is a second step. Use single sign-on first."))
        return redirect("login")
    return enter(request, user, proof=PASSKEY, next_url=safe_next(request))
