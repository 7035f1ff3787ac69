"""The list of entries: all of them, or those that match filters or a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from catalog.access import CURATE, access_entries
from catalog.entries import services as entry_services
from catalog.listing import services
from catalog.listing.forms import FilterForm
from catalog.listing.services import Filters, Listed, Sort
from catalog.listing.services.filters import ALL, IN_USE
from catalog.listing.views.facet_links import address_with, chosen_chips, facet_groups
from catalog.listing.views.saved_views import normalised
from catalog.listing.views.worklists import tabs_of
from catalog.models import Version
from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.requests import page_of, wants_fragment

PAGE_SIZE = 50
MOST_EMERGENCIES = 5
LONGEST_START = 9  # digits of a place in the list


@dataclass(frozen=True)
class Column:
    """A column of the list; `url` orders by it."""

    label: str
    css: str = ""
    url: str = ""
    sort: str = ""


@dataclass(frozen=True)
class Slice:
    """A page of a list that is not ordered by key; `newer` and `older` as in `core.web.requests.Page`."""

    newer: str
    older: str
    summary: str


@require_safe
@vary_on_headers("HX-Request")
def catalog_list(request: HttpRequest) -> HttpResponse:
    """The matching entries in the chosen order; for a query, best first."""
    user = request.user
    assert isinstance(user, User)
    form = FilterForm(request.GET)
    query = request.GET.copy()
    context: dict[str, object] = {
        "nav_section": "catalogue",
        "form": form,
        "is_filtered": any(request.GET.get(name) for name in form.fields if name != "sort"),
        "curates": user.has_perm(CURATE),
        "warnings": entry_services.warnings_for(user),
        "views": services.views_of(user),
        "narrowed": normalised(query.urlencode()),
        "rows": [],
    }
    if context["curates"]:
        context["tabs"] = tabs_of(user, "list", normalised(query.urlencode()))
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
        # By words an entry is found in whatever state.
        found = services.search_entries(query, filters=filters)
        rows = services.rows_of(found.entries, filters)
        return {
            "rows": sorted(rows, key=lambda row: row.version.state == Version.State.DEPRECATED),
            "degraded": found.degraded,
            "query": query,
            "columns": _columns(None, sort),
            "chosen": chosen_chips(form, request.GET),
        }
    filters = filters if filters.state else replace(filters, state=IN_USE)
    facets = services.count_facets(filters)
    left_out = filters.state == IN_USE and facets.counts["state"][ALL] - facets.total
    return {
        **_page(request, filters, sort),
        "total": facets.total,
        "groups": facet_groups(form, request.GET, facets),
        "chosen": chosen_chips(form, request.GET),
        "columns": _columns(request.GET, sort),
        "left_out": left_out,
        "everything": address_with(request.GET, state=ALL),
        "fits": normalised(request.GET.urlencode()),
    }


def _page(request: HttpRequest, filters: Filters, sort: Sort) -> dict[str, object]:
    """The rows of the page, and its links: by key if the list is ordered by key, else by position."""
    entries = access_entries(request.user)
    if sort is Sort.NEWEST:
        page = page_of(services.list_entries(filters, among=entries), request, size=PAGE_SIZE)
        return {"page": page, "rows": services.rows_of(page.rows, filters), "by_time": True}
    start = _read_start(request)
    found = services.in_order(filters, sort, among=entries, start=start, size=PAGE_SIZE + 1)
    rows: Sequence[Listed] = services.rows_of(found[:PAGE_SIZE], filters)
    before = str(start - PAGE_SIZE) if start > PAGE_SIZE else ""
    page_links = Slice(
        newer=address_with(request.GET, start=before) if start else "",
        older=address_with(request.GET, start=str(start + PAGE_SIZE))
        if len(found) > PAGE_SIZE
        else "",
        summary=f"{start + 1}–{start + len(rows)}" if rows else "",
    )
    return {"page": page_links, "rows": rows, "by_time": False}


def _read_start(request: HttpRequest) -> int:
    value = request.GET.get("start", "") or "0"
    if not (value.isascii() and value.isdecimal()) or len(value) > LONGEST_START:
        raise BadInput(_("The page number in the address is not valid."))
    return int(value)


def _columns(query: QueryDict | None, sort: Sort) -> list[Column]:
    """The columns, with links that order by them; a second click on *Verified* reverses its order."""

    def link(to: Sort) -> str:
        return "" if query is None else address_with(query, sort=to)

    def standing(*, up: tuple[Sort, ...] = (), down: tuple[Sort, ...] = ()) -> str:
        return "ascending" if sort in up else "descending" if sort in down else ""

    verified = Sort.STALE if sort is Sort.VERIFIED else Sort.VERIFIED
    return [
        Column(_("What it does"), "col-title", link(Sort.NAME), standing(up=(Sort.NAME,))),
        Column(_("State"), "col-state"),
        Column(_("Risk"), "col-risk", link(Sort.RISK), standing(down=(Sort.RISK,))),
        Column(_("Side effect"), "col-effect"),
        Column(_("Used"), "col-used", link(Sort.USED), standing(down=(Sort.USED,))),
        Column(
            _("Verified"),
            "col-verified",
            link(verified),
            standing(up=(Sort.STALE,), down=(Sort.VERIFIED,)),
        ),
        Column(_("Owner"), "col-owner"),
    ]
