"""Views that send the browser to the provider and handle its callback."""

from __future__ import annotations

from allauth.account.internal.stagekit import clear_login
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from requests import RequestException

from scriptsmith_site.integrations.integration_health import note_failure
from scriptsmith_site.integrations.single_sign_on import door
from scriptsmith_site.integrations.single_sign_on.adapter import (
    ProviderClient,
    Unbelievable,
    make_provider,
    show_refused,
)
from scriptsmith_site.origin import current_origin, shared_part
from scriptsmith_site.people.sign_in import guess_limits
from scriptsmith_site.people.sign_in.confirmation import safe_next
from scriptsmith_site.people.sign_in.credentials import provider_is_open


@login_not_required
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Render a page that forwards the browser to the provider.

    This is not a redirect, because the content security policy restricts form targets to this site. Raises
    TooManyAttempts if an address starts too many sign-ins without finishing them.
    """
    if closed := _why_closed(request):
        return closed
    guess_limits.spend(guess_limits.Kind.PROVIDER, shared_part(current_origin().address))
    # Discard a pending second-factor step in this browser.
    clear_login(request)
    try:
        answer = make_provider(request).redirect(
            request, process=AuthProcess.LOGIN, next_url=safe_next(request)
        )
    except (Unbelievable, RequestException) as error:
        note_failure(door.DOOR, str(error))
        words = _("%s is unavailable. Sign in with your password, or try again later.")
        return show_refused(request, words % settings.SCRIPTSMITH_OIDC_NAME, status=503)
    context = {"address": answer["Location"], "name": settings.SCRIPTSMITH_OIDC_NAME}
    return render(request, "integrations/single_sign_on/leaving.html", context)


@login_not_required
@require_GET
def come_back(request: HttpRequest) -> HttpResponse:
    """Handle the provider's callback with its single-use authorization code."""
    if closed := _why_closed(request):
        return closed
    client = ProviderClient(request, settings.SCRIPTSMITH_OIDC_ISSUER)
    answer: HttpResponse = OAuth2CallbackView.adapter_view(client)(request)
    return answer


def _why_closed(request: HttpRequest) -> HttpResponse | None:
    """Return a redirect for signed-in users, a message if sign-ins are paused, or None if a sign-in can start.

    Raises Http404 if no provider is configured.
    """
    if not door.is_configured():
        raise Http404
    if request.user.is_authenticated:
        return HttpResponseRedirect(safe_next(request) or reverse("home"))
    if provider_is_open():
        return None
    words = _("Single sign-on is paused. Sign in with your password, or ask an administrator.")
    return show_refused(request, words, status=409)
