"""The list of incidents and the page of one incident, which is shown again after each action."""

from __future__ import annotations

from collections.abc import Callable

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog import analysis
from catalog import services as catalog
from catalog.access import access_use, access_version
from catalog.entries.use_forms import UseForm
from core.errors import BadInput, NotAllowedNow
from core.web.forms import add_refusal
from core.web.lists import page_in_order
from core.web.requests import read_key, signed_in
from pipeline.access import ASK, require_asker
from pipeline.configurations.services import find_configuration
from pipeline.services import SecretsFound
from scriptsmith_site.integrations.alerts.access import access_incident, access_incidents
from scriptsmith_site.integrations.alerts.forms import (
    AskForm,
    HandOverForm,
    IncidentFilter,
    IncidentOutcomeForm,
    NoteForm,
    StatementForm,
)
from scriptsmith_site.integrations.alerts.services import incident_page, incidents
from scriptsmith_site.integrations.alerts.suggestions import context_of
from scriptsmith_site.models import Incident
from scriptsmith_site.people.roles import ADMINISTER

PAGE_SIZE = 50


@require_safe
def incident_list(request: HttpRequest) -> HttpResponse:
    """List open incidents, most severe first. Tabs show resolved incidents or all incidents."""
    user = signed_in(request)
    found = access_incidents(user)
    form = IncidentFilter(request.GET)
    context: dict[str, object] = {
        "form": form,
        "tabs": _tabs(request, found.filter(state=Incident.State.OPEN).count()),
        "is_filtered": bool(request.GET.get("q") or request.GET.get("severity")),
        "waiting": incident_page.waiting_requests(),
        "may_administer": user.has_perm(ADMINISTER),
    }
    if not form.is_valid():
        return render(request, "site/incidents/list.html", context, status=422)
    state = form.cleaned_data["state"] or Incident.State.OPEN
    rows = incident_page.search(
        found,
        words=form.cleaned_data["q"],
        state="" if state == "all" else state,
        severity=form.cleaned_data["severity"],
    )
    by_key = form.cleaned_data["sort"] == "newest"
    rows = rows if by_key else rows.order_by("severity", "-pk")
    page = page_in_order(rows, request, by_key=by_key, size=PAGE_SIZE)
    context |= {"page": page, "is_open_tab": state == "open"}
    return render(request, "site/incidents/list.html", context)


def _tabs(request: HttpRequest, count: int) -> list[dict[str, object]]:
    names = ("q", "severity", "sort")
    chosen = {name: str(request.GET[name]) for name in names if request.GET.get(name)}
    current = request.GET.get("state") or "open"
    return [
        {
            "label": label,
            "url": f"?{urlencode({**chosen, 'state': state})}",
            "count": count if state == "open" else "",
            "current": current == state,
        }
        for state, label in (
            ("open", _("Open")),
            ("resolved", _("Resolved")),
            ("all", _("All")),
        )
    ]


@require_safe
def incident_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an incident's alerts, scripts that may help, its assignee and its timeline."""
    return show_incident(request, access_incident(signed_in(request), pk))


def show_incident(
    request: HttpRequest,
    incident: Incident,
    *,
    bound: dict[str, forms.Form] | None = None,
    chosen: int = 0,
    status: int = 200,
) -> HttpResponse:
    """Render the page. `bound` contains rejected forms by context variable."""
    user = signed_in(request)
    found = incident_page.find_scripts(
        incident, user, chosen=chosen or read_key(request.GET.get("script", ""))
    )
    if "use" in (bound or {}) and (found.chosen is None or found.chosen.version.pk != chosen):
        raise NotAllowedNow(_("This script no longer matches the request text. Reload the page."))
    uses = incident_page.uses_of(incident, user)
    context: dict[str, object] = {
        "incident": incident,
        "found": found,
        "degraded": incident_page.say_degraded(found),
        "alerts": incident_page.shown_alerts(incident),
        "alert_count": incident.alerts.count(),
        "timeline": incident_page.timeline(incident, user),
        "uses": uses,
        "unrated": next((use for use in uses if not use.outcome), None),
        "copied": _copied(request, user),
        "may_ask": user.has_perm(ASK),
        "is_mine": incident.taken_by_id == user.pk,
        "statement_form": StatementForm(initial={"statement": incident.statement}),
        "note_form": NoteForm(auto_id="note_%s"),
        "hand_over_form": HandOverForm(auto_id="hand_%s"),
        "outcome_form": IncidentOutcomeForm(incident=incident),
        **(bound or {}),
    }
    if found.chosen is not None:
        context |= _describe_use(request, found, context)
    return render(request, "site/incidents/detail.html", context, status=status)


def _describe_use(
    request: HttpRequest, found: incident_page.Found, context: dict[str, object]
) -> dict[str, object]:
    """Return the template context for the chosen script.

    Suggested values are filled in if the user has accepted them.
    """
    assert found.chosen is not None
    version = found.chosen.version
    is_accepted = request.GET.get("values") == "accepted"
    values = {f"value-{one.name}": one.value for one in found.suggested} if is_accepted else {}
    form = context.get("use") or UseForm(version, prefill=values)
    assert isinstance(form, UseForm)
    return {
        "use": form,
        "version": version,
        "entry": version.entry,
        "track": found.chosen.track,
        "is_accepted": is_accepted,
        "filled": catalog.fill_in(version, form.values()),
    }


def _copied(request: HttpRequest, user: User) -> dict[str, object] | None:
    """Return the exact text of the script that the user has just copied, or None."""
    key = read_key(request.GET.get("copied", ""))
    if not key:
        return None
    use = access_use(user, key)
    return {"use": use, "text": catalog.fill_in(use.version, use.values).text}


@require_POST
def incident_use(request: HttpRequest, pk: int, version: int) -> HttpResponse:
    """Record that the user copies the script and show it, or only preview it with the entered values."""
    user = signed_in(request)
    incident = access_incident(user, pk)
    taken = access_version(user, version)
    if not catalog.is_trusted(taken):
        raise NotAllowedNow(
            _(
                "This script is no longer verified. To copy it anyway, open its page and enter a "
                "reason."
            )
        )
    form = UseForm(taken, request.POST)
    form.is_valid()
    if "preview" in request.POST:
        return show_incident(request, incident, bound={"use": form}, chosen=taken.pk)
    try:
        use = incidents.copy_script(incident, taken, values=form.values(), by=user)
    except BadInput as refusal:
        add_refusal(form, refusal)
        return show_incident(request, incident, bound={"use": form}, chosen=taken.pk, status=422)
    query = urlencode({"script": taken.pk, "copied": use.pk})
    return redirect(f"{reverse('incident-detail', args=[incident.pk])}?{query}#copied")


@require_http_methods(["GET", "HEAD", "POST"])
def incident_ask(request: HttpRequest, pk: int) -> HttpResponse:
    """Request a script with the alert as its context. Recognized secrets are masked first."""
    user = signed_in(request)
    incident = access_incident(user, pk)
    require_asker(user)
    known = context_of(incident)
    if request.method != "POST":
        statement = analysis.mask_secrets(incident.statement or incident.title)
        initial = {
            "statement": statement.text,
            "context": known.text,
            "target": analysis.mask_secrets(incident.labels.get("instance", "")).text[:300],
            "severity": incident.severity,
        }
        masked = (*statement.secrets, *known.secrets)
        return _show_ask(request, incident, AskForm(initial=initial), masked=masked)
    form = AskForm(request.POST)
    if form.is_valid():
        typed = form.cleaned_data
        secrets = form.secrets_choice(typed | {"incident": typed["context"]})
        details = dict(form.cleaned_data)
        try:
            details["configuration"] = find_configuration(details["configuration"])
            run = incidents.ask_for_one(
                incident, by=user, secrets=secrets, masks_stored=form.masks_stored, **details
            )
        except SecretsFound as refusal:
            form.ask_about_secrets(refusal)
        except BadInput as refusal:
            refused = "context" if refusal.field == "incident" else refusal.field
            add_refusal(form, BadInput(str(refusal), field=refused))
        else:
            return redirect("run-detail", pk=run.pk)
    return _show_ask(request, incident, form, status=422)


def _show_ask(
    request: HttpRequest,
    incident: Incident,
    form: AskForm,
    *,
    masked: tuple[str, ...] = (),
    status: int = 200,
) -> HttpResponse:
    context = {"incident": incident, "form": form, "masked": masked}
    return render(request, "site/incidents/ask.html", context, status=status)


@require_POST
def incident_take(request: HttpRequest, pk: int) -> HttpResponse:
    """Assign the incident to the user."""
    user = signed_in(request)
    incident = access_incident(user, pk)
    incidents.take(incident, by=user)
    return redirect("incident-detail", pk=pk)


@require_POST
def incident_close(request: HttpRequest, pk: int) -> HttpResponse:
    """Resolve an incident whose source never reports resolved alerts."""
    user = signed_in(request)
    incidents.close(access_incident(user, pk), by=user)
    messages.success(
        request, _("Incident closed. It reopens if the alert fires again within an hour.")
    )
    return redirect("incident-detail", pk=pk)


@require_POST
def incident_give_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Unassign the incident."""
    user = signed_in(request)
    incidents.give_back(access_incident(user, pk), by=user)
    return redirect("incident-detail", pk=pk)


@require_POST
def incident_hand_over(request: HttpRequest, pk: int) -> HttpResponse:
    """Assign the incident to another user."""
    incident = access_incident(signed_in(request), pk)
    form = HandOverForm(request.POST, auto_id="hand_%s")
    return _carry_out(request, incident, "hand_over_form", form, incidents.hand_over)


@require_POST
def incident_note(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a note to the timeline."""
    incident = access_incident(signed_in(request), pk)
    form = NoteForm(request.POST, auto_id="note_%s")
    return _carry_out(request, incident, "note_form", form, incidents.add_note)


@require_POST
def incident_reword(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the statement and search again."""
    incident = access_incident(signed_in(request), pk)
    form = StatementForm(request.POST)
    return _carry_out(request, incident, "statement_form", form, incidents.reword)


@require_POST
def incident_outcome(request: HttpRequest, pk: int, use: int) -> HttpResponse:
    """Report the outcome of a script that was copied for this incident."""
    user = signed_in(request)
    incident = access_incident(user, pk)
    rated = access_use(user, use)
    if not incident.events.filter(use=rated).exists():
        raise Http404
    form = IncidentOutcomeForm(request.POST, incident=incident)
    return _carry_out(
        request,
        incident,
        "outcome_form",
        form,
        lambda incident, **said: incidents.say_outcome(incident, rated, **said),
        thanks=_("Saved. Everyone who opens this script will see it."),
    )


def _carry_out(
    request: HttpRequest,
    incident: Incident,
    name: str,
    form: forms.Form,
    do: Callable[..., object],
    *,
    thanks: str = "",
) -> HttpResponse:
    if form.is_valid():
        try:
            do(incident, by=signed_in(request), **form.cleaned_data)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            if thanks:
                messages.success(request, thanks)
            return redirect("incident-detail", pk=incident.pk)
    return show_incident(request, incident, bound={name: form}, status=422)
