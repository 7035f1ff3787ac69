"""Pages to list near-duplicates and to dismiss a pair."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from catalog.access import curator_of
from catalog.curation import services
from catalog.listing import services as listing
from catalog.listing.services.filters import Filters
from catalog.listing.services.search import Listed
from catalog.listing.views.worklists import tabs_of
from catalog.models import NearDuplicate
from core.errors import NotAllowedNow

PAIRS = 50


class Pair(NamedTuple):
    """A pair of entries, to show side by side."""

    pair: NearDuplicate
    first: Listed
    second: Listed


@require_safe
def duplicate_list(request: HttpRequest) -> HttpResponse:
    """List pairs of entries that may do the same thing, most similar first."""
    user = curator_of(request)
    pairs = list(NearDuplicate.objects.to_look_at()[:PAIRS])
    entries = [entry for pair in pairs for entry in (pair.first, pair.second)]
    rows = {row.entry.pk: row for row in listing.rows_of(entries, Filters())}
    shown = [
        Pair(pair, rows[pair.first_id], rows[pair.second_id])
        for pair in pairs
        if pair.first_id in rows and pair.second_id in rows
    ]
    context = {
        "nav_section": "catalogue",
        "tabs": tabs_of(user, "duplicates"),
        "rows": shown,
        "to_compare": services.to_compare().count(),
    }
    return render(request, "catalog/curation/duplicates.html", context)


@require_POST
def duplicate_dismiss(request: HttpRequest, pk: int) -> HttpResponse:
    """Dismiss the pair, because the entries do different things."""
    user = curator_of(request)
    pair = get_object_or_404(NearDuplicate.objects.select_related("first", "second"), pk=pk)
    try:
        services.dismiss_pair(pair, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Entries marked as different."))
    return redirect("duplicate-list")
