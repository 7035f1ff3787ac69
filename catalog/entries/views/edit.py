"""Pages to create an entry, and to create its next version."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.forms import BaseFormSet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from catalog.access import CURATE, access_version, access_versions, require
from catalog.entries import services
from catalog.entries.forms import (
    EditForm,
    EntryForm,
    ParameterForm,
    ParameterFormSet,
    VersionForm,
    initial_of,
)
from catalog.entries.parameter_rows import suggest_rows
from catalog.models import Version
from catalog.retrieval.services import Alike, find_alike
from core.errors import BadInput, NotAllowedNow, Stale
from core.web.forms import add_refusal, split_lines

PREFIX = "parameters"


@require_http_methods(["GET", "HEAD", "POST"])
def entry_new(request: HttpRequest) -> HttpResponse:
    """Show the form for a new entry, or create the entry as a draft on POST."""
    user = request.user
    if not isinstance(user, User):
        raise PermissionDenied
    require(user, CURATE)
    if request.method != "POST":
        return _show_form(request, EntryForm(), _rows(None))
    form, rows = EntryForm(request.POST), _rows(request)
    if "suggest" in request.POST or "alike" in request.POST:
        return _show_suggested(request, form, rows)
    if form.is_valid() and rows.is_valid():
        try:
            version = services.create_entry(
                form.cleaned_data["title"],
                script=form.cleaned_data["script"],
                phrasings=split_lines(form.cleaned_data["phrasings"]),
                details=form.details(rows),
                by=user,
            )
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(request, _("Entry saved as a draft. Submit it when it is ready."))
            return _to_version(version)
    return _show_form(request, form, rows, status=422)


@require_POST
def entry_alike(request: HttpRequest) -> HttpResponse:
    """Show entries similar to the entry that the user is writing. Uses POST, because a script is too long for a URL."""
    user = request.user
    if not isinstance(user, User):
        raise PermissionDenied
    require(user, CURATE)
    alike = _alike(request.POST.get("title", ""), request.POST.get("script", ""))
    return render(request, "catalog/entries/_alike.html", {"alike": alike})


@require_http_methods(["GET", "HEAD", "POST"])
def version_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form for the next version, or create it on POST. The live version does not change."""
    version = access_version(request.user, pk, to_curate=True)
    assert isinstance(request.user, User)
    if request.method != "POST":
        details = services.details_of(version)
        form = EditForm(initial={**initial_of(details), "script": version.script})
        parameters = [ParameterForm.row_of(row) for row in version.parameters]
        return _show_form(request, form, _rows(None, initial=parameters), version=version)
    form, rows = EditForm(request.POST), _rows(request)
    if "suggest" in request.POST:
        return _show_suggested(request, form, rows, version=version)
    status = 422
    newer = None
    if form.is_valid() and rows.is_valid():
        try:
            made = services.edit_version(
                version,
                script=form.cleaned_data["script"],
                details=form.details(rows),
                by=request.user,
                note=form.cleaned_data["note"],
            )
        except BadInput as refusal:
            add_refusal(form, refusal)
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            status = 409
            if isinstance(refusal, Stale):
                newer = access_versions(request.user).get(
                    entry=version.entry_id, number=refusal.newest
                )
        else:
            messages.success(
                request,
                _("Version %(number)s saved as a draft. Submit it when it is ready.")
                % {"number": made.number},
            )
            return _to_version(made)
    return _show_form(request, form, rows, version=version, newer=newer, status=status)


def _rows(
    request: HttpRequest | None, initial: Sequence[dict[str, object]] = ()
) -> BaseFormSet[ParameterForm]:
    if request is None:
        return ParameterFormSet(initial=list(initial), prefix=PREFIX)
    return ParameterFormSet(request.POST, prefix=PREFIX)


def _show_suggested(
    request: HttpRequest,
    form: VersionForm,
    rows: BaseFormSet[ParameterForm],
    *,
    version: Version | None = None,
) -> HttpResponse:
    """Render the input with a row for each parameter of the script, without saving anything."""
    typed = [{name: row[name].data for name in row.fields} for row in rows.forms]
    try:
        found, remarks = suggest_rows(form["script"].data or "", typed)
    except BadInput as refusal:
        add_refusal(form, refusal)
        return _show_form(request, form, rows, version=version, status=422)
    # Leave the form unbound, so that incomplete input shows no errors.
    fresh = type(form)(initial={name: form[name].data for name in form.fields})
    return _show_form(request, fresh, _rows(None, initial=found), version=version, remarks=remarks)


def _show_form(
    request: HttpRequest,
    form: VersionForm,
    rows: BaseFormSet[ParameterForm],
    *,
    version: Version | None = None,
    newer: Version | None = None,
    remarks: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    """Render the form. `newer` is a version that another user created in the meantime."""
    typed = {name: form[name].value() or "" for name in ("title", "script") if name in form.fields}
    context = {
        "nav_section": "catalogue",
        "form": form,
        "alike": _alike(typed["title"], typed["script"]) if "title" in typed else (),
        "rows": rows,
        "version": version,
        "newer": newer,
        "remarks": remarks,
        "changed": services.compare_details(version, newer) if version and newer else (),
    }
    return render(request, "catalog/entries/edit.html", context, status=status)


def _alike(title: str, script: str) -> list[Alike]:
    return find_alike(title, script=script.replace("\r\n", "\n"))


def _to_version(version: Version) -> HttpResponse:
    response = redirect("entry-detail", slug=version.entry.slug)
    response["Location"] += f"?version={version.number}"
    return response
