"""The page between a file's upload and its import, with the columns' roles and the first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from core.errors import BadInput, NotAllowedNow
from core.web.requests import signed_in
from review.access import access_campaign
from review.exchange.column_choice import is_of_person
from review.exchange.services import (
    FileColumn,
    Upload,
    find_upload,
    guess_columns,
    import_looked_at,
    look_at,
    pairs_of,
    roles_of,
)
from review.models import Campaign

_MOST_NAME = 150


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_import_look(request: HttpRequest, pk: int, word: str) -> HttpResponse:
    """Show the preview, update it with the chosen roles of the columns, or start the import."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    try:
        upload = find_upload(campaign, word, by=user)
    except NotAllowedNow as refusal:
        context = {"campaign": campaign, "gone": str(refusal), "nav_section": "campaigns"}
        return render(request, "review/exchange/import_preview.html", context, status=409)
    if request.method != "POST":
        return _show_guess(request, campaign, upload)
    chosen = _chosen(request, guess_columns(upload), upload)
    try:
        pairs = pairs_of(upload.kind, chosen) if chosen else dict(upload.pairs)
        found = replace(upload, pairs=pairs)
        if "import" in request.POST:
            transfer = import_looked_at(campaign, found, by=user)
            return redirect("transfer-detail", pk=transfer.pk)
        return _show(request, campaign, found, chosen=chosen)
    except BadInput as refusal:
        return _show(request, campaign, upload, chosen=chosen, refusal=str(refusal), status=422)


def _chosen(
    request: HttpRequest, columns: Sequence[FileColumn], upload: Upload
) -> list[FileColumn]:
    """Return the columns with the chosen roles. Unknown roles are ignored."""
    known = {"", *(role for _title, roles in roles_of(upload.kind) for role, _label in roles)}
    chosen = []
    for place, column in enumerate(columns):
        role = request.POST.get(f"role-{place}", column.role)
        person = request.POST.get(f"person-{place}", "").strip()[:_MOST_NAME]
        told_by = column.told_by if role == column.role else ""
        role = role if role in known else ""
        chosen.append(replace(column, role=role, person=person, told_by=told_by))
    return chosen


def _show_guess(request: HttpRequest, campaign: Campaign, upload: Upload) -> HttpResponse:
    """Show the first preview, with guessed roles that the user can correct."""
    guessed = guess_columns(upload)
    try:
        pairs = pairs_of(upload.kind, guessed)
    except BadInput as refusal:
        return _show(request, campaign, upload, chosen=guessed, refusal=str(refusal))
    return _show(request, campaign, replace(upload, pairs=pairs or upload.pairs), chosen=guessed)


def _show(
    request: HttpRequest,
    campaign: Campaign,
    upload: Upload,
    *,
    chosen: Sequence[FileColumn] = (),
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    look = look_at(upload, upload.pairs)
    context = {
        "nav_section": "campaigns",
        "campaign": campaign,
        "upload": upload,
        "look": look,
        "columns": chosen or look.columns,
        "roles": roles_of(upload.kind),
        "of_scores": upload.kind == "scores",
        "people": sum(is_of_person(one.role) for one in chosen or look.columns),
        "refusal": refusal,
    }
    return render(request, "review/exchange/import_preview.html", context, status=status)
