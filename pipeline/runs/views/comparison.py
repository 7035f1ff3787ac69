"""The page that compares runs of one action side by side. It updates itself while a run is in progress."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.requests import signed_in, wants_fragment
from pipeline.access import access_action, access_runs, may_run, visible_parts
from pipeline.configurations.services import find_configuration, usable_configurations
from pipeline.display_names import stage_label
from pipeline.models import Action
from pipeline.runs import services
from pipeline.runs.comparison.run_comparison import MOST_RUNS, ComparedRun, Comparison, compare_runs
from pipeline.runs.forms import RunForm
from pipeline.runs.list_rows import RunRow, run_row
from pipeline.runs.page_data.timeline import ShownStage, show_stages
from pipeline.runs.services.secrets import SecretsFound, texts_of
from pipeline.runs.views.page import fingerprint_of

MOST_OFFERED = 50


@dataclass(frozen=True)
class Pair:
    """A run's script and the first run's script."""

    old: ComparedRun
    new: ComparedRun

    @property
    def is_same(self) -> bool:
        """Return whether both runs have a script and the scripts are identical."""
        old, new = self.old.draft, self.new.draft
        return old is not None and new is not None and old.sha256 == new.sha256


@dataclass(frozen=True)
class ShownLine:
    """A stage with each run's description and usage."""

    name: str
    round: int
    cells: Sequence[tuple[ComparedRun, ShownStage | None, int | None]]


@require_http_methods(["GET", "HEAD", "POST"])
def action_compare(request: HttpRequest, pk: int) -> HttpResponse:
    """Compare two to four runs. With fewer runs, offer a choice. A POST request starts one more run."""
    user = signed_in(request)
    action = access_action(user, pk, to_run=request.method == "POST")
    keys = _keys(request.GET)
    form = RunForm(configurations=usable_configurations())
    # The next run uses the first run's settings, so that both runs are comparable.
    form.fields["retrieval"].initial = _uses_retrieval(user, keys)
    if request.method == "POST":
        form = RunForm(request.POST, configurations=usable_configurations())
        started = _start(request, action, form, keys) if form.is_valid() else None
        if started is not None:
            return started
        return _show(request, action, keys, form, status=422)
    return _show(request, action, keys, form)


@require_safe
def action_compare_status(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the live part of the page, or 204 if it has not changed since it was last shown."""
    user = signed_in(request)
    action = access_action(user, pk)
    if not wants_fragment(request):
        return redirect(f"{reverse('action-compare', args=[pk])}?{_selected(_keys(request.GET))}")
    context = _describe(request, action, _keys(request.GET))
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    response = render(request, "pipeline/runs/comparison/_comparison.html", context)
    if not context["is_active"]:
        response["HX-Trigger"] = json.dumps({"announce": {"text": _("All runs have ended.")}})
    return response


def _uses_retrieval(user: User, keys: Sequence[int]) -> bool:
    first = access_runs(user).filter(pk__in=keys[:1]).first()
    return first is None or not visible_parts(user, first).verdict or first.uses_retrieval


def _start(
    request: HttpRequest, action: Action, form: RunForm, keys: Sequence[int]
) -> HttpResponse | None:
    """Start one more run and redirect to it. If it can't be started, add the reason to the form and return None."""
    if len(keys) >= MOST_RUNS:
        form.add_error(None, _("You can compare up to %d runs. Deselect one.") % MOST_RUNS)
        return None
    try:
        run = services.start_run(
            action,
            by=signed_in(request),
            configuration=find_configuration(form.cleaned_data["configuration"]),
            uses_retrieval=form.cleaned_data["retrieval"],
            secrets=form.secrets_choice(texts_of(action)),
        )
    except SecretsFound as refusal:
        form.ask_about_secrets(refusal)
        return None
    except BadInput as refusal:
        add_refusal(form, refusal)
        return None
    return redirect(f"{reverse('action-compare', args=[action.pk])}?{_selected([*keys, run.pk])}")


def _show(
    request: HttpRequest, action: Action, keys: Sequence[int], form: RunForm, *, status: int = 200
) -> HttpResponse:
    user = signed_in(request)
    context: dict[str, object] = {
        "action": action,
        "form": form,
        "may_run": may_run(user, action) and not action.erased_at and len(keys) < MOST_RUNS,
        "selected": _selected(keys),
        "keys": keys,
    }
    refusal = ""
    if len(keys) > 1:
        try:
            context |= _describe(request, action, keys)
        except BadInput as error:
            refusal, status = str(error), 422
        else:
            return render(request, "pipeline/runs/comparison/detail.html", context, status=status)
    newest = access_runs(user).filter(action=action).order_by("-pk")[:MOST_OFFERED]
    context |= {"rows": [run_row(run, user) for run in newest], "refusal": refusal}
    return render(request, "pipeline/runs/comparison/choose.html", context, status=status)


def _describe(request: HttpRequest, action: Action, keys: Sequence[int]) -> dict[str, object]:
    """Return the data for the page and its live part. Raises BadInput if these runs can't be compared."""
    of_first, side = request.GET.get("of") == "first", request.GET.get("view") == "side"
    found = compare_runs(action, keys, by=signed_in(request), of_first=of_first)
    return {
        "action": action,
        "compared": found,
        "is_active": found.is_active,
        "pairs": [Pair(found.runs[0], other) for other in found.runs[1:]],
        "lines": _show_lines(found),
        "side": side,
        "switches": _switches(keys, of_first=of_first, side=side),
        "status_query": _query(keys, of_first=of_first, side=side),
        "seen": _fingerprint(found),
        "some_hidden": any(not one.parts.verdict for one in found.runs),
    }


def _show_lines(found: Comparison) -> list[ShownLine]:
    return [
        ShownLine(
            name=stage_label(line.name),
            round=line.round,
            cells=[
                (
                    one,
                    show_stages([cell.stage], run_state=one.run.state)[0],
                    cell.used.cost if cell.used.calls else None,
                )
                if cell
                else (one, None, None)
                for one, cell in zip(found.runs, line.cells, strict=True)
            ],
        )
        for line in found.stages
    ]


def _fingerprint(found: Comparison) -> str:
    seen = [
        fingerprint_of(
            RunRow(one.run, one.parts), list(one.run.stages.all()) if one.parts.verdict else []
        )
        for one in found.runs
    ]
    return hashlib.sha256("".join(seen).encode()).hexdigest()[:16]


def _switches(keys: Sequence[int], *, of_first: bool, side: bool) -> list[dict[str, object]]:
    """Return the options for the compared scripts and the view."""

    def option(label: str, key: str, *, first: bool, beside: bool) -> dict[str, object]:
        return {
            "label": label,
            "key": key,
            "url": f"?{_query(keys, of_first=first, side=beside)}",
            "current": (first, beside) == (of_first, side),
        }

    return [
        {
            "label": _("Scripts"),
            "options": [
                option(_("Recommended"), "m", first=False, beside=side),
                option(_("First"), "f", first=True, beside=side),
            ],
        },
        {
            "label": _("View"),
            "options": [
                option(_("Inline"), "i", first=of_first, beside=False),
                option(_("Side by side"), "s", first=of_first, beside=True),
            ],
        },
    ]


def _keys(query: QueryDict) -> list[int]:
    """Return the run keys in the URL. Non-numeric values are treated as unknown runs."""
    return [
        int(text) if text.isdecimal() and len(text) < 19 else 0 for text in query.getlist("run")
    ]


def _selected(keys: Sequence[int]) -> str:
    return "&".join(f"run={key}" for key in keys)


def _query(keys: Sequence[int], *, of_first: bool, side: bool) -> str:
    return _selected(keys) + ("&of=first" if of_first else "") + ("&view=side" if side else "")
