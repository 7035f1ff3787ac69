"""Pages for sources: list, details, form with a preview, keys, pause and *Test now*."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import BadInput, NotAllowedNow, Stale
from core.web.forms import add_refusal, retype
from core.web.requests import signed_in
from core.web.site_address import site_url
from scriptsmith_site.integrations.alerts.access import access_source, access_sources
from scriptsmith_site.integrations.alerts.forms import KeyForm, SourceForm
from scriptsmith_site.integrations.alerts.services import sources
from scriptsmith_site.integrations.alerts.services.processing import preview
from scriptsmith_site.integrations.alerts.services.tallies import REFUSED
from scriptsmith_site.integrations.alerts.services.testing import test_source
from scriptsmith_site.integrations.alerts.types import Unreadable
from scriptsmith_site.models import AlertDelivery, AlertKey, AlertSource, Incident


@require_safe
def source_list(request: HttpRequest) -> HttpResponse:
    """List all sources with their latest results."""
    found = access_sources(signed_in(request))
    context = {"sources": found, "kinds": AlertSource.Kind.choices}
    return render(request, "site/alerts/sources.html", context)


@require_safe
def source_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one source."""
    return show_source(request, access_source(signed_in(request), pk))


def show_source(
    request: HttpRequest,
    source: AlertSource,
    *,
    made: sources.MadeKey | None = None,
    key_form: KeyForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render a source's page. `made` is a new key whose secret is shown only this time."""
    tallies = list(source.tallies.all())
    path = reverse("alert-hook", args=[source.kind, source.pk])
    context = {
        "source": source,
        "url": site_url(path, request),
        "keys": source.keys.filter(revoked_at=None),
        "made": made,
        "key_form": key_form or KeyForm(),
        "taken": [one for one in tallies if not one.what.startswith(REFUSED)],
        "refused": [
            (one.what.removeprefix(REFUSED), one) for one in tallies if one.what.startswith(REFUSED)
        ],
        "rules": source.rules.all(),
        "open_count": source.incidents.filter(state=Incident.State.OPEN).count(),
        "waiting": source.deliveries.filter(state=AlertDelivery.State.WAITING).count(),
    }
    return render(request, "site/alerts/source.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def source_new(request: HttpRequest, kind: str) -> HttpResponse:
    """Create a source and its first key. The PagerDuty secret is entered afterwards."""
    user = signed_in(request)
    access_sources(user)
    if kind not in AlertSource.Kind.values:
        raise Http404
    source = AlertSource(kind=kind)
    form = SourceForm(request.POST or None, kind=kind, is_new=True)
    if "preview" in request.POST:
        return _show_form(request, form, source, is_new=True, preview_it=True)
    if form.is_valid():
        try:
            source = sources.add_source(kind, by=user, details=form.details())
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            if kind == AlertSource.Kind.PAGERDUTY:
                return redirect("alert-source", pk=source.pk)
            return show_source(request, source, made=sources.make_key(source, by=user))
    return _show_form(request, form, source, is_new=True)


@require_http_methods(["GET", "HEAD", "POST"])
def source_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit the filters, limits and field mapping of a source."""
    user = signed_in(request)
    source = access_source(user, pk)
    form = SourceForm(
        request.POST or None,
        kind=source.kind,
        is_new=False,
        initial=SourceForm.initial_of(source),
    )
    if "preview" in request.POST:
        return _show_form(request, form, source, preview_it=True)
    if form.is_valid():
        try:
            seen = form.cleaned_data["edition"] or 0
            sources.change_source(source, by=user, details=form.details(), seen=seen)
        except BadInput as refusal:
            add_refusal(form, refusal)
        except Stale as stale:
            retype(form, edition=str(stale.newest))
            return _show_form(request, form, source, stale=str(stale))
        else:
            return redirect("alert-source", pk=source.pk)
    return _show_form(request, form, source)


def _show_form(
    request: HttpRequest,
    form: SourceForm,
    source: AlertSource,
    *,
    is_new: bool = False,
    preview_it: bool = False,
    stale: str = "",
) -> HttpResponse:
    context: dict[str, object] = {"form": form, "source": source, "is_new": is_new, "stale": stale}
    status = 422 if form.is_bound and not preview_it else 200
    status = 409 if stale else status
    if preview_it:
        context |= _preview(form, source)
    return render(request, "site/alerts/source_form.html", context, status=status)


def _preview(form: SourceForm, source: AlertSource) -> dict[str, object]:
    """Return the alerts that the form's settings would create from the sample, without saving them."""
    form.is_valid()
    typed = form.details()
    tried = AlertSource(kind=source.kind)
    for name in ("matchers", "least_severity", "mapping"):
        if name in typed:
            setattr(tried, name, typed[name])
    try:
        tried.name = "preview"
        if tried.kind == AlertSource.Kind.GENERIC:
            sources.check_mapping(tried.mapping)
        return {"preview": preview(tried, form.cleaned_data.get("sample", ""))}
    except BadInput as refusal:
        add_refusal(form, refusal)
        return {}
    except Unreadable as error:
        return {"preview_problem": str(error)}


@require_POST
def key_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a key. Existing keys stay valid until they are revoked."""
    user = signed_in(request)
    source = access_source(user, pk)
    form = KeyForm(request.POST)
    secret = request.POST.get("secret", "")
    if source.kind == AlertSource.Kind.PAGERDUTY and not form.is_valid():
        return show_source(request, source, key_form=form, status=422)
    try:
        made = sources.make_key(source, by=user, secret=secret)
    except BadInput as refusal:
        form.is_valid()
        add_refusal(form, refusal)
        return show_source(request, source, key_form=form, status=422)
    if source.kind == AlertSource.Kind.PAGERDUTY:
        messages.success(request, _("Secret saved, encrypted."))
        return redirect("alert-source", pk=source.pk)
    return show_source(request, source, made=made)


@require_POST
def key_revoke(request: HttpRequest, pk: int, key: int) -> HttpResponse:
    """Revoke a key."""
    user = signed_in(request)
    source = access_source(user, pk)
    sources.revoke_key(get_object_or_404(AlertKey, pk=key, source=source), by=user)
    return redirect("alert-source", pk=source.pk)


@require_POST
def source_pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause a source, so that its requests are rejected."""
    user = signed_in(request)
    sources.set_paused(access_source(user, pk), True, by=user)
    return redirect("alert-source", pk=pk)


@require_POST
def source_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Resume a source."""
    user = signed_in(request)
    sources.set_paused(access_source(user, pk), False, by=user)
    return redirect("alert-source", pk=pk)


@require_POST
def source_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a sample alert."""
    user = signed_in(request)
    source = access_source(user, pk)
    try:
        tested = test_source(source, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, _("The sample was rejected: %(why)s") % {"why": refusal})
        return redirect("alert-source", pk=pk)
    if tested.incident is not None:
        words = _("The sample opened incident %(number)s.") % {"number": tested.incident.pk}
        messages.success(request, words)
    elif tested.is_filtered:
        messages.warning(
            request,
            _("The sample was accepted but opened no incident, because the filters exclude it."),
        )
    else:
        words = _(
            "The sample was accepted but opened no incident, because too many incidents from this source are open."
        )
        messages.warning(request, words)
    return redirect("alert-source", pk=pk)
