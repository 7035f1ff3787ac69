"""The administration page for single sign-on: status, group roles, a test and a pause switch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from core.web.requests import signed_in
from core.web.site_address import site_url
from scriptsmith_site.integrations.single_sign_on import door
from scriptsmith_site.integrations.single_sign_on.admission import remove_identity
from scriptsmith_site.people.access import access_account
from scriptsmith_site.people.roles import Role
from scriptsmith_site.people.services import require_administrator
from scriptsmith_site.people.sign_in.confirmation import proved_lately


@require_GET
def show_provider(request: HttpRequest) -> HttpResponse:
    """Show the settings of single sign-on and its latest results."""
    require_administrator(signed_in(request))
    return _render(request)


@require_POST
def test_provider(request: HttpRequest) -> HttpResponse:
    """Test the provider, and show the result of each step."""
    return _render(request, steps=door.test(by=signed_in(request)))


@require_POST
def pause_provider(request: HttpRequest) -> HttpResponse:
    door.pause(by=signed_in(request))
    messages.success(
        request, _("Single sign-on paused. No one can use it to sign in until you resume it.")
    )
    return redirect("single-sign-on")


@require_POST
def resume_provider(request: HttpRequest) -> HttpResponse:
    door.resume(by=signed_in(request))
    messages.success(request, _("Single sign-on resumed."))
    return redirect("single-sign-on")


@require_POST
@partial(proved_lately, page="user-detail")
def remove_person(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove the identity of an account."""
    remove_identity(access_account(signed_in(request), pk), by=signed_in(request))
    messages.success(request, _("Single sign-on removed. Send this user a link to set a password."))
    return redirect("user-detail", pk)


def _render(request: HttpRequest, *, steps: Sequence[door.Tested] = ()) -> HttpResponse:
    local = User.objects.filter(is_active=True, groups__name=Role.ADMINISTRATOR).order_by(
        "username"
    )
    the_door = door.the_door()
    context = {
        "nav_section": "admin",
        "is_configured": door.is_configured(),
        "door": the_door,
        "state": door.state_of(the_door),
        "issuer": settings.SCRIPTSMITH_OIDC_ISSUER,
        "client_id": settings.SCRIPTSMITH_OIDC_CLIENT_ID,
        "callback": site_url(reverse("single-sign-on-callback"), request),
        "entry_groups": settings.SCRIPTSMITH_OIDC_ENTRY_GROUPS,
        "roles": [
            (Role(role).label, ", ".join(groups))
            for role, groups in settings.SCRIPTSMITH_OIDC_ROLES.items()
        ],
        "groups_claim": settings.SCRIPTSMITH_OIDC_GROUPS_CLAIM,
        "links_by_email": settings.SCRIPTSMITH_OIDC_LINK_BY_EMAIL,
        "hours": settings.SCRIPTSMITH_OIDC_SESSION_HOURS,
        "people": SocialAccount.objects.filter(provider=settings.SCRIPTSMITH_OIDC_ISSUER).count(),
        "local_administrators": [user for user in local if user.has_usable_password()],
        "factor_roles": settings.SCRIPTSMITH_SECOND_FACTOR_ROLES,
        "steps": steps,
    }
    return render(request, "integrations/single_sign_on/provider.html", context)
