"""The list, the history and the page of an entry."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from catalog import services
from catalog.access import access_entries, access_entry, access_versions
from catalog.curation.views.duplicates import tabs_of
from catalog.entries.forms import FilterForm, add_refusal
from catalog.entries.services.locks import CURATE
from catalog.entries.views.page import show_entry
from catalog.models import Version, VersionEvent
from core.errors import BadInput
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
        "warnings": services.warnings_for(user),
        "rows": [],
    }
    if context["curates"]:
        context["tabs"] = tabs_of(user, "list", _narrowed(request))
        context["deeds"] = services.Deed.choices
    if context["curates"] and not context["is_filtered"]:
        context["used_unreviewed"] = services.used_unreviewed()
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


@require_safe
def entry_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One entry by one of its versions, the verified one unless the address names another.

    One that was merged leads to the entry that it was merged into, unless the address names a version.
    """
    entry = access_entry(request.user, slug)
    if entry.merged_into_id is not None and "version" not in request.GET:
        return redirect("entry-detail", slug=services.merged_into(entry).slug)
    return show_entry(request, entry)


@require_safe
def version_history(request: HttpRequest, slug: str) -> HttpResponse:
    """Every version, what happened to each, and the difference between two."""
    entry = access_entry(request.user, slug)
    versions = list(access_versions(request.user).filter(entry=entry))
    by_number = {version.number: version for version in versions}
    new = _numbered(request, "to", by_number) or versions[0]
    old = _numbered(request, "from", by_number) or by_number.get(new.number - 1)
    events = VersionEvent.objects.filter(version__entry=entry).select_related("version", "by")
    context = {
        "nav_section": "catalogue",
        "entry": entry,
        "versions": versions,
        "events": events.order_by("-pk"),
        "old": old,
        "new": new,
        "side": request.GET.get("view") == "side",
        "changed": services.compare_details(old, new) if old else (),
    }
    return render(request, "catalog/entries/history.html", context)


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


def _numbered(request: HttpRequest, name: str, versions: dict[int, Version]) -> Version | None:
    """The version that a parameter of the address names; 404 where there is none."""
    value = request.GET.get(name, "")
    if not value:
        return None
    version = versions.get(int(value)) if value.isdecimal() and len(value) < 10 else None
    if version is None:
        raise Http404
    return version
