"""Views for an entry's sandbox tests: show results, run the tests, and add, replace or remove test suites."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from catalog.access import CURATE, access_entry, access_version, access_versions, curator_of
from catalog.evidence import services
from catalog.evidence.forms import CasesForm
from catalog.evidence.services.outlines import outline_for, text_of
from catalog.models import CaseRun, Entry, EntryCases, Version
from core.errors import BadInput, NotAllowedNow
from core.web.forms import retype
from core.web.requests import wants_fragment


@require_safe
@vary_on_headers("HX-Request")
def entry_cases(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the tests of an entry and the results of one version. Return 204 if nothing has changed."""
    entry = access_entry(request.user, slug)
    version = _version_of(request, entry)
    if wants_fragment(request) and "seen" in request.GET:
        known = services.evidence_of(entry, version)
        if known.digest == request.GET["seen"]:
            return HttpResponse(status=204)
    evidence = services.evidence_of(entry, version, with_checks=True)
    context = {
        "nav_section": "catalogue",
        "entry": entry,
        "version": version,
        "evidence": evidence,
        "curates": request.user.has_perm(CURATE) and entry.merged_into_id is None,
        "address": f"{request.path}?version={version.number}&seen={evidence.digest}",
    }
    template = "catalog/evidence/_sets.html" if wants_fragment(request) else None
    return render(request, template or "catalog/evidence/cases.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def cases_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a test suite that a curator writes or uploads."""
    user = curator_of(request)
    entry = access_entry(user, slug, to_curate=True)
    version = _version_of(request, entry)
    initial = {"cases": outline_for(entry, version, by=user)}
    return _edit(request, user, entry, initial, None)


@require_http_methods(["GET", "HEAD", "POST"])
def cases_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Replace a test suite. The results of the old suite are kept."""
    user = curator_of(request)
    kept = _kept(pk)
    return _edit(request, user, kept.entry, {"cases": text_of(kept.case_set)}, kept)


@require_POST
def cases_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove the test suite from the entry."""
    user = curator_of(request)
    kept = _kept(pk)
    try:
        services.remove_cases(kept, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Tests removed. Their past results are kept."))
    return redirect("entry-cases", slug=kept.entry.slug)


@require_POST
def cases_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Request runs of a version with all test suites of its entry."""
    user = curator_of(request)
    version = access_version(user, pk, to_curate=True)
    runs = services.request_runs(version, purpose=CaseRun.Purpose.ASKED, by=user)
    if runs:
        messages.success(request, _("The tests are running."))
    else:
        messages.error(request, _("This entry has no sandbox tests yet."))
    response = redirect("entry-cases", slug=version.entry.slug)
    response["Location"] += f"?version={version.number}"
    return response


@require_safe
def cases_file(request: HttpRequest, pk: int) -> HttpResponse:
    """Return a test suite as a file for the `run_cases` command."""
    kept = _kept(pk)
    access_entry(request.user, kept.entry.slug)
    name = f"{kept.entry.slug}-cases.json"
    return HttpResponse(
        text_of(kept.case_set),
        content_type="application/json; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


@require_safe
def cases_folder(request: HttpRequest, pk: int) -> HttpResponse:
    """Return a test suite as a zipped folder with a program that runs the tests in continuous integration."""
    kept = _kept(pk)
    access_entry(request.user, kept.entry.slug)
    name = f"{kept.entry.slug}-cases"
    return HttpResponse(
        services.zip_cases(kept.case_set, folder=name),
        content_type="application/zip",
        headers={
            "Content-Disposition": f'attachment; filename="{name}.zip"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def _edit(
    request: HttpRequest,
    user: User,
    entry: Entry,
    initial: dict[str, str],
    kept: EntryCases | None,
) -> HttpResponse:
    if request.method != "POST":
        return _show_form(request, CasesForm(initial=initial), entry, kept)
    form = CasesForm(request.POST, request.FILES)
    status = 422
    if form.is_valid():
        text = form.cleaned_data["cases"]
        try:
            services.add_cases(entry, text, by=user, replaces=kept)
        except BadInput as refusal:
            # Show the text of the uploaded file in the field, where the mistakes are reported.
            retype(form, cases=text)
            for complaint in str(refusal).splitlines():
                form.add_error("cases", complaint)
        except NotAllowedNow as refusal:
            retype(form, cases=text)
            form.add_error(None, str(refusal))
            status = 409
        else:
            messages.success(request, _("Tests saved. They are running now."))
            return redirect("entry-cases", slug=entry.slug)
    return _show_form(request, form, entry, kept, status=status)


def _show_form(
    request: HttpRequest,
    form: CasesForm,
    entry: Entry,
    kept: EntryCases | None,
    *,
    status: int = 200,
) -> HttpResponse:
    context = {"nav_section": "catalogue", "entry": entry, "kept": kept, "form": form}
    return render(request, "catalog/evidence/edit.html", context, status=status)


def _kept(pk: int) -> EntryCases:
    rows = EntryCases.objects.select_related("entry", "case_set").defer("entry__document")
    return get_object_or_404(rows, pk=pk, removed_at=None)


def _version_of(request: HttpRequest, entry: Entry) -> Version:
    """Return the version in the URL. If the URL has none, return the live version or the newest version."""
    versions = list(access_versions(request.user).filter(entry=entry))
    named = request.GET.get("version", "")
    if named:
        found = [version for version in versions if str(version.number) == named]
        if not found:
            raise Http404
        return found[0]
    verified = [version for version in versions if version.state == Version.State.VERIFIED]
    return (verified or versions)[0]
