"""The page that lists all entries, or the entries that match filters or a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from catalog.access import CURATE, access_entries
from catalog.entries import services as entry_services
from catalog.listing import services
from catalog.listing.forms import FilterForm
from catalog.listing.services import Facets, Filters, Sort
from catalog.listing.services.filters import ALL, IN_USE
from catalog.listing.services.search import Listed
from catalog.listing.views.worklists import tabs_of
from catalog.models import SavedView, Version
from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.lists import (
    Column,
    Facet,
    address_with,
    filter_context,
    list_context,
    narrowed,
    slice_of,
    sort_column,
)
from core.web.requests import page_of, wants_fragment

PAGE_SIZE = 50
MOST_EMERGENCIES = 5
LIST = SavedView.Listing.CATALOGUE
FACETS = ("state", "risk", "side_effect", "tag", "owner", "use", "age")
ALWAYS = ("state", "risk", "side_effect")  # always shown with all their values


@require_safe
@vary_on_headers("HX-Request")
def catalog_list(request: HttpRequest) -> HttpResponse:
    """List the matching entries in the chosen order. Results of a query are listed best first."""
    user = request.user
    assert isinstance(user, User)
    form = FilterForm(request.GET)
    context: dict[str, object] = {
        "nav_section": "catalogue",
        **list_context(request, form, listing=LIST.value),
        "is_filtered": any(request.GET.get(name) for name in form.fields if name != "sort"),
        "curates": user.has_perm(CURATE),
        "warnings": entry_services.warnings_for(user),
        "views": services.views_of(user, LIST),
        "rows": [],
    }
    if context["curates"]:
        context["tabs"] = tabs_of(user, "list", str(context["narrowed"]))
        context["deeds"] = services.Deed.choices
    if context["curates"] and not context["is_filtered"]:
        context["emergencies"] = entry_services.emergencies_to_confirm()[:MOST_EMERGENCIES]
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


def _find(request: HttpRequest, form: FilterForm) -> dict[str, object]:
    filters = form.filters()
    query, sort = form.cleaned_data["q"], Sort(form.cleaned_data["sort"])
    if query:
        # Search results can be in any state, so list deprecated versions last.
        found = services.search_entries(query, filters=filters)
        rows = services.rows_of(found.entries, filters)
        return {
            **filter_context(request, form, _facets_of(form, rows)),
            "rows": sorted(rows, key=lambda row: row.version.state == Version.State.DEPRECATED),
            "degraded": found.degraded,
            "said": ngettext("%s found", "%s found", len(rows)) % len(rows),
            "columns": _columns(None, sort),
        }
    filters = filters if filters.state else replace(filters, state=IN_USE)
    counted = services.count_facets(filters)
    left_out = filters.state == IN_USE and counted.counts["state"][ALL] - counted.total
    return {
        **filter_context(request, form, _facets(counted)),
        **_page(request, filters, sort),
        "said": ngettext("%s entry", "%s entries", counted.total) % f"{counted.total:,}",
        "columns": _columns(request.GET, sort),
        "left_out": left_out,
        "everything": address_with(request.GET, state=ALL),
        "fits": narrowed(request.GET, form.fields),
    }


def _facets(counted: Facets) -> list[Facet]:
    return [
        Facet(
            name,
            counted.counts[name],
            every=counted.counts[name] if name in ALWAYS else (),
            default=IN_USE if name == "state" else "",
        )
        for name in FACETS
    ]


def _facets_of(form: FilterForm, rows: Sequence[Listed]) -> list[Facet]:
    """Return the filters of a search without counts, because each filter would change the results."""
    found = {
        "tag": sorted({tag.name for row in rows for tag in row.version.tags.all()}),
        "owner": sorted({row.version.owner.username for row in rows if row.version.owner}),
    }
    offered = {name: found.get(name) or _values_of(form, name) for name in FACETS}
    return [
        Facet(name, dict.fromkeys(values, 0), every=values, is_cut=True)
        for name, values in offered.items()
    ]


def _values_of(form: FilterForm, name: str) -> list[str]:
    return [str(value) for value, _label in getattr(form.fields[name], "choices", ()) if value]


def _page(request: HttpRequest, filters: Filters, sort: Sort) -> dict[str, object]:
    """Return a page of rows. Paginate by key for the default order, and by position for other orders."""
    entries = access_entries(request.user)
    if sort is Sort.NEWEST:
        page = page_of(services.list_entries(filters, among=entries), request, size=PAGE_SIZE)
        return {"page": page, "rows": services.rows_of(page.rows, filters), "by_time": True}
    found = slice_of(
        lambda start, end: services.in_order(
            filters, sort, among=entries, start=start, size=end - start
        ),
        request,
        size=PAGE_SIZE,
    )
    return {"page": found, "rows": services.rows_of(found.rows, filters), "by_time": False}


def _columns(query: QueryDict | None, sort: Sort) -> list[Column]:
    """Return the columns with sort links. A second click on *Verified* reverses the order."""
    column = partial(sort_column, query, sort)
    return [
        column(_("Entry"), "col-title", {Sort.NAME: "ascending"}),
        Column(_("State"), "col-state"),
        column(_("Risk"), "col-risk", {Sort.RISK: "descending"}),
        Column(_("Side effect"), "col-effect"),
        column(_("Used"), "col-used", {Sort.USED: "descending"}),
        column(
            _("Verified"),
            "col-verified",
            {Sort.VERIFIED: "descending", Sort.STALE: "ascending"},
        ),
        Column(_("Owner"), "col-owner"),
    ]
