"""Views for sign-in, personal settings and one-time links."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core.errors import BadInput
from core.web.requests import page_of, signed_in
from scriptsmith_site.models import GuessCount
from scriptsmith_site.origin import current_origin
from scriptsmith_site.people import security_log, services
from scriptsmith_site.people.access import access_link, access_token
from scriptsmith_site.people.forms import (
    PasswordForm,
    PreferencesForm,
    SetPasswordForm,
    SignInForm,
    TokenForm,
    show_refusal_in,
)
from scriptsmith_site.people.preferences.session import profile_of, remember_preferences
from scriptsmith_site.people.second_factor.passkeys import can_have_passkeys
from scriptsmith_site.people.sign_in import guess_limits, tokens
from scriptsmith_site.people.sign_in.confirmation import safe_next
from scriptsmith_site.people.sign_in.credentials import (
    ended_words,
    live_tokens,
    provider_is_open,
)
from scriptsmith_site.people.sign_in.entrance import PASSWORD, enter
from scriptsmith_site.people.sign_in.links import set_password_by_link

_SHOWN_EVENTS = 8


class SignIn(LoginView):
    """Django's login view, extended to call `enter` after the password check, because a second factor may be needed."""

    authentication_form = SignInForm
    redirect_authenticated_user = True
    spent: Sequence[tuple[GuessCount.Kind, str]] = ()

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Sign in. Raises TooManyAttempts before the password is checked."""
        name = SignInForm.base_fields["username"].to_python(request.POST.get("username", ""))
        if name and request.POST.get("password"):
            self.spent = guess_limits.spend_sign_in(name, address=current_origin().address)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        for kind, key in self.spent:
            guess_limits.give_back(kind, key)
        return enter(
            self.request,
            form.get_user(),
            proof=PASSWORD,
            next_url=safe_next(self.request),
            kept=self.request.POST.get("kept", ""),
        )

    def get_context_data(self, **context: object) -> dict[str, object]:
        """Add the other sign-in methods to the context."""
        return super().get_context_data(
            can_have_passkeys=can_have_passkeys(self.request),
            provider=settings.SCRIPTSMITH_OIDC_NAME if provider_is_open() else "",
            **context,
        )

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        context = self.get_context_data(form=form, kept=self.request.POST.get("kept", ""))
        return self.render_to_response(context, status=422)


@require_GET
def show_settings(request: HttpRequest) -> HttpResponse:
    return _render_settings(request)


@require_POST
def save_preferences(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    form = PreferencesForm(request.POST)
    if form.is_valid():
        try:
            services.change_preferences(user, **form.cleaned_data)
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            remember_preferences(request, user)
            messages.success(request, _("Settings saved."))
            return redirect("settings")
    return _render_settings(request, preferences=form)


@require_POST
def save_password(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    form = PasswordForm(request.POST)
    if form.is_valid():
        try:
            ended = services.change_password(user, **form.cleaned_data)
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            update_session_auth_hash(request, user)
            words = _("Password changed. You are signed out everywhere else.")
            messages.success(request, f"{words} {ended_words(ended)}".strip())
            return redirect("settings")
    return _render_settings(request, password=form)


@require_POST
def make_own_token(request: HttpRequest) -> HttpResponse:
    """Create a token, and show its secret in the response.

    A redirect would lose the secret, which is shown only once.
    """
    user = signed_in(request)
    form = TokenForm(request.POST, user=user)
    if form.is_valid():
        try:
            made = tokens.make_token(user, **form.cleaned_data, by=user)
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            return _render_settings(request, made=made)
    return _render_settings(request, token=form)


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    token = access_token(signed_in(request), pk)
    tokens.revoke_token(token, by=signed_in(request))
    messages.success(request, _("Token revoked."))
    if token.user != request.user:
        return redirect("user-detail", token.user_id)
    return redirect("settings")


@require_GET
def show_own_events(request: HttpRequest) -> HttpResponse:
    """List the user's own events from the security log."""
    page = page_of(security_log.events_of(signed_in(request)), request)
    return render(request, "people/own_events.html", {"page": page})


@login_not_required
@require_http_methods(["GET", "POST"])
def set_password(request: HttpRequest, secret: str) -> HttpResponse:
    """Show the form of a password link on GET, and set the password on POST."""
    link = access_link(secret)
    form = SetPasswordForm(request.POST or None)
    if form.is_valid():
        try:
            ended = set_password_by_link(link, password=form.cleaned_data["password"])
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            words = _("Your password is set. Use it to sign in.")
            messages.success(request, f"{words} {ended_words(ended)}".strip())
            return redirect("login")
    context = {"form": form, "account": link.user, "ends": live_tokens(link.user).count()}
    return render(request, "people/set_password.html", context, status=422 if form.errors else 200)


def _render_settings(
    request: HttpRequest,
    *,
    preferences: Form | None = None,
    password: Form | None = None,
    token: Form | None = None,
    made: tokens.MadeToken | None = None,
) -> HttpResponse:
    user = signed_in(request)
    profile = profile_of(user)
    refused = any(form is not None and form.errors for form in (preferences, password, token))
    context = {
        "preferences": preferences
        or PreferencesForm(
            initial={
                "display_name": user.first_name,
                "time_zone": profile.time_zone,
                "theme": profile.theme,
            }
        ),
        "password": password or PasswordForm(),
        "token": token or TokenForm(user=user),
        "made": made,
        "tokens": user.api_tokens.all(),
        "ends": live_tokens(user).count(),
        "events": security_log.events_of(user)[:_SHOWN_EVENTS],
    }
    return render(request, "people/settings.html", context, status=422 if refused else 200)
