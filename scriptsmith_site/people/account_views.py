"""The administration pages for users."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core.errors import BadInput
from core.web.requests import page_of, signed_in
from core.web.site_address import site_url
from scriptsmith_site.people import services
from scriptsmith_site.people.access import access_account
from scriptsmith_site.people.erasure import anonymise
from scriptsmith_site.people.forms import (
    AccountFilters,
    AccountForm,
    AddressForm,
    RolesForm,
    TokenForm,
    show_refusal_in,
)
from scriptsmith_site.people.second_factor import services as second_factor
from scriptsmith_site.people.sign_in import lockouts, tokens
from scriptsmith_site.people.sign_in.confirmation import proved_lately
from scriptsmith_site.people.sign_in.credentials import (
    comes_by_provider,
    ended_words,
    has_identity,
    live_tokens,
)
from scriptsmith_site.people.sign_in.links import make_password_link, reset_password


@require_GET
def list_accounts(request: HttpRequest) -> HttpResponse:
    services.require_administrator(signed_in(request))
    filters = AccountFilters(request.GET)
    accounts = User.objects.select_related("profile").prefetch_related("groups")
    if filters.is_valid():
        accounts = accounts.filter(_matching(**filters.cleaned_data))
    context = {
        "filters": filters,
        "filtered": any(request.GET.get(name) for name in filters.fields),
        "page": page_of(accounts, request),
    }
    return render(request, "people/users.html", context)


@require_http_methods(["GET", "POST"])
def create_account(request: HttpRequest) -> HttpResponse:
    services.require_administrator(signed_in(request))
    form = AccountForm(request.POST or None)
    if form.is_valid():
        try:
            account = services.create_account(**form.cleaned_data, by=signed_in(request))
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            messages.success(request, _("Account %(name)s created.") % {"name": account.username})
            return redirect("user-detail", account.pk)
    return render(
        request, "people/user_new.html", {"form": form}, status=422 if form.errors else 200
    )


@require_GET
def show_account(request: HttpRequest, pk: int) -> HttpResponse:
    return _render_account(request, access_account(signed_in(request), pk))


@require_POST
def change_roles(request: HttpRequest, pk: int) -> HttpResponse:
    account = access_account(signed_in(request), pk)
    form = RolesForm(request.POST)
    if form.is_valid():
        try:
            services.change_roles(account, roles=form.cleaned_data["roles"], by=signed_in(request))
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            messages.success(request, _("Roles changed."))
            return redirect("user-detail", pk)
    return _render_account(request, account, roles=form)


@require_POST
def set_address(request: HttpRequest, pk: int) -> HttpResponse:
    account = access_account(signed_in(request), pk)
    form = AddressForm(request.POST)
    if form.is_valid():
        try:
            address = form.cleaned_data["address"]
            services.set_address(account, address=address, by=signed_in(request))
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            messages.success(request, _("Email address updated."))
            return redirect("user-detail", pk)
    return _render_account(request, account, address=form)


@require_POST
def deactivate(request: HttpRequest, pk: int) -> HttpResponse:
    ended = services.deactivate(access_account(signed_in(request), pk), by=signed_in(request))
    words = _("Account deactivated and signed out everywhere.")
    messages.success(request, f"{words} {ended_words(ended)}".strip())
    return redirect("user-detail", pk)


@require_POST
def reactivate(request: HttpRequest, pk: int) -> HttpResponse:
    services.reactivate(access_account(signed_in(request), pk), by=signed_in(request))
    messages.success(request, _("Account reactivated."))
    return redirect("user-detail", pk)


@require_POST
def lift_lockout(request: HttpRequest, pk: int) -> HttpResponse:
    lockouts.lift_lockout(access_account(signed_in(request), pk), by=signed_in(request))
    messages.success(request, _("Lockout lifted. The user can try again."))
    return redirect("user-detail", pk)


@require_POST
@partial(proved_lately, page="user-detail")
def remove_second_factor(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove the second factors of a user who has lost them."""
    second_factor.remove_all(access_account(signed_in(request), pk), by=signed_in(request))
    messages.success(request, _("Second factor removed."))
    return redirect("user-detail", pk)


@require_POST
def anonymise_account(request: HttpRequest, pk: int) -> HttpResponse:
    account = access_account(signed_in(request), pk)
    confirmed = request.POST.get("confirmed_name", "")
    try:
        anonymise(account, confirmed_name=confirmed, by=signed_in(request))
    except BadInput as refusal:
        return _render_account(request, account, anonymise_error=str(refusal))
    messages.success(
        request,
        _(
            "Account anonymized. Its scores, decisions and scripts are kept under an anonymous number."
        ),
    )
    return redirect("user-detail", pk)


@require_POST
def make_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a password link, and show it in the response.

    A redirect would lose the secret, which is shown only once.
    """
    account = access_account(signed_in(request), pk)
    secret = make_password_link(account, by=signed_in(request))
    return _render_account(request, account, link=_address_of(secret, request))


@require_POST
def reset(request: HttpRequest, pk: int) -> HttpResponse:
    """Reset the password, and show the new link in the response, like `make_link`."""
    account = access_account(signed_in(request), pk)
    done = reset_password(account, by=signed_in(request))
    words = _("Password reset. All sessions have ended.")
    messages.success(request, f"{words} {ended_words(done.ended_tokens)}".strip())
    return _render_account(request, account, link=_address_of(done.secret, request))


@require_POST
def make_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a service account's token, and show its secret in the response, like `make_link`."""
    account = access_account(signed_in(request), pk)
    form = TokenForm(request.POST, user=account)
    if form.is_valid():
        try:
            made = tokens.make_token_for_service(
                account, **form.cleaned_data, by=signed_in(request)
            )
        except BadInput as refusal:
            show_refusal_in(form, refusal)
        else:
            return _render_account(request, account, made=made)
    return _render_account(request, account, token=form)


def _render_account(
    request: HttpRequest,
    account: User,
    *,
    roles: RolesForm | None = None,
    address: AddressForm | None = None,
    token: TokenForm | None = None,
    made: tokens.MadeToken | None = None,
    link: str = "",
    anonymise_error: str = "",
) -> HttpResponse:
    wrong = any(form is not None and form.errors for form in (roles, address, token))
    wrong = wrong or bool(anonymise_error)
    held = [role.value for role in services.roles_of(account)]
    context = {
        "account": account,
        "is_service": services.is_service_account(account),
        "by_provider": comes_by_provider(account),
        "has_identity": has_identity(account),
        "factors": second_factor.factors_of(account),
        "locked_out": lockouts.is_locked_out(account),
        "roles": roles or RolesForm(initial={"roles": held}),
        "address": address or AddressForm(initial={"address": account.email}),
        "token": token or TokenForm(user=account),
        "tokens": account.api_tokens.all(),
        "ends": live_tokens(account).count(),
        "made": made,
        "link": link,
        "anonymise_error": anonymise_error,
    }
    return render(request, "people/user.html", context, status=422 if wrong else 200)


def _address_of(secret: str, request: HttpRequest) -> str:
    return site_url(reverse("set-password", args=[secret]), request)


def _matching(*, q: str, role: str, state: str) -> Q:
    wanted = Q()
    if q:
        wanted &= Q(username__icontains=q) | Q(first_name__icontains=q)
    if role:
        wanted &= Q(groups__name=role)
    if state:
        wanted &= Q(is_active=state == "active")
    return wanted
