"""The adapter of django-allauth for the provider, with additional checks of its responses."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from core.web.site_address import site_url
from scriptsmith_site.integrations.integration_health import note_failure, note_success
from scriptsmith_site.integrations.single_sign_on import door
from scriptsmith_site.integrations.single_sign_on.admission import NotAdmitted, admit
from scriptsmith_site.integrations.single_sign_on.claims import (
    Claims,
    NotBelieved,
    read_claims,
    read_id_token,
    read_keys,
)
from scriptsmith_site.integrations.single_sign_on.network import provider_session
from scriptsmith_site.origin import current_origin, shared_part
from scriptsmith_site.people.security_log import Kind, note
from scriptsmith_site.people.sign_in import guess_limits
from scriptsmith_site.people.sign_in.entrance import PROVIDER, enter


class Unbelievable(OAuth2Error):  # type: ignore[misc]
    """An invalid response from the provider. django-allauth passes this error to `on_authentication_error`."""


class CodeRefused(OAuth2Error):  # type: ignore[misc]
    """The provider rejected the authorization code. This does not mean that the provider is unhealthy."""


_REFUSES_CLIENT = re.compile("invalid_client|unauthorized_client")


class ProviderClient(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """A client that verifies the provider's responses before it accepts them."""

    nonce = ""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the discovery document, which is cached for some minutes. Raises Unbelievable."""
        if not hasattr(self, "_openid_config"):
            try:
                self._openid_config = door.known_discovery()
            except NotBelieved as error:
                raise Unbelievable(str(error)) from error
        return self._openid_config

    def get_provider(self) -> Provider:
        return make_provider(self.request)

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return site_url(reverse("single-sign-on-callback"), request)

    def get_access_token_data(
        self,
        request: HttpRequest,
        app: SocialApp,
        client: Any,
        pkce_code_verifier: str | None = None,
    ) -> Any:
        self.nonce = nonce_of(pkce_code_verifier or "")
        try:
            return super().get_access_token_data(request, app, client, pkce_code_verifier)
        except Unbelievable:
            raise
        except OAuth2Error as error:
            # Administrators must fix an unknown client. Other errors concern the code, which anyone can forge.
            if _REFUSES_CLIENT.search(str(error)):
                raise
            raise CodeRefused(str(error)) from error

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: Any, **given: Any
    ) -> SocialLogin:
        """Return the login with verified claims. Raises Unbelievable."""
        id_token = given["response"].get("id_token")
        try:
            if not isinstance(id_token, str):
                raise NotBelieved(_("The provider sent no ID token."))
            claims = self._read(id_token, token.token)
        except NotBelieved as error:
            raise Unbelievable(str(error)) from error
        account = SocialAccount(provider=claims.issuer, uid=claims.subject)
        login = SocialLogin(account=account, provider=self.get_provider())
        login.claims = claims
        return login

    def _read(self, id_token: str, access_token: str) -> Claims:
        found = self.openid_config
        said = read_id_token(
            id_token,
            read_keys(door.fetch_document(found["jwks_uri"])),
            issuer=settings.SCRIPTSMITH_OIDC_ISSUER,
            client_id=settings.SCRIPTSMITH_OIDC_CLIENT_ID,
            nonce=self.nonce,
        )
        userinfo: object = {}
        if found.get("userinfo_endpoint"):
            userinfo = door.fetch_document(found["userinfo_endpoint"], access_token=access_token)
        if not isinstance(userinfo, dict):
            raise NotBelieved(_("The userinfo response is not a JSON object."))
        return read_claims(said, userinfo, groups_claim=settings.SCRIPTSMITH_OIDC_GROUPS_CLAIM)


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """The provider from the settings, with PKCE and a nonce that is bound to the PKCE code verifier."""

    oauth2_adapter_class = ProviderClient

    def get_pkce_params(self) -> dict[str, Any]:
        """Return the parameters of the request, with a nonce derived from the code verifier in the session."""
        params: dict[str, Any] = super().get_pkce_params()
        return {**params, "nonce": nonce_of(params["code_verifier"])}


def nonce_of(code_verifier: str) -> str:
    """Return a sign-in's nonce: a hash of its code verifier, which does not reveal the verifier."""
    digest = sha256(b"nonce of " + code_verifier.encode()).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def make_provider(request: HttpRequest) -> Provider:
    """Return the provider from the settings. Identities are stored under its issuer."""
    app = SocialApp(
        provider="openid_connect",
        provider_id=settings.SCRIPTSMITH_OIDC_ISSUER,
        name=settings.SCRIPTSMITH_OIDC_NAME,
        client_id=settings.SCRIPTSMITH_OIDC_CLIENT_ID,
        secret=settings.SCRIPTSMITH_OIDC_CLIENT_SECRET,
        settings={
            "server_url": settings.SCRIPTSMITH_OIDC_ISSUER,
            "scope": settings.SCRIPTSMITH_OIDC_SCOPES,
            "oauth_pkce_enabled": True,
        },
    )
    return Provider(request, app=app)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Hooks that django-allauth calls for sign-ins with the provider."""

    def get_provider(
        self, request: HttpRequest, provider: str, client_id: object = None
    ) -> Provider:
        return make_provider(request)

    def get_requests_session(self) -> requests.Session:
        return provider_session()

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False  # `admit` creates the accounts

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Sign in the user whom the provider authenticated. Always raises ImmediateHttpResponse."""
        note_success(door.DOOR)
        try:
            user = admit(sociallogin.claims)
        except NotAdmitted as refusal:
            raise ImmediateHttpResponse(show_refused(request, str(refusal), status=403)) from None
        guess_limits.give_back(guess_limits.Kind.PROVIDER, shared_part(current_origin().address))
        next_url = sociallogin.state.get("next") or ""
        answer = enter(request, user, proof=PROVIDER, next_url=next_url)
        raise ImmediateHttpResponse(answer)

    def on_authentication_error(
        self, request: HttpRequest, provider: Provider, **about: Any
    ) -> None:
        """Show the user that the sign-in failed, and record the cause. Always raises ImmediateHttpResponse."""
        if about.get("error") == AuthError.CANCELLED:
            words = _("You canceled the sign-in at the provider.")
            raise ImmediateHttpResponse(show_refused(request, words, status=200))
        exception = about.get("exception")
        # Without an exception, the callback belongs to no sign-in started here and says nothing about the provider.
        # Anyone can open this URL.
        if exception is not None:
            why = str(exception) or type(exception).__name__
            if not isinstance(exception, CodeRefused):
                note_failure(door.DOOR, why)
            note(Kind.SIGN_IN_FAILED, detail=f"{PROVIDER}: {why}")
        words = _("The sign-in failed. Try again. Administrators can see the cause.")
        raise ImmediateHttpResponse(show_refused(request, words, status=401))


def show_refused(request: HttpRequest, words: str, *, status: int) -> HttpResponse:
    """Render the page of a failed sign-in."""
    return render(
        request, "integrations/single_sign_on/refused.html", {"words": words}, status=status
    )
