"""Curator actions on an entry's page. Each action has one URL, one form and one service."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from catalog.access import access_entry, access_phrasing, access_version
from catalog.entries import services
from catalog.entries.action_forms import (
    LabelsForm,
    LiftForm,
    NoteForm,
    PhrasingForm,
    ReasonForm,
    TitleForm,
    VerifyForm,
)
from catalog.entries.forms import read_links
from catalog.entries.views.page import fresh_forms, show_entry
from catalog.entries.views.review import show_review
from catalog.models import Entry, Version
from core.errors import BadInput, NotAllowedNow, Stale
from core.web.forms import add_refusal, retype, split_words


class Move(NamedTuple):
    """A form whose fields are the service's arguments, and the success message."""

    form: type[forms.Form]
    service: Callable[..., object]
    done: Promise


VERSION_MOVES = {
    "submit": Move(NoteForm, services.submit_for_review, _("Submitted for review.")),
    "verify": Move(VerifyForm, services.verify, _("Verified. This version is live.")),
    "send_back": Move(
        ReasonForm, services.send_back, _("Sent back. The version is a draft again.")
    ),
    "verify_again": Move(VerifyForm, services.verify_again, _("Version verified again.")),
    "deprecate": Move(ReasonForm, services.deprecate, _("Version deprecated.")),
}
# The forms of these actions are on the review page. After an error, that page is rendered again.
DECISIONS = ("verify", "send_back")
ENTRY_MOVES = {
    "suspend": Move(ReasonForm, services.suspend, _("Entry suspended. It is no longer offered.")),
    "lift": Move(
        LiftForm, services.lift_suspension, _("Suspension lifted. The entry is available again.")
    ),
    "rename": Move(TitleForm, services.rename, _("Entry renamed.")),
    "phrasing": Move(PhrasingForm, services.add_phrasing, _("Phrasing added.")),
}


@require_POST
def move_version(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Run one of VERSION_MOVES."""
    version = access_version(request.user, pk, to_curate=True)
    move = VERSION_MOVES[name]
    form = move.form(request.POST, auto_id=f"{name}_%s")
    if isinstance(form, VerifyForm):
        form.about(version)

    def act(by: User) -> Version:
        move.service(version, by=by, **form.cleaned_data)
        return version

    return _carry_out(request, version, name=name, form=form, act=act, done=move.done)


@require_POST
def revert_version(request: HttpRequest, pk: int) -> HttpResponse:
    """Create the next version from an older version, and redirect to it."""
    version = access_version(request.user, pk, to_curate=True)
    form = NoteForm(request.POST, auto_id="revert_%s")
    done = _("The old script was copied to a new version. Submit it for review when it is ready.")

    def act(by: User) -> Version:
        return services.revert_to(version, by=by, note=form.cleaned_data["note"])

    return _carry_out(request, version, name="revert", form=form, act=act, done=done)


@require_POST
def label_version(request: HttpRequest, pk: int) -> HttpResponse:
    """Change tags, links and owner."""
    version = access_version(request.user, pk, to_curate=True)
    form = LabelsForm(request.POST, auto_id="labels_%s")

    def act(by: User) -> Version:
        services.set_details(
            version,
            by=by,
            tags=split_words(form.cleaned_data["tags"]),
            links=read_links(form.cleaned_data["links"]),
            owner=form.cleaned_data["owner"],
            seen=form.cleaned_data["seen"],
        )
        return version

    return _carry_out(request, version, name="labels", form=form, act=act, done=_("Saved."))


@require_POST
def move_entry(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Run one of ENTRY_MOVES."""
    entry = access_entry(request.user, slug, to_curate=True)
    move = ENTRY_MOVES[name]
    form = move.form(request.POST, auto_id=f"{name}_%s")

    def act(by: User) -> None:
        move.service(entry, by=by, **form.cleaned_data)

    return _carry_out(request, entry, name=name, form=form, act=act, done=move.done)


@require_POST
def confirm_phrasing(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm a phrasing that another user added."""
    phrasing = access_phrasing(request.user, pk)
    assert isinstance(request.user, User)
    try:
        services.confirm_phrasing(phrasing, by=request.user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Phrasing confirmed. Requests can match it now."))
    return redirect("entry-detail", slug=phrasing.entry.slug)


@require_POST
def remove_phrasing(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a phrasing."""
    phrasing = access_phrasing(request.user, pk)
    assert isinstance(request.user, User)
    services.remove_phrasing(phrasing, by=request.user)
    messages.success(request, _("Phrasing removed."))
    return redirect("entry-detail", slug=phrasing.entry.slug)


def _carry_out(
    request: HttpRequest,
    target: Entry | Version,
    *,
    name: str,
    form: forms.Form,
    act: Callable[[User], Version | None],
    done: Promise,
) -> HttpResponse:
    """Run the action and redirect. After an error, render the page again with the error and the input."""
    assert isinstance(request.user, User)
    entry, version = (target.entry, target) if isinstance(target, Version) else (target, None)
    status = 422
    if form.is_valid():
        try:
            result = act(request.user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        except NotAllowedNow as refusal:
            messages.error(request, str(refusal))
            status = 409
            version = version and access_version(request.user, version.pk)
            entry = access_entry(request.user, entry.slug)
            if isinstance(refusal, Stale):
                _let_go_on(form, name, entry, version)
        else:
            messages.success(request, str(done))
            shown = f"?version={result.number}" if result else ""
            response = redirect("entry-detail", slug=entry.slug)
            response["Location"] += shown
            return response
    if version is not None and name in DECISIONS:
        return show_review(request, version, bound={name: form}, status=status)
    return show_entry(request, entry, version=version, bound={name: form}, status=status)


def _let_go_on(form: forms.Form, name: str, entry: Entry, version: Version | None) -> None:
    """Update the form's `seen` value and keep the other input, because the error already shows the current state."""
    shown = version or entry.versions.latest("number")
    seen = fresh_forms(entry, shown, {})[name].initial.get("seen", "")
    retype(form, seen=seen)
