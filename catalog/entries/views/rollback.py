"""The page to roll back an entry to a former version."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from catalog.access import access_version
from catalog.entries import services
from catalog.entries.action_forms import RollbackForm
from catalog.models import Version
from core.errors import BadInput, NotAllowedNow, Stale
from core.web.forms import add_refusal, retype


@require_http_methods(["GET", "HEAD", "POST"])
def version_roll_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the effect of a rollback. On POST, roll back, roll back in an emergency, or request a rollback."""
    version = access_version(request.user, pk, to_curate=True)
    user = request.user
    assert isinstance(user, User)
    plan = services.plan_rollback(version, by=user)
    if request.method != "POST":
        return _show(request, plan, RollbackForm(initial={"seen": plan.seen}))
    form = RollbackForm(request.POST)
    status = 422
    if form.is_valid():
        try:
            words = _carry_out(version, form, by=user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            status = 409
            plan = services.plan_rollback(access_version(user, pk), by=user)
            if isinstance(refusal, Stale):
                retype(form, seen=plan.seen)
        else:
            messages.success(request, words)
            response = redirect("entry-detail", slug=version.entry.slug)
            response["Location"] += f"?version={version.number}"
            return response
    return _show(request, plan, form, status=status)


def _carry_out(version: Version, form: RollbackForm, *, by: User) -> str:
    """Run the chosen action and return the success message."""
    typed = form.cleaned_data
    if typed["way"] == RollbackForm.ASK:
        services.submit_for_review(version, by=by, note=typed["reason"])
        return _("Rollback requested. Another curator has to verify version %(number)s.") % {
            "number": version.number
        }
    emergency = typed["way"] == RollbackForm.EMERGENCY
    services.roll_back(
        version,
        by=by,
        reason=typed["reason"],
        emergency=emergency,
        lift=typed["lift"],
        seen=typed["seen"],
    )
    if emergency:
        return _(
            "Version %(number)s is live again. It stays marked as an emergency until another curator verifies it."
        ) % {"number": version.number}
    return _("Version %(number)s is live again, verified by you.") % {"number": version.number}


def _show(
    request: HttpRequest, plan: services.RollbackPlan, form: RollbackForm, *, status: int = 200
) -> HttpResponse:
    version, replaced = plan.version, plan.replaced
    context = {
        "nav_section": "catalogue",
        "entry": version.entry,
        "version": version,
        "plan": plan,
        "replaced": replaced,
        "findings": services.findings_since(replaced, version),
        "checklist": services.checklist(version, replaced),
        "track": services.track_record(version),
        "replaced_track": services.track_record(replaced) if replaced else None,
        "form": form,
    }
    return render(request, "catalog/entries/roll_back.html", context, status=status)
