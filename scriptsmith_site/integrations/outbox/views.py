"""Administration pages for destinations."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import BadInput, Stale
from core.web.forms import add_refusal, retype
from core.web.requests import page_of, signed_in, wants_fragment
from scriptsmith_site.integrations.outbox import services
from scriptsmith_site.integrations.outbox.access import (
    access_delivery,
    access_destination,
    access_destinations,
)
from scriptsmith_site.integrations.outbox.events.event_types import BY_NAME
from scriptsmith_site.integrations.outbox.forms import DestinationForm, PauseForm, SpanForm
from scriptsmith_site.integrations.outbox.transport.payloads import body_of, message_id
from scriptsmith_site.models import Delivery, Destination
from scriptsmith_site.people.services import require_administrator

_PAGE = 25


@require_safe
def destination_list(request: HttpRequest) -> HttpResponse:
    """List the destinations with their state."""
    found = list(access_destinations(signed_in(request)))
    context = {"destinations": found, "kinds": Destination.Kind}
    return render(request, "integrations/outbox/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def destination_new(request: HttpRequest, kind: str) -> HttpResponse:
    """Create a destination. The response shows a webhook's secret, which is not shown again."""
    user = signed_in(request)
    require_administrator(user)
    if kind not in Destination.Kind.values:
        raise Http404
    if request.method != "POST":
        form = DestinationForm(kind=kind, is_new=True)
        return _show_form(request, form, kind=Destination.Kind(kind))
    form = DestinationForm(request.POST, kind=kind, is_new=True)
    if form.is_valid():
        try:
            made = services.create_destination(
                kind,
                values=form.values(),
                secret=form.cleaned_data.get("secret", ""),
                by=user,
            )
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            if made.secret:
                return _show(request, made.destination.pk, secret=made.secret)
            messages.success(request, _("Destination added. Send a test to check it."))
            return redirect("destination-detail", pk=made.destination.pk)
    return _show_form(request, form, kind=Destination.Kind(kind), status=422)


@require_http_methods(["GET", "HEAD", "POST"])
def destination_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit a destination. After an edit conflict, the form keeps the submitted values."""
    user = signed_in(request)
    found = access_destination(user, pk)
    kind = Destination.Kind(found.kind)
    if request.method != "POST":
        return _show_form(request, DestinationForm.of(found), kind=kind, destination=found)
    form = DestinationForm(request.POST, kind=found.kind, is_new=False)
    if form.is_valid():
        try:
            services.change_destination(
                found,
                values=form.values(),
                secret=form.cleaned_data.get("secret", ""),
                seen=form.cleaned_data["edition"] or 0,
                by=user,
            )
        except BadInput as refusal:
            add_refusal(form, refusal)
        except Stale as stale:
            retype(form, edition=str(stale.newest))
            return _show_form(
                request, form, kind=kind, destination=found, stale=str(stale), status=409
            )
        else:
            messages.success(request, _("Destination saved."))
            return redirect("destination-detail", pk=pk)
    return _show_form(request, form, kind=kind, destination=found, status=422)


@require_safe
def destination_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a destination and its deliveries. htmx requests get only the live part."""
    if wants_fragment(request):
        context = _context(request, access_destination(signed_in(request), pk))
        return render(request, "integrations/outbox/_deliveries.html", context)
    return _show(request, pk)


@require_POST
def destination_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test event."""
    user = signed_in(request)
    services.send_test(access_destination(user, pk), by=user)
    messages.success(request, _("Test sent. The result appears below in a few seconds."))
    return redirect("destination-detail", pk=pk)


@require_POST
def destination_rotate(request: HttpRequest, pk: int) -> HttpResponse:
    """Rotate the secret, and show it in the response. A redirect would lose the secret, which is shown only once."""
    user = signed_in(request)
    made = services.rotate_secret(access_destination(user, pk), by=user)
    return _show(request, pk, secret=made.secret)


@require_POST
def destination_pause(request: HttpRequest, pk: int) -> HttpResponse:
    user = signed_in(request)
    found = access_destination(user, pk)
    form = PauseForm(request.POST)
    if not form.is_valid():
        return _show(request, pk, pause=form, status=422)
    try:
        services.pause(found, why=form.cleaned_data["why"], by=user)
    except BadInput as refusal:
        add_refusal(form, refusal)
        return _show(request, pk, pause=form, status=422)
    messages.success(request, _("Destination paused. New events are on hold."))
    return redirect("destination-detail", pk=pk)


@require_POST
def destination_resume(request: HttpRequest, pk: int) -> HttpResponse:
    user = signed_in(request)
    services.resume(access_destination(user, pk), by=user)
    messages.success(request, _("Destination resumed. Waiting events are sent first, in order."))
    return redirect("destination-detail", pk=pk)


@require_POST
def destination_replay(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the events of a time span again."""
    user = signed_in(request)
    found = access_destination(user, pk)
    form = SpanForm(request.POST)
    if form.is_valid():
        try:
            count = services.replay_span(found, **form.cleaned_data, by=user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(request, _("Events queued for redelivery: %s.") % f"{count:,}")
            return redirect("destination-detail", pk=pk)
    return _show(request, pk, span=form, status=422)


@require_POST
def destination_delete(request: HttpRequest, pk: int) -> HttpResponse:
    user = signed_in(request)
    services.delete_destination(access_destination(user, pk), by=user)
    messages.success(request, _("Destination deleted."))
    return redirect("destination-list")


@require_safe
def delivery_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one delivery with its body and all attempts."""
    delivery = access_delivery(signed_in(request), pk)
    context = {
        "delivery": delivery,
        "event_id": message_id(delivery.event),
        "body": body_of(delivery.event, includes_texts=delivery.destination.includes_texts),
    }
    return render(request, "integrations/outbox/delivery.html", context)


@require_POST
def delivery_replay(request: HttpRequest, pk: int) -> HttpResponse:
    user = signed_in(request)
    delivery = access_delivery(user, pk)
    services.replay(delivery, by=user)
    messages.success(request, _("The event will be sent again with the same ID."))
    return redirect("destination-detail", pk=delivery.destination_id)


def _show(
    request: HttpRequest,
    pk: int,
    *,
    secret: str = "",
    pause: PauseForm | None = None,
    span: SpanForm | None = None,
    status: int = 200,
) -> HttpResponse:
    found = access_destination(signed_in(request), pk)
    context = {
        **_context(request, found),
        "secret": secret,
        "pause_form": pause or PauseForm(),
        "span_form": span or SpanForm(),
        "types": [BY_NAME[name] for name in found.types if name in BY_NAME],
    }
    return render(request, "integrations/outbox/detail.html", context, status=status)


def _context(request: HttpRequest, destination: Destination) -> dict[str, object]:
    """Return the template context of the page's live part."""
    deliveries = destination.deliveries.select_related("event")
    state = request.GET.get("state", "")
    if state in Delivery.State.values:
        deliveries = deliveries.filter(state=state)
    page = page_of(deliveries, request, size=_PAGE)
    is_under_way = any(one.state == Delivery.State.WAITING for one in page.rows)
    return {
        "destination": destination,
        "page": page,
        "state": state,
        "states": Delivery.State,
        "is_under_way": is_under_way,
    }


def _show_form(
    request: HttpRequest,
    form: DestinationForm,
    *,
    kind: Destination.Kind,
    destination: Destination | None = None,
    stale: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {"form": form, "kind": kind, "destination": destination, "stale": stale}
    return render(request, "integrations/outbox/form.html", context, status=status)
