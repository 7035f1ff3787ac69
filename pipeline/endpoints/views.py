"""The endpoint pages, for administrators."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Protocol

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import BadInput, NotAllowedNow, Stale
from core.web.forms import add_refusal
from core.web.requests import signed_in, wants_fragment
from pipeline.access import access_endpoint, access_endpoints, require_endpoint_manager
from pipeline.endpoints import prices, services
from pipeline.endpoints.check_requests import ask_check, cancel_check
from pipeline.endpoints.forms import (
    CheckForm,
    EndpointForm,
    NewEndpointForm,
    PriceForm,
    SwitchOnForm,
)
from pipeline.endpoints.page_data import describe_check, show_endpoint, show_page
from pipeline.endpoints.server_recipes import RECIPES
from pipeline.models import Endpoint


@require_safe
def endpoint_list(request: HttpRequest) -> HttpResponse:
    """List the endpoints without their keys."""
    shown = [show_endpoint(one) for one in access_endpoints(signed_in(request))]
    context = {"nav_section": "admin", "endpoints": shown}
    return render(request, "pipeline/endpoints/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_new(request: HttpRequest) -> HttpResponse:
    """Add an endpoint from an empty form or a recipe (`?recipe=ollama`). The new endpoint is off."""
    user = signed_in(request)
    require_endpoint_manager(user)
    if request.method != "POST":
        return _show_form(request, _started_from(request.GET.get("recipe", "")))
    form = NewEndpointForm(request.POST)
    if form.is_valid():
        try:
            made = services.create_endpoint(
                form.cleaned_data["name"], values=form.values(), by=user
            )
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(
                request, _("Endpoint added. Check the endpoint before you turn it on.")
            )
            return redirect("endpoint-detail", name=made.name)
    return _show_form(request, form, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_edit(request: HttpRequest, name: str) -> HttpResponse:
    """Change an endpoint. On a conflict, show the other user's change and keep the typed values."""
    user = signed_in(request)
    endpoint = access_endpoint(user, name)
    if request.method != "POST":
        return _show_form(request, EndpointForm.of(endpoint), endpoint=endpoint)
    form = EndpointForm(request.POST, is_built_in=endpoint.is_built_in)
    if not form.is_valid():
        return _show_form(request, form, endpoint=endpoint, status=422)
    was_on = endpoint.is_on
    try:
        changed = services.change_endpoint(
            endpoint, values=form.values(), by=user, seen=form.cleaned_data["edition"]
        )
    except BadInput as refusal:
        add_refusal(form, refusal)
        return _show_form(request, form, endpoint=endpoint, status=422)
    except Stale as stale:
        now = access_endpoint(user, name)
        theirs = form.show_now(now)
        return _show_form(request, form, endpoint=now, stale=str(stale), theirs=theirs, status=409)
    if was_on and not changed.is_on:
        messages.warning(
            request,
            _(
                "Saved and turned off, because the new address is outside this machine. Check the endpoint before you "
                "turn it back on."
            ),
        )
    else:
        messages.success(request, _("Saved."))
    return redirect("endpoint-detail", name=name)


@require_safe
def endpoint_detail(request: HttpRequest, name: str) -> HttpResponse:
    """Show an endpoint, the findings of its last check and the prices of its models."""
    return show_page(request, access_endpoint(signed_in(request), name))


@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_check(request: HttpRequest, name: str) -> HttpResponse:
    """Request or cancel a check on POST. Return the live part of the page on GET."""
    user = signed_in(request)
    endpoint = access_endpoint(user, name)
    if request.method == "POST" and "cancel" in request.POST:
        return _change(request, name, cancel_check, said=_("Check canceled."))
    if request.method == "POST":
        form = CheckForm(request.POST)
        try:
            ask_check(
                endpoint,
                model=str(form["model"].value() or ""),
                tries="try" in request.POST,
                by=user,
            )
        except BadInput as refusal:
            form.is_valid()
            add_refusal(form, refusal)
            return show_page(request, endpoint, check=form, status=422)
        except NotAllowedNow as refusal:
            return _refuse(request, name, refusal)
        return redirect("endpoint-detail", name=name)
    if not wants_fragment(request):
        return redirect("endpoint-detail", name=name)
    context = describe_check(endpoint, user)
    response = render(request, "pipeline/endpoints/_check.html", context)
    if not endpoint.probe.get("asked"):
        response["HX-Trigger"] = json.dumps(
            {"announce": {"text": _("The check has already ended.")}}
        )
    return response


@require_POST
def switch_on(request: HttpRequest, name: str) -> HttpResponse:
    """Turn on the endpoint."""
    user = signed_in(request)
    endpoint = access_endpoint(user, name)
    form = SwitchOnForm(request.POST)
    form.is_valid()
    try:
        services.switch_on(endpoint, by=user, confirmed=form.cleaned_data["confirmed"])
    except BadInput as refusal:
        add_refusal(form, refusal)
        return show_page(request, endpoint, switch=form, status=422)
    except NotAllowedNow as refusal:
        return _refuse(request, name, refusal)
    messages.success(request, _("Endpoint turned on. Its configurations are now available."))
    return redirect("endpoint-detail", name=name)


@require_POST
def switch_off(request: HttpRequest, name: str) -> HttpResponse:
    """Turn off the endpoint."""
    said = _("Endpoint turned off. It receives no more calls.")
    return _change(request, name, services.switch_off, said=said)


@require_POST
def wake(request: HttpRequest, name: str) -> HttpResponse:
    """Resume a paused endpoint."""
    said = _("Endpoint resumed. Waiting runs continue within seconds.")
    return _change(request, name, services.wake, said=said)


@require_POST
def use_mode(request: HttpRequest, name: str) -> HttpResponse:
    """Use the mode that the check recommends."""
    deed = partial(services.use_mode, mode=request.POST.get("mode", ""))
    return _change(request, name, deed, said=_("Mode changed. It applies to new runs."))


@require_POST
def delete_endpoint(request: HttpRequest, name: str) -> HttpResponse:
    """Delete an unused endpoint."""
    said = _("Endpoint deleted.")
    return _change(request, name, services.delete_endpoint, said=said, then="endpoint-list")


@require_POST
def add_price(request: HttpRequest, name: str) -> HttpResponse:
    """Add a price, valid from a given day."""
    user = signed_in(request)
    endpoint = access_endpoint(user, name)
    form = PriceForm(request.POST)
    if form.is_valid():
        try:
            prices.add_price(endpoint, values=form.values(), by=user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(request, _("Price added. Past calls keep their cost."))
            return redirect("endpoint-detail", name=name)
    return show_page(request, endpoint, price=form, status=422)


@require_POST
def remove_price(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Delete an unused price."""
    user = signed_in(request)
    price = get_object_or_404(access_endpoint(user, name).prices, pk=pk)
    try:
        prices.remove_price(price, by=user)
    except NotAllowedNow as refusal:
        return _refuse(request, name, refusal)
    messages.success(request, _("Price removed."))
    return redirect("endpoint-detail", name=name)


def _started_from(recipe: str) -> NewEndpointForm:
    found = next((one for one in RECIPES if one.name == recipe), None)
    if found is None:
        return NewEndpointForm(initial={"mode": "text", "max_in_flight": 1, "timeout_seconds": 120})
    taken = Endpoint.objects.filter(name=found.name).exists()
    name = f"{found.name}-2" if taken else found.name
    return NewEndpointForm(initial={"name": name, **asdict(found.values)})


def _show_form(
    request: HttpRequest,
    form: EndpointForm,
    *,
    endpoint: Endpoint | None = None,
    stale: str = "",
    theirs: list[tuple[str, object, object]] | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "nav_section": "admin",
        "form": form,
        "endpoint": endpoint,
        "recipes": RECIPES,
        "stale": stale,
        "theirs": theirs or [],
    }
    return render(request, "pipeline/endpoints/form.html", context, status=status)


class _Deed(Protocol):
    """A service that changes an endpoint or raises NotAllowedNow."""

    def __call__(self, endpoint: Endpoint, /, *, by: User) -> object: ...


def _change(
    request: HttpRequest, name: str, deed: _Deed, *, said: str, then: str = ""
) -> HttpResponse:
    """Call a service and redirect with a message, or show why the change is not allowed."""
    user = signed_in(request)
    try:
        deed(access_endpoint(user, name), by=user)
    except NotAllowedNow as refusal:
        return _refuse(request, name, refusal)
    messages.success(request, said)
    return redirect(then) if then else redirect("endpoint-detail", name=name)


def _refuse(request: HttpRequest, name: str, refusal: NotAllowedNow) -> HttpResponse:
    """Show the endpoint's page with the reason why the change is not allowed."""
    endpoint = access_endpoint(signed_in(request), name)
    return show_page(request, endpoint, refusal=str(refusal), status=409)
