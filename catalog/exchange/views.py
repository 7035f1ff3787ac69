"""Views for imports and exports. An import is previewed first, and an export is streamed immediately."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from catalog.access import access_import, access_imports
from catalog.exchange import services
from catalog.exchange.formats import COLUMNS, CONTENT_TYPES, Format, file_parts
from catalog.exchange.forms import ExportForm, ImportForm
from catalog.exchange.services import import_jobs
from catalog.models import Version
from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.requests import csv_lines, signed_in, wants_fragment

_SHOWN_ROWS = 200
_SHOWN_EARLIER = 10


@require_http_methods(["GET", "HEAD", "POST"])
def catalog_import(request: HttpRequest) -> HttpResponse:
    """Show the upload form, or preview an uploaded file."""
    earlier = access_imports(request.user)
    user = signed_in(request)
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            job = import_jobs.preview_import(data["file"], by=user, state=data["state"])
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            return redirect("catalog-import-detail", pk=job.pk)
    context = {
        "nav_section": "catalogue",
        "form": form,
        "earlier": earlier[:_SHOWN_EARLIER],
        "columns": COLUMNS,
    }
    status = 422 if form.errors else 200
    return render(request, "catalog/exchange/import.html", context, status=status)


@require_safe
@vary_on_headers("HX-Request")
def import_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the progress of an import, and the planned or actual result of each row."""
    job = access_import(request.user, pk)
    rows = job.report.get("rows", [])
    context = {
        "nav_section": "catalogue",
        "job": job,
        "rows": rows[:_SHOWN_ROWS],
        "has_more": len(rows) > _SHOWN_ROWS,
        "counts": job.report.get("counts"),
        "is_dry": job.arguments["dry_run"],
        "is_active": job.state in ("waiting", "running"),
        "can_start": import_jobs.can_start(job),
        "progress": job.progress,
    }
    template = (
        "catalog/exchange/_import.html"
        if wants_fragment(request)
        else "catalog/exchange/import_detail.html"
    )
    return render(request, template, context)


@require_POST
def import_start(request: HttpRequest, pk: int) -> HttpResponse:
    """Import the previewed file."""
    preview = access_import(request.user, pk)
    job = import_jobs.start_import(preview, by=signed_in(request))
    return redirect("catalog-import-detail", pk=job.pk)


@require_POST
def import_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel the import, but keep the rows imported so far."""
    import_jobs.cancel_import(access_import(request.user, pk), by=signed_in(request))
    return redirect("catalog-import-detail", pk=pk)


@require_safe
def import_report(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Return the report as a CSV file with one line per row."""
    rows = access_import(request.user, pk).report.get("rows", [])
    names = ("place", "outcome", "slug", "title", "why", "warning")
    lines = csv_lines([names, *([row.get(name, "") for name in names] for row in rows)])
    return _download(lines, filename=f"import-{pk}.csv", content_type=CONTENT_TYPES[Format.CSV])


@require_safe
def catalog_export(request: HttpRequest) -> HttpResponse:
    """Show the form to choose an export format."""
    signed_in(request)
    context = {"nav_section": "catalogue", "form": ExportForm()}
    return render(request, "catalog/exchange/export.html", context)


@require_safe
def export_file(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Stream the chosen entries as a file."""
    signed_in(request)
    form = ExportForm(request.GET)
    if not form.is_valid():
        context = {"nav_section": "catalogue", "form": form}
        return render(request, "catalog/exchange/export.html", context, status=422)
    return export_response(form.cleaned_data["layout"], form.cleaned_data["state"])


def export_response(layout: str, state: str) -> StreamingHttpResponse:
    """Return a streaming response with the entries in this format, for the page and the API."""
    format = Format(layout)
    records = services.export_entries(state=Version.State(state) if state else None)
    return _download(
        file_parts(records, format),
        filename=f"catalogue-{timezone.localdate():%Y-%m-%d}.{format}",
        content_type=CONTENT_TYPES[format],
    )


def _download(
    parts: Iterable[str | bytes], *, filename: str, content_type: str
) -> StreamingHttpResponse:
    response = StreamingHttpResponse(parts, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
