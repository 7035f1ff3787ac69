"""Views to add and remove comments on lines of a script on the review page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from core.errors import Refused
from core.web.requests import signed_in
from review.access import access_item_to_review
from review.desk import services
from review.desk.shown_keys import find_draft
from review.desk.views.responses import read_whole, refuse, show_item


@require_POST
def remark(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a comment on one line, and show the item again."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    line = read_whole(request, "line", missing=0)
    try:
        services.add_remark(
            item,
            draft=find_draft(pk, read_whole(request, "on", missing=-1)),
            line=line,
            text=request.POST.get("remark", ""),
            by=user,
        )
    except Refused as refused:
        return refuse(request, item, refused)
    return show_item(request, pk, said=_("Comment added to line %s.") % line)


@require_POST
def remove_remark(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark the reviewer's comment on a line as removed. The record is not deleted."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        services.remove_remark(item, read_whole(request, "remark", missing=0), by=user)
    except Refused as refused:
        return refuse(request, item, refused)
    return show_item(request, pk, said=_("Comment removed. It stays in the records."))
