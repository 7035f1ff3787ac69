"""Saving the current list under a name, and deleting that."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from catalog.access import access_saved_view
from catalog.listing import services
from catalog.listing.forms import FilterForm, SaveViewForm
from catalog.listing.views.facet_links import PLACE
from core.errors import BadInput
from core.web.requests import signed_in

# What servers in front commonly take in one line.
LONGEST_ADDRESS = 7000


@require_POST
def view_save(request: HttpRequest) -> HttpResponse:
    """Save the filters and the order of the list; leads back to the same list."""
    user = signed_in(request)
    form = SaveViewForm(request.POST)
    query = normalised(request.POST.get("query", ""))
    response = redirect("catalog-list")
    response["Location"] += f"?{query}" if query and len(query) <= LONGEST_ADDRESS else ""
    if not form.is_valid():
        messages.error(request, " ".join(map(str, form.errors.get("name", ()))))
        return response
    try:
        view = services.save_view(form.cleaned_data["name"], query=query, by=user)
    except BadInput as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("“%(name)s” is among your views.") % {"name": view.name})
    return response


@require_POST
def view_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete one of one's own views."""
    view = access_saved_view(request.user, pk)
    services.remove_view(view)
    messages.success(request, _("“%(name)s” was removed from your views.") % {"name": view.name})
    return redirect("catalog-list")


def normalised(query: str) -> str:
    """The parameters of a URL that filter or order the list, in one order and without all others."""
    sent = QueryDict(query)
    kept = QueryDict(mutable=True)
    for name in FilterForm.base_fields:
        if name not in PLACE and sent.get(name):
            kept[name] = sent[name]
    return kept.urlencode()
