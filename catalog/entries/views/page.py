"""An entry's page, which failed actions on the entry also render."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django import forms
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from catalog.access import CURATE, access_entries, access_entry, access_versions
from catalog.entries.action_forms import (
    LabelsForm,
    LiftForm,
    NoteForm,
    PhrasingForm,
    ReasonForm,
    TitleForm,
    VerifyForm,
)
from catalog.entries.forms import write_links
from catalog.entries.services.entries import merged_into
from catalog.entries.services.findings import newer_findings
from catalog.entries.services.lifecycle import may_verify
from catalog.entries.services.parameter_values import fill_in
from catalog.entries.services.rollback import emergency_of, rollback_targets
from catalog.entries.services.uses import (
    USE_UNREVIEWED,
    is_trusted,
    say_untrusted,
    track_record,
    warnings_for,
)
from catalog.entries.services.version_counts import counts_by_version
from catalog.entries.services.versions import labels_seen
from catalog.entries.services.wording_confirmation import may_confirm
from catalog.entries.use_forms import UseForm
from catalog.evidence.services import evidence_of
from catalog.models import Entry, Use, Version

ASKED_FOR = timedelta(days=30)  # how long the page asks for a use's outcome
State = Version.State


@dataclass(frozen=True)
class Actions:
    """The actions that the page offers to a curator. The services check permissions and states again."""

    edit: bool
    submit: bool
    review: bool
    verify_again: bool
    deprecate: bool
    revert: bool
    roll_back: bool
    own: bool  # True if the user wrote the version and therefore may not verify it


@require_safe
def entry_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an entry with its verified version, or with the version given in the URL.

    A merged entry redirects to the entry into which it was merged, unless the URL names a version.
    """
    entry = access_entry(request.user, slug)
    if entry.merged_into_id is not None and "version" not in request.GET:
        return redirect("entry-detail", slug=merged_into(entry).slug)
    return show_entry(request, entry)


@require_safe
def entry_by_number(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to the entry. This URL does not reveal the entry's title, for example in outgoing events."""
    entry = get_object_or_404(access_entries(request.user), pk=pk)
    return redirect("entry-detail", slug=entry.slug)


def show_entry(
    request: HttpRequest,
    entry: Entry,
    *,
    version: Version | None = None,
    bound: Mapping[str, forms.Form] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the entry's page. `bound` contains rejected forms by their names on the page."""
    user = request.user
    assert isinstance(user, User)
    versions = list(access_versions(user).filter(entry=entry))
    version = version or _chosen(request, versions)
    version.entry = entry
    shown = {**fresh_forms(entry, version, request.GET), **(bound or {})}
    use_form = shown["use"]
    assert isinstance(use_form, UseForm)
    trusted = is_trusted(version)
    phrasings = list(entry.phrasings.select_related("added_by", "confirmed_by").defer("document"))
    curates = user.has_perm(CURATE) and entry.merged_into_id is None
    context = {
        "nav_section": "catalogue",
        "entry": entry,
        "version": version,
        "versions": versions,
        "newest": versions[0],
        "phrasings": phrasings,
        "may_confirm": {
            one.pk for one in phrasings if one.waits and curates and may_confirm(one, by=user)
        },
        "origin": describe_origin(version.provenance),
        "track": track_record(version),
        "trusted": trusted,
        "untrusted": say_untrusted(version),
        "may_use": trusted or user.has_perm(USE_UNREVIEWED),
        "filled": fill_in(version, use_form.values()),
        "is_begun": use_form.is_bound or bool(use_form.initial),
        "actions": _actions(user, version, versions[0]) if curates else None,
        "unrated": _unrated(user, entry),
        "warnings": warnings_for(user),
        "forms": shown,
        "counts": counts_by_version(versions),
        "newer": newer_findings(version),
        "evidence": evidence_of(entry, version),
        "merged_in": list(
            entry.merges_in.filter(undone_at=None).select_related("source", "by").order_by("-pk")
        ),
        "targets": rollback_targets(versions),
        "answers": any(one.state == State.VERIFIED for one in versions),
        "emergency": emergency_of(versions),
        "merged_into": merged_into(entry) if entry.merged_into_id is not None else None,
    }
    return render(request, "catalog/entries/entry.html", context, status=status)


def describe_origin(provenance: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the nonempty provenance values of a version, with readable names."""
    return [
        (capfirst(name.replace("_", " ")), words)
        for name, value in provenance.items()
        if (words := _words(value))
    ]


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_words(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(_words(inner) for inner in value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return "" if value is None else str(value)


def _chosen(request: HttpRequest, versions: Sequence[Version]) -> Version:
    """Return the version named in the URL, or else the verified version, or else the newest version."""
    named = request.GET.get("version", "")
    if named:
        for version in versions:
            if str(version.number) == named:
                return version
        raise Http404
    verified = [version for version in versions if version.state == State.VERIFIED]
    return (verified or list(versions))[0]


def _actions(user: User, version: Version, newest: Version) -> Actions:
    def can_become(state: State) -> bool:
        return state in Version.MOVES[State(version.state)]

    return Actions(
        edit=version.pk == newest.pk,
        submit=can_become(State.IN_REVIEW),
        review=can_become(State.VERIFIED),
        verify_again=version.state == State.VERIFIED and may_verify(version, by=user),
        deprecate=can_become(State.DEPRECATED),
        revert=version.pk != newest.pk,
        roll_back=bool(rollback_targets([version])),
        own=can_become(State.VERIFIED) and not may_verify(version, by=user),
    )


def _unrated(user: User, entry: Entry) -> Use | None:
    """Return the user's last use of the entry if it is recent and has no outcome, or else None."""
    last = (
        Use.objects.select_related("version")
        .filter(by=user, version__entry=entry, at__gte=timezone.now() - ASKED_FOR)
        .first()
    )
    return last if last is not None and not last.outcome else None


def fresh_forms(
    entry: Entry, version: Version, prefill: Mapping[str, str]
) -> dict[str, forms.Form]:
    """Return all forms of the page, unbound."""
    labels = {
        "tags": ", ".join(tag.name for tag in version.tags.all()),
        "owner": version.owner.username if version.owner else "",
        "links": write_links(version.links),
        "seen": labels_seen(version),
    }
    return {
        "use": UseForm(version, prefill=prefill),
        "submit": NoteForm(auto_id="submit_%s"),
        "verify_again": VerifyForm(auto_id="verify_again_%s").about(version),
        "deprecate": ReasonForm(auto_id="deprecate_%s"),
        "revert": NoteForm(auto_id="revert_%s"),
        "suspend": ReasonForm(auto_id="suspend_%s"),
        "lift": LiftForm(auto_id="lift_%s"),
        "phrasing": PhrasingForm(auto_id="phrasing_%s"),
        "rename": TitleForm(
            auto_id="rename_%s", initial={"title": entry.title, "seen": entry.title}
        ),
        "labels": LabelsForm(auto_id="labels_%s", initial=labels),
    }
