"""The history of an entry: its versions, their state changes, and the difference between two versions."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.access import access_entry, access_versions
from catalog.entries import services
from catalog.models import Version, VersionEvent


@require_safe
def version_history(request: HttpRequest, slug: str) -> HttpResponse:
    """Show all versions, their state changes, and the difference between two versions."""
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


def _numbered(request: HttpRequest, name: str, versions: dict[int, Version]) -> Version | None:
    """Return the version named by a URL parameter. Raises Http404 if it does not exist."""
    value = request.GET.get(name, "")
    if not value:
        return None
    version = versions.get(int(value)) if value.isdecimal() and len(value) < 10 else None
    if version is None:
        raise Http404
    return version
