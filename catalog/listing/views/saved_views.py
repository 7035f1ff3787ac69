"""Save and delete users' named views of lists, for the lists of all apps."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from catalog.access import access_saved_view
from catalog.listing import services
from catalog.listing.forms import SaveViewForm
from catalog.models import SavedView
from core.errors import BadInput
from core.web.lists import narrowed
from core.web.requests import signed_in

# Proxies commonly accept URLs of this length.
LONGEST_ADDRESS = 7000


@require_POST
def view_save(request: HttpRequest) -> HttpResponse:
    """Save the filters and the order of a list, and return to the list."""
    user = signed_in(request)
    form = SaveViewForm(request.POST)
    form.full_clean()
    # If the list is unknown, redirect to the catalogue, which shows the error.
    listing = SavedView.Listing(form.cleaned_data.get("listing") or SavedView.Listing.CATALOGUE)
    query = narrowed(QueryDict(request.POST.get("query", "")))
    response = redirect(listing.value)
    response["Location"] += f"?{query}" if query and len(query) <= LONGEST_ADDRESS else ""
    if not form.is_valid():
        messages.error(request, " ".join(str(one) for few in form.errors.values() for one in few))
        return response
    try:
        view = services.save_view(form.cleaned_data["name"], listing=listing, query=query, by=user)
    except BadInput as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("View “%(name)s” saved.") % {"name": view.name})
    return response


@require_POST
def view_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete one of the user's views and return to its list."""
    view = access_saved_view(request.user, pk)
    services.remove_view(view)
    messages.success(request, _("View “%(name)s” removed.") % {"name": view.name})
    return redirect(view.listing)
