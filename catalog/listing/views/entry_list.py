"""The list of entries: all of them, or those that fit filters or a query."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from catalog.access import CURATE, access_entries
from catalog.entries import services as entry_services
from catalog.listing import services
from catalog.listing.forms import FilterForm
from catalog.listing.views.worklists import tabs_of
from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.requests import page_of, wants_fragment

PAGE_SIZE = 50


@require_safe
@vary_on_headers("HX-Request")
def catalog_list(request: HttpRequest) -> HttpResponse:
    """All entries, newest first; or those that fit a query, best first."""
    user = request.user
    assert isinstance(user, User)
    form = FilterForm(request.GET)
    context: dict[str, object] = {
        "nav_section": "catalogue",
        "form": form,
        "is_filtered": any(request.GET.get(name) for name in form.fields),
        "curates": user.has_perm(CURATE),
        "warnings": entry_services.warnings_for(user),
        "rows": [],
    }
    if context["curates"]:
        context["tabs"] = tabs_of(user, "list", _narrowed(request))
        context["deeds"] = services.Deed.choices
    if context["curates"] and not context["is_filtered"]:
        context["used_unreviewed"] = entry_services.used_unreviewed()
    status = 422
    if form.is_valid():
        try:
            context |= _find(request, form)
            status = 200
        except BadInput as refusal:
            add_refusal(form, refusal)
    template = (
        "catalog/listing/_entry_list.html"
        if wants_fragment(request)
        else "catalog/listing/entry_list.html"
    )
    return render(request, template, context, status=status)


def _narrowed(request: HttpRequest) -> str:
    """What narrows the list, without what is empty and without the place in it."""
    query = request.GET.copy()
    for name in list(query):
        if name in ("before", "after") or not query[name]:
            del query[name]
    return query.urlencode()


def _find(request: HttpRequest, form: FilterForm) -> dict[str, object]:
    filters = form.filters()
    query = form.cleaned_data["q"]
    if query:
        found = services.search_entries(query, filters=filters)
        return {
            "rows": services.rows_of(found.entries, filters),
            "degraded": found.degraded,
            "query": query,
        }
    entries = services.list_entries(filters, among=access_entries(request.user))
    page = page_of(entries, request, size=PAGE_SIZE)
    return {
        "page": page,
        "rows": services.rows_of(page.rows, filters),
        "fits": _narrowed(request),
    }
