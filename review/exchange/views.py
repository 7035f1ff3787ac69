"""Views to start an import or export, and to show its progress and its rejected lines."""

from __future__ import annotations

from django import forms
from django.http import (
    FileResponse,
    HttpRequest,
    HttpResponse,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from core.errors import BadInput
from core.web.requests import csv_lines, signed_in, wants_fragment
from review.access import access_campaign, access_transfer
from review.exchange import services
from review.exchange.forms import ExportForm, ImportForm
from review.exchange.source import unit_of
from review.models import Campaign, Transfer

_SHOWN_LINES = 100
_SHOWN_EARLIER = 10


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Upload a file, then import it or show a preview first."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            if "look" in request.POST or not data["kind"]:
                word = services.keep_to_look(campaign, by=user, **data)
                return redirect("campaign-import-look", pk=pk, word=word)
            transfer = services.begin_import(
                campaign,
                data["kind"],
                data["file"],
                mapping=data["mapping"],
                format=data["format"],
                by=user,
            )
        except BadInput as refused:
            form.add_error(refused.field if refused.field in form.fields else None, str(refused))
        else:
            return redirect("transfer-detail", pk=transfer.pk)
    imports = [Transfer.Kind.ITEMS, Transfer.Kind.SCORES]
    return _show_form(request, campaign, form, "review/exchange/import.html", kinds=imports)


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_export(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the export form, and start an export of the campaign."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    form = ExportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        transfer = services.begin_export(campaign, layout=form.cleaned_data["layout"], by=user)
        return redirect("transfer-detail", pk=transfer.pk)
    exports = [Transfer.Kind.EXPORT]
    return _show_form(request, campaign, form, "review/exchange/export.html", kinds=exports)


@require_safe
@vary_on_headers("HX-Request")
def transfer_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a transfer's progress, result and rejected lines."""
    transfer = access_transfer(signed_in(request), pk)
    lines = list(transfer.lines.all()[: _SHOWN_LINES + 1])
    template = (
        "review/exchange/_transfer.html"
        if wants_fragment(request)
        else "review/exchange/detail.html"
    )
    context = {
        "nav_section": "campaigns",
        "transfer": transfer,
        "campaign": transfer.campaign,
        "lines": lines[:_SHOWN_LINES],
        "has_more": len(lines) > _SHOWN_LINES,
        "unit": _(unit_of(transfer.format)),
        "is_export": transfer.kind == Transfer.Kind.EXPORT,
        "can_download": services.can_be_downloaded(transfer),
        "follow_up": services.scores_after(transfer),
        "goes_on": transfer.kind != Transfer.Kind.EXPORT
        and transfer.campaign.state == Campaign.State.SETUP,
    }
    return render(request, template, context)


@require_POST
def transfer_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel the transfer. Imported rows are kept."""
    user = signed_in(request)
    transfer = access_transfer(user, pk)
    services.cancel_transfer(transfer, by=user)
    return redirect("transfer-detail", pk=pk)


@require_safe
def transfer_lines(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Return the report of rejected lines as a CSV file."""
    transfer = access_transfer(signed_in(request), pk)
    rows = transfer.lines.values_list("line", "external_id", "column", "reason")
    table = csv_lines([("line", "id", "column", "reason"), *rows.iterator(chunk_size=2_000)])
    return StreamingHttpResponse(
        table,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="report-{pk}.csv"'},
    )


@require_safe
def transfer_file(request: HttpRequest, pk: int) -> FileResponse:
    """Return the exported file. Raises Http404 if the export has expired."""
    user = signed_in(request)
    transfer = access_transfer(user, pk)
    file = services.open_export(transfer, by=user)
    return FileResponse(file, as_attachment=True, filename=transfer.filename)


def _show_form(
    request: HttpRequest,
    campaign: Campaign,
    form: forms.Form,
    template: str,
    *,
    kinds: list[Transfer.Kind],
) -> HttpResponse:
    earlier = campaign.transfers.filter(kind__in=kinds).select_related("by")
    context = {
        "nav_section": "campaigns",
        "campaign": campaign,
        "form": form,
        "earlier": earlier[:_SHOWN_EARLIER],
    }
    return render(request, template, context, status=422 if form.errors else 200)
