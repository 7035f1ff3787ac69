"""The only way to start a session: a first factor, then a second factor if the user has one.

django-allauth stores the pending sign-in and calls the hooks in this module.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import (
    get_authentication_records,
    perform_login,
    record_authentication,
)
from allauth.account.internal.stagekit import clear_login
from allauth.account.models import Login
from allauth.mfa.stages import AuthenticateStage
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from core.errors import Refused
from scriptsmith_site.people.preferences.session import remember_preferences
from scriptsmith_site.people.second_factor.services import has_factor
from scriptsmith_site.people.sign_in.sessions import note_beginning
from scriptsmith_site.people.sign_in.unsent_forms import read_kept

PASSWORD, PASSKEY, PROVIDER = "password", "passkey", "single sign-on"
_BACKEND = "scriptsmith_site.people.sign_in.backend.RoleBackend"


def enter(
    request: HttpRequest, user: User, *, proof: str, next_url: str = "", kept: str = ""
) -> HttpResponse:
    """Start the user's session, or redirect to the second factor.

    `proof` is the method of authentication, and `kept` is an unsent form from the sign-in page.
    """
    record_authentication(request, user, proof)
    # The password may be reset before the second factor is verified, so its hash is checked again.
    state = {"proof": proof, "hash": user.get_session_auth_hash()}
    signal_kwargs = {"kept": kept, "proof": proof}
    waiting = Login(user=user, redirect_url=next_url, signal_kwargs=signal_kwargs, state=state)
    response: HttpResponse = perform_login(request, waiting)
    return response


def note_second_proof(request: HttpRequest, user: User, proof: str) -> None:
    """Record the second factor for the log and the list of sessions."""
    record_authentication(request, user, proof)


def proofs_in(request: HttpRequest, user: User) -> str:
    """Return the authentication methods of the session as text, such as "password, authenticator app"."""
    records = get_authentication_records(request, user)
    return ", ".join(dict.fromkeys(str(one["method"]) for one in records))


class SecondFactorStage(AuthenticateStage):  # type: ignore[misc]
    """The step that asks for a second factor, unless a passkey or the provider has already verified one."""

    urlname = "second-factor-ask"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Return a redirect to the second factor's page, or None to continue."""
        user, proof = self.login.user, self.login.state["proof"]
        is_enough = proof == PASSKEY or (
            proof == PROVIDER and settings.SCRIPTSMITH_OIDC_SECOND_FACTOR
        )
        if is_enough or not has_factor(user):
            return None, True
        return redirect(self.urlname), True

    def abort(self) -> HttpResponse:
        """Discard the pending sign-in and return to the sign-in page."""
        clear_login(self.request)
        return redirect("login")

    def require_valid(self) -> User:
        """Return the user of the pending sign-in. Raises Refused if the first factor is no longer valid."""
        user, state = self.login.user, self.login.state
        if (
            user is None
            or not user.is_active
            or not constant_time_compare(state.get("hash", ""), user.get_session_auth_hash())
        ):
            raise Refused(_("This sign-in has expired. Start again."))
        return user  # type: ignore[no-any-return]


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Hooks that django-allauth calls for accounts: no sign-up, no emails, and a custom session start."""

    def get_login_stages(self) -> list[str]:
        return [f"{SecondFactorStage.__module__}.{SecondFactorStage.__qualname__}"]

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(self, *_given: Any, **_named: Any) -> None:
        """Do nothing, because the pages show their own messages."""

    def send_notification_mail(self, *_given: Any, **_named: Any) -> None:
        """Do nothing, because the security log records the event."""

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        raise Refused(_("This account is deactivated."))

    def login(self, request: HttpRequest, user: User) -> None:
        login(request, user, backend=_BACKEND)

    def post_login(self, request: HttpRequest, user: User, **about: Any) -> HttpResponse:
        """Store the preferences in the session, set its expiry, and redirect."""
        remember_preferences(request, user)
        given = about.get("signal_kwargs") or {}
        if given.get("proof") == PROVIDER:
            _end_early(request.session)
        kept = read_kept(given.get("kept", ""))
        if kept is None:
            return HttpResponseRedirect(
                about.get("redirect_url") or resolve_url(settings.LOGIN_REDIRECT_URL)
            )
        why = _("Your session ended before the form was sent. You are signed in again.")
        return render(request, "registration/send_again.html", {"kept": kept, "why": why})


def note_session(request: HttpRequest, user: User, **_signal: object) -> None:
    """Record the start of a session. This is called at each sign-in."""
    note_beginning(request.session, proofs=proofs_in(request, user))


def _end_early(session: SessionBase) -> None:
    """End the session at a fixed time, so that access lost at the provider also ends here."""
    hours = min(settings.SCRIPTSMITH_OIDC_SESSION_HOURS, settings.SESSION_COOKIE_AGE / 3600)
    session.set_expiry(timezone.now() + timedelta(hours=hours))
