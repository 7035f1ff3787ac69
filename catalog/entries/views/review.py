"""The page to verify a version, with its changes, findings and requirements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from catalog.access import access_version, access_versions
from catalog.entries import services
from catalog.entries.action_forms import ReasonForm, VerifyForm
from catalog.models import NearDuplicate, Version

State = Version.State


@dataclass(frozen=True)
class View:
    """A view of the script."""

    label: str
    url: str
    current: bool


@require_safe
def version_review(request: HttpRequest, pk: int) -> HttpResponse:
    """Show curators the version compared with the version that it replaces."""
    return show_review(request, access_version(request.user, pk, to_curate=True))


def show_review(
    request: HttpRequest,
    version: Version,
    *,
    bound: Mapping[str, forms.Form] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the review page. `bound` contains rejected forms by their names on the page."""
    user = request.user
    assert isinstance(user, User)
    versions = list(access_versions(user).filter(entry=version.entry_id))
    replaced = replaced_by(version, versions)
    views = _views(request, version, has_difference=replaced is not None)
    chosen = next(view.url.rpartition("=")[2] for view in views if view.current)
    may_move = version.state in (State.DRAFT, State.IN_REVIEW)
    phrasings = list(version.entry.phrasings.select_related("added_by").defer("document"))
    context = {
        "nav_section": "catalogue",
        "entry": version.entry,
        "version": version,
        "replaced": replaced,
        "answers": next((one for one in versions if one.state == State.VERIFIED), None),
        "track": services.track_record(replaced) if replaced else None,
        "views": views,
        "view": chosen,
        "is_side": chosen == "side",
        "findings": services.findings_since(replaced, version),
        "checklist": services.checklist(version, replaced),
        "changed": services.compare_details(replaced, version, without=services.CHECKED)
        if replaced
        else (),
        "waiting": [one for one in phrasings if one.waits],
        "alike": NearDuplicate.objects.to_look_at().about(version.entry)[:3],
        "note": version.events.exclude(note="").values_list("note", flat=True).last(),
        "is_open": may_move,
        "may_verify": may_move and services.may_verify(version, by=user),
        "may_send_back": version.state == State.IN_REVIEW,
        "forms": {
            "verify": VerifyForm(auto_id="verify_%s").about(version),
            "send_back": ReasonForm(auto_id="send_back_%s"),
            **(bound or {}),
        },
    }
    return render(request, "catalog/entries/review.html", context, status=status)


def replaced_by(version: Version, versions: list[Version]) -> Version | None:
    """Return the version to compare with: the live version, or else the latest earlier version that was verified."""
    others = [one for one in versions if one.pk != version.pk]
    verified = [one for one in others if one.state == State.VERIFIED]
    former = [one for one in others if one.verified_at and one.number < version.number]
    return next(iter(verified + sorted(former, key=lambda one: -one.number)), None)


def _views(request: HttpRequest, version: Version, *, has_difference: bool) -> list[View]:
    """Return the views of the script, with the default first."""
    names = [("inline", _("Changes")), ("side", _("Side by side"))] if has_difference else []
    names.append(("whole", _("Whole script")))
    known = dict(names)
    chosen = request.GET.get("view", "")
    chosen = chosen if chosen in known else names[0][0]
    here = reverse("version-review", args=[version.pk])
    return [View(label, f"{here}?view={name}", name == chosen) for name, label in names]
