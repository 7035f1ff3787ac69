"""The list of phrasings that are waiting for confirmation by a second user."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.access import curator_of
from catalog.entries import services as entry_services
from catalog.listing.views.worklists import tabs_of
from core.web.requests import page_of

WORDINGS = 50


@require_safe
def wording_list(request: HttpRequest) -> HttpResponse:
    """List phrasings of live entries that are waiting for confirmation by a second user."""
    user = curator_of(request)
    page = page_of(entry_services.waiting_to_confirm(user), request, size=WORDINGS)
    context = {"nav_section": "catalogue", "tabs": tabs_of(user, "wordings"), "page": page}
    return render(request, "catalog/curation/wordings.html", context)
