"""The action pages: request a script, the list, and one action with its runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.models import SavedView
from catalog.services import views_of
from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.lists import address_with, filter_context, list_context, page_in_order, say_count
from core.web.requests import signed_in
from pipeline.access import (
    ASK,
    ERASE,
    access_action,
    access_actions,
    access_runs,
    may_edit,
    may_run,
    require_asker,
)
from pipeline.actions import services
from pipeline.actions.forms import AskForm, EraseForm
from pipeline.actions.list_facets import (
    PAGE_SIZE,
    ActionCounts,
    ActionListFilter,
    Sort,
    columns_of,
    count_actions,
)
from pipeline.actions.list_rows import action_rows
from pipeline.configurations.services import find_configuration, usable_configurations
from pipeline.models import Action, Run
from pipeline.runs.answers import (
    MOST_NEWS,
    ShownAnswer,
    answers_of,
    mark_seen,
    news_of,
    note_seen,
)
from pipeline.runs.forms import RunForm
from pipeline.runs.list_rows import RunRow, run_row
from pipeline.runs.services import SecretsFound, start_run
from pipeline.runs.services.secrets import texts_of

LIST = SavedView.Listing.ACTIONS
_NEWS = re.compile(r"\b([0-9]{1,18}):([a-z_-]{1,30})(?!\S)")
MOST_RUNS = 50  # on an action's page


@dataclass(frozen=True)
class PricedRun:
    """A run of an action, with its answer and its cost in micro-dollars. Without a price, the cost is None."""

    row: RunRow
    answer: ShownAnswer
    cost: int | None


@require_http_methods(["GET", "HEAD", "POST"])
def action_new(request: HttpRequest) -> HttpResponse:
    """Request a script and start its run."""
    user = signed_in(request)
    require_asker(user)
    configurations = usable_configurations()
    # *Add context* on the home page uses POST, because a statement in the URL would be logged.
    if request.method != "POST" or "more" in request.POST:
        again = request.GET.get("again", "")
        known = _asked_before(user, int(again)) if again.isdecimal() and len(again) < 19 else {}
        given = _prefilled(request.POST or request.GET)
        form = AskForm(configurations=configurations, initial=known | given)
        return _show_form(request, form, unfolds="more" in request.POST)
    form = AskForm(request.POST, configurations=configurations)
    if form.is_valid():
        secrets = form.secrets_choice(form.cleaned_data)
        details = dict(form.cleaned_data)
        try:
            chosen = find_configuration(details.pop("configuration"))
            run = services.ask_and_run(
                details.pop("statement"),
                by=user,
                configuration=chosen,
                secrets=secrets,
                masks_stored=form.masks_stored,
                **details,
            )
        except SecretsFound as refusal:
            form.ask_about_secrets(refusal)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            return redirect("run-detail", pk=run.pk)
    return _show_form(request, form, status=422)


@require_safe
def action_list(request: HttpRequest) -> HttpResponse:
    """List the actions with their state, newest first or in the chosen order."""
    user = signed_in(request)
    found = ActionListFilter(request.GET, queryset=access_actions(user), request=request)
    changed = news_of(user)
    context: dict[str, object] = {
        **list_context(request, found.form, listing=LIST.value),
        "views": views_of(user, LIST),
        "tabs": _tabs(request.GET, changed=len(changed)),
        "may_ask": user.has_perm(ASK),
    }
    if not found.is_valid():
        return render(request, "pipeline/actions/list.html", context, status=422)
    sort = Sort(found.form.cleaned_data["sort"] or Sort.NEWEST)
    by_time = sort is Sort.NEWEST
    page = page_in_order(found.qs, request, by_key=by_time, size=PAGE_SIZE)
    rows = action_rows(page.rows, user)
    has_news = any(row.answer and row.answer.is_unread for row in rows)
    # The button marks only these answers as seen, not later changes.
    news = " ".join(f"{pk}:{status}" for pk, status in changed.items()) if has_news else ""
    counts = count_actions(request, found, user)
    context |= filter_context(request, found.form, counts.facets if counts else ())
    context |= {
        "page": page,
        "rows": rows,
        "by_time": by_time,
        "columns": columns_of(request.GET, sort),
        "said": _say_total(counts) if counts else "",
        "news": news,
    }
    return render(request, "pipeline/actions/list.html", context)


def _say_total(counts: ActionCounts) -> str:
    number = say_count(counts.total, is_cut=counts.is_cut)
    return ngettext("%s request", "%s requests", counts.total) % number


@require_POST
def actions_seen(request: HttpRequest) -> HttpResponse:
    """Mark the listed changes as seen and redirect to the requester's actions."""
    shown = _NEWS.findall(request.POST.get("news", ""))[:MOST_NEWS]
    count = mark_seen(signed_in(request), {int(pk): status for pk, status in shown})
    if count:
        said = ngettext("%d update marked as seen.", "%d updates marked as seen.", count)
        messages.success(request, said % count)
    return redirect(f"{reverse('action-list')}?whose=mine")


def _tabs(query: QueryDict, *, changed: int) -> list[dict[str, object]]:
    """Return the tabs of the list: all actions, the user's own, and changes since the last visit, up to MOST_NEWS."""
    current = {name: str(query[name]) for name in ("whose", "changed") if query.get(name)}

    def tab(label: str, count: object = "", **own: str) -> dict[str, object]:
        return {
            "label": label,
            "url": address_with(query, **({"whose": "", "changed": ""} | own)),
            "count": count,
            "current": current == own,
        }

    return [
        tab(_("All")),
        tab(_("Mine"), whose="mine"),
        tab(
            _("Updated"),
            f"{changed}+" if changed == MOST_NEWS else changed,
            whose="mine",
            changed="true",
        ),
    ]


@require_safe
def action_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one action with its context and runs."""
    user = signed_in(request)
    form = RunForm(configurations=usable_configurations())
    return _show_action(request, access_action(user, pk), form)


@require_http_methods(["GET", "HEAD", "POST"])
def action_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change or delete the user's own request before a run starts."""
    user = signed_in(request)
    action = access_action(user, pk, to_edit=True)
    if "delete" in request.POST:
        services.delete_action(action, by=user)
        messages.success(request, _("Request deleted."))
        return redirect("action-list")
    initial = {name: str(getattr(action, name)) for name in (*_PREFILLED, "reference")}
    form = AskForm(request.POST or None, configurations=(), initial=initial)
    del form.fields["configuration"]
    if form.is_valid():
        secrets, details = form.secrets_choice(form.cleaned_data), dict(form.cleaned_data)
        try:
            services.edit_action(
                action, by=user, secrets=secrets, masks_stored=form.masks_stored, **details
            )
        except SecretsFound as refusal:
            form.ask_about_secrets(refusal)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(request, _("Request saved."))
            return redirect("action-detail", pk=action.pk)
    return _show_form(request, form, status=422 if form.errors else 200, action=action)


@require_http_methods(["GET", "HEAD", "POST"])
def action_erase(request: HttpRequest, pk: int) -> HttpResponse:
    """Erase the texts of an action and its runs after a typed confirmation."""
    user = signed_in(request)
    action = access_action(user, pk, to_erase=True)
    form = EraseForm(request.POST or None, action=action)
    if form.is_valid():
        services.erase_action(action, by=user)
        messages.success(request, _("Texts erased."))
        return redirect("action-detail", pk=action.pk)
    if action.erased_at:
        return redirect("action-detail", pk=action.pk)
    context = {"action": action, "form": form, "run_count": action.runs.count()}
    status = 422 if request.method == "POST" else 200
    return render(request, "pipeline/actions/erase.html", context, status=status)


@require_POST
def run_start(request: HttpRequest, pk: int) -> HttpResponse:
    """Rerun an action."""
    user = signed_in(request)
    action = access_action(user, pk, to_run=True)
    form = RunForm(request.POST, configurations=usable_configurations())
    if form.is_valid():
        try:
            run = start_run(
                action,
                by=user,
                configuration=find_configuration(form.cleaned_data["configuration"]),
                uses_retrieval=form.cleaned_data["retrieval"],
                secrets=form.secrets_choice(texts_of(action)),
            )
        except SecretsFound as refusal:
            form.ask_about_secrets(refusal)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            return redirect("run-detail", pk=run.pk)
    return _show_action(request, action, form, status=422)


def _show_form(
    request: HttpRequest,
    form: AskForm,
    *,
    status: int = 200,
    unfolds: bool = False,
    action: Action | None = None,
) -> HttpResponse:
    unfolded = (
        unfolds
        or set(form.errors) - {"statement", "secrets"}
        or any(
            form[name].value()
            for name in ("incident", "environment", "reference", "target", "impact")
        )
    )
    context = {"form": form, "unfolded": unfolded, "examples": _examples(), "action": action}
    return render(request, "pipeline/actions/new.html", context, status=status)


def _examples() -> list[str]:
    """Return example statements: one that the catalogue answers, and two that it does not."""
    return [
        _("Restart nginx, but only if its configuration is valid"),
        _("Delete files older than 45 days in /srv/reports"),
        _("List the ten largest files in /var/log"),
    ]


_PREFILLED = ("statement", "incident", "environment", "target", "impact", "severity")


def _asked_before(user: User, pk: int) -> dict[str, str]:
    """Return the initial values for rephrasing an earlier request."""
    action = access_action(user, pk)
    return {name: str(getattr(action, name)) for name in _PREFILLED}


def _prefilled(query: QueryDict) -> dict[str, str]:
    """Return initial values from the URL without NUL characters, which no field can show."""
    return {name: str(query[name]).replace("\0", "") for name in _PREFILLED if name in query}


def _show_action(
    request: HttpRequest, action: Action, form: RunForm, *, status: int = 200
) -> HttpResponse:
    user = signed_in(request)
    runs = _priced(access_runs(user).filter(action=action), user)
    if runs and status == 200:
        note_seen(runs[0].row.run, runs[0].answer, by=user)
    context = {
        "action": action,
        "runs": runs,
        "most_runs": MOST_RUNS,
        "form": form,
        "may_run": may_run(user, action) and not action.erased_at,
        "may_edit": may_edit(user, action),
        "may_erase": user.has_perm(ERASE) and not action.erased_at,
    }
    return render(request, "pipeline/actions/detail.html", context, status=status)


def _priced(runs: QuerySet[Run], user: User) -> list[PricedRun]:
    """Return the newest runs with their costs.

    Do not even sum hidden costs, because the response time would reveal the number of calls.
    """
    rows = [run_row(run, user) for run in runs.order_by("-pk")[:MOST_RUNS]]
    shown = [row.run.pk for row in rows if row.parts.models and row.parts.verdict]
    unpriced = Q(calls__attempts__outcome="answered", calls__attempts__cost=None)
    sums = (
        Run.objects.filter(pk__in=shown)
        .annotate(
            paid=Sum("calls__attempts__cost"), missing=Count("calls__attempts", filter=unpriced)
        )
        .values_list("pk", "paid", "missing")
    )
    costs = {pk: None if missing else paid for pk, paid, missing in sums}
    answers = answers_of(rows, user) if rows else {}
    return [PricedRun(row, answers[row.run.pk], costs.get(row.run.pk)) for row in rows]
