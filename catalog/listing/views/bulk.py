"""The view that previews and runs bulk actions."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from catalog.access import curator_of
from catalog.listing import services
from catalog.listing.forms import BulkForm, read_chosen, read_seen
from catalog.listing.services.bulk import BulkStep, Deed
from catalog.models import Entry
from core.errors import BadInput
from core.web.forms import add_refusal


@require_POST
def bulk(request: HttpRequest) -> HttpResponse:
    """Show a preview for the chosen entries. With `carry_out`, apply it to entries that have not changed."""
    user = curator_of(request)
    entries = read_chosen(request.POST)
    form = BulkForm(request.POST)
    if not form.is_valid():
        return _show(request, form, entries, [], status=422)
    is_first_look = "deed_chosen" in request.POST and form.order().deed != Deed.SUBMIT
    try:
        if "carry_out" in request.POST:
            outcome = services.carry_out_bulk(
                form.order(), entries, seen=read_seen(request.POST, entries), by=user
            )
        else:
            steps = services.plan_bulk(form.order(), entries, by=user)
            return _show(request, form, entries, steps)
    except BadInput as refusal:
        if not entries:
            messages.error(request, str(refusal))
            return redirect("catalog-list")
        if is_first_look:  # The user has not entered anything yet, so show no error.
            return _show(request, BulkForm(initial=form.cleaned_data), entries, [])
        add_refusal(form, refusal)
        return _show(request, form, entries, [], status=422)
    done, refused = len(outcome.done), len(outcome.refused)
    if not refused:
        text = ngettext("%(done)s entry changed.", "%(done)s entries changed.", done)
        messages.success(request, text % {"done": done})
        return redirect("catalog-list")
    context = {"nav_section": "catalogue", "outcome": outcome, "form": form}
    return render(request, "catalog/listing/bulk_done.html", context, status=200 if done else 409)


def _show(
    request: HttpRequest,
    form: BulkForm,
    entries: list[Entry],
    steps: list[BulkStep],
    *,
    status: int = 200,
) -> HttpResponse:
    deed = form["deed"].value()
    context = {
        "nav_section": "catalogue",
        "form": form,
        "entries": entries,
        "steps": steps,
        "doable": [step for step in steps if not step.refusal],
        "refused": [step for step in steps if step.refusal],
        "deed": deed,
        "title": Deed(deed).label if deed in Deed.values else _("Bulk change"),
    }
    return render(request, "catalog/listing/bulk.html", context, status=status)
