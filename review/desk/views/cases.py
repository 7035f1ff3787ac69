"""Views to remove, correct and add sandbox tests on the review page, and to explain differences from scores."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.services import case_text, first_case_text, new_case_text
from core.errors import BadInput, NotAllowedNow, Refused
from core.web.forms import retype
from core.web.requests import signed_in, wants_fragment
from review.access import access_item, access_item_to_review
from review.desk.case_forms import CaseForm
from review.desk.services import open_item
from review.desk.views.page_data import show_desk
from review.desk.views.responses import refuse, show_item
from review.evidence import services
from review.evidence.first_cases import begin_cases, may_begin
from review.models import Item


@require_safe
def execution(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the test panel for a page that polls for results. Return status 204 if the panel has not changed."""
    user = signed_in(request)
    item = access_item(user, pk)
    if not wants_fragment(request):
        return redirect("item-review", pk=pk)
    context = show_desk(open_item(item, user))
    evidence = context["evidence"]
    if evidence is None or getattr(evidence, "digest", "") == request.GET.get("seen"):
        return HttpResponse(status=204)
    return render(request, "review/desk/_execution.html", context)


@require_POST
def label(request: HttpRequest, pk: int) -> HttpResponse:
    """Save the reason why the reviewer's score and the test results differ, or remove it if it is already set."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        said = services.label(
            item,
            stage=request.POST.get("stage", ""),
            reason=request.POST.get("reason", ""),
            by=user,
        )
    except Refused as refused:
        return refuse(request, item, refused)
    reason = said.get_reason_display()
    return show_item(
        request, pk, said=_("Cause saved: %s.") % reason if reason else _("Cause removed.")
    )


@require_POST
def strike(request: HttpRequest, pk: int) -> HttpResponse:
    """Exclude a test or a check, with a reason."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        services.strike(
            item,
            sha256=request.POST.get("set", ""),
            what=request.POST.get("what", ""),
            reason=request.POST.get("strike_reason", ""),
            by=user,
        )
    except Refused as refused:
        return refuse(request, item, refused)
    return show_item(request, pk, said=_("Removed from the results. Past results are kept."))


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Correct or add a sandbox test as JSON. The test runs as soon as it is saved."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    name, number = request.GET.get("set", ""), _number(request)
    if request.method != "POST":
        return _begin(request, user, item, name, number)
    form, status = CaseForm(request.POST), 422
    if form.is_valid():
        try:
            said = {"text": form.cleaned_data["case"], "reason": form.cleaned_data["reason"]}
            if name:
                services.write_case(item, sha256=name, number=number, by=user, **said)
            else:
                begin_cases(item, by=user, **said)
        except BadInput as refusal:
            field = refusal.field if refusal.field in form.fields else "case"
            retype(form, case=form.cleaned_data["case"])
            for complaint in str(refusal).splitlines():
                form.add_error(field, complaint)
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            status = 409
        else:
            messages.success(request, _("Saved. The scripts are running in this test."))
            return redirect("item-review", pk=pk)
    return _show(request, item, form, number, status=status)


def _begin(
    request: HttpRequest, user: User, item: Item, name: str, number: int | None
) -> HttpResponse:
    desk = open_item(item, user)
    if not name and may_begin(desk):
        text = first_case_text(item.case.action.statement)
        return _show(request, item, CaseForm(initial={"case": text}), None)
    try:
        found = services.find_set(desk, name)
        assert found.case_set is not None
        text = case_text(found.case_set, number) if number else new_case_text(found.case_set)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("item-review", pk=item.pk)
    return _show(request, item, CaseForm(initial={"case": text}), number)


def _show(
    request: HttpRequest, item: Item, form: CaseForm, number: int | None, *, status: int = 200
) -> HttpResponse:
    context = {"item": item, "form": form, "number": number}
    return render(request, "review/desk/case.html", context, status=status)


def _number(request: HttpRequest) -> int | None:
    """Return the number of the test to correct, or None for a new test."""
    text = request.GET.get("case", "")
    return int(text) if text.isdecimal() and len(text) < 4 and int(text) else None
