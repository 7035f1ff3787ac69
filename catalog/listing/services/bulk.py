"""Bulk actions. A preview shows the change of each entry, and the action applies only previewed changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.access import CURATE, require
from catalog.entries.services.lifecycle import (
    deprecate,
    may_verify,
    submit_for_review,
    verify_again,
)
from catalog.entries.services.versions import labels_seen, set_details
from catalog.models import Entry, Version
from catalog.version_details import VersionDetails
from core.errors import BadInput, Refused
from core.texts import LONGEST_REASON, clean_text

MOST_ENTRIES = 500
State = Version.State


class Deed(models.TextChoices):
    """The bulk actions."""

    ADD_TAGS = "add_tags", gettext_lazy("Add tags")
    REMOVE_TAGS = "remove_tags", gettext_lazy("Remove tags")
    SET_OWNER = "set_owner", gettext_lazy("Set owner")
    SUBMIT = "submit", gettext_lazy("Submit for review")
    VERIFY_AGAIN = "verify_again", gettext_lazy("Verify again")
    DEPRECATE = "deprecate", gettext_lazy("Deprecate")


@dataclass(frozen=True, kw_only=True)
class BulkOrder:
    """A bulk action with its arguments."""

    deed: Deed
    tags: tuple[str, ...] = ()
    owner: User | None = None
    note: str = ""  # the reason, if one is needed


@dataclass(frozen=True, kw_only=True)
class BulkStep:
    """A description of an entry's change, or an error. `seen` is a hash of the version's current state."""

    entry: Entry
    version: Version | None
    words: str = ""
    refusal: str = ""
    seen: str = ""


@dataclass(frozen=True, kw_only=True)
class BulkOutcome:
    """The result for each entry."""

    done: list[BulkStep] = field(default_factory=list)
    refused: list[BulkStep] = field(default_factory=list)


def plan_bulk(order: BulkOrder, entries: Sequence[Entry], *, by: User) -> list[BulkStep]:
    """Return the action's effect on each entry without applying it. Raises BadInput."""
    require(by, CURATE)
    _check(order, entries)
    versions = _versions_of(entries)
    return [_plan(order, entry, versions.get(entry.pk, []), by) for entry in entries]


def carry_out_bulk(
    order: BulkOrder, entries: Sequence[Entry], *, seen: Mapping[int, str], by: User
) -> BulkOutcome:
    """Run the action on each entry. `seen` maps each entry's key to the `seen` hash of its preview.

    Entries with errors, and entries that changed after the preview, are skipped and reported. Raises BadInput.
    """
    outcome = BulkOutcome()
    for step in plan_bulk(order, entries, by=by):
        if not step.refusal and seen.get(step.entry.pk) != step.seen:
            step = _refuse(
                step, _("Another user changed this entry after the preview. Check the entry again.")
            )
        if not step.refusal:
            step = _do(order, step, by)
        (outcome.refused if step.refusal else outcome.done).append(step)
    return outcome


def _check(order: BulkOrder, entries: Sequence[Entry]) -> None:
    if not entries:
        raise BadInput(_("Select at least one entry."), field="entries")
    if len(entries) > MOST_ENTRIES:
        raise BadInput(
            _("Select at most %(most)s entries.") % {"most": MOST_ENTRIES}, field="entries"
        )
    if order.deed in (Deed.ADD_TAGS, Deed.REMOVE_TAGS):
        if not order.tags:
            raise BadInput(_("Enter at least one tag."), field="tags")
        VersionDetails.read({"tags": order.tags})
    clean_text(
        order.note, field="note", longest=LONGEST_REASON, required=order.deed == Deed.DEPRECATE
    )


def _versions_of(entries: Iterable[Entry]) -> dict[int, list[Version]]:
    """Return the versions of each entry, newest first."""
    versions: dict[int, list[Version]] = {}
    rows = Version.objects.filter(entry__in=[entry.pk for entry in entries])
    for version in (
        rows.select_related("owner").prefetch_related("tags").order_by("entry", "-number")
    ):
        versions.setdefault(version.entry_id, []).append(version)
    return versions


def _plan(order: BulkOrder, entry: Entry, versions: Sequence[Version], by: User) -> BulkStep:
    if entry.merged_into_id is not None:
        return BulkStep(entry=entry, version=None, refusal=_("Merged into another entry."))
    newest = versions[0] if versions else None
    verified = next((version for version in versions if version.state == State.VERIFIED), None)
    chosen = {Deed.SUBMIT: newest, Deed.VERIFY_AGAIN: verified}
    version = chosen.get(order.deed, verified or newest)
    if version is None:
        return BulkStep(entry=entry, version=None, refusal=_("No verified version."))
    version.entry = entry
    words, refusal = _PLANS[order.deed](order, version, by)
    return BulkStep(entry=entry, version=version, words=words, refusal=refusal, seen=_seen(version))


def _plan_labels(order: BulkOrder, version: Version, by: User) -> tuple[str, str]:
    tags = {tag.name for tag in version.tags.all()}
    if order.deed == Deed.SET_OWNER:
        if version.owner_id == (order.owner.pk if order.owner else None):
            return "", _("Already has this owner.")
        names = [person.username if person else "–" for person in (version.owner, order.owner)]
        return _("owner changes from %(old)s to %(new)s") % {"old": names[0], "new": names[1]}, ""
    if order.deed == Deed.ADD_TAGS:
        if not (new := sorted(set(order.tags) - tags)):
            return "", _("Already has these tags.")
        return _("adds %(tags)s") % {"tags": ", ".join(new)}, ""
    if not (gone := sorted(set(order.tags) & tags)):
        return "", _("Has none of these tags.")
    return _("removes %(tags)s") % {"tags": ", ".join(gone)}, ""


def _plan_move(order: BulkOrder, version: Version, by: User) -> tuple[str, str]:
    to = {Deed.SUBMIT: State.IN_REVIEW, Deed.DEPRECATE: State.DEPRECATED}[order.deed]
    old = State(version.state)
    if to not in Version.MOVES[old]:
        return "", _("Version %(number)s is %(state)s.") % {
            "number": version.number,
            "state": old.label.lower(),
        }
    words = _("version %(number)s changes from %(old)s to %(new)s") % {
        "number": version.number,
        "old": old.label.lower(),
        "new": to.label.lower(),
    }
    if old == State.VERIFIED:
        words = _("%(words)s; the entry will no longer be offered") % {"words": words}
    return words, ""


def _plan_verify_again(order: BulkOrder, version: Version, by: User) -> tuple[str, str]:
    if not may_verify(version, by=by):
        return "", _("You wrote version %(number)s, so another curator has to verify it.") % {
            "number": version.number
        }
    if version.takes_reason and not order.note.strip():
        return "", _("Version %(number)s is high risk. Enter a reason.") % {
            "number": version.number
        }
    since = version.verified_at
    return _("you verify version %(number)s again (last verified %(when)s)") % {
        "number": version.number,
        "when": f"{since:%Y-%m-%d}" if since else "–",
    }, ""


_PLANS: Mapping[Deed, Callable[[BulkOrder, Version, User], tuple[str, str]]] = {
    Deed.ADD_TAGS: _plan_labels,
    Deed.REMOVE_TAGS: _plan_labels,
    Deed.SET_OWNER: _plan_labels,
    Deed.SUBMIT: _plan_move,
    Deed.DEPRECATE: _plan_move,
    Deed.VERIFY_AGAIN: _plan_verify_again,
}


def _do(order: BulkOrder, step: BulkStep, by: User) -> BulkStep:
    """Run the step and return it. If the service fails, return the step with the error."""
    version = step.version
    assert version is not None
    try:
        if order.deed == Deed.SUBMIT:
            submit_for_review(version, by=by, note=order.note)
        elif order.deed == Deed.DEPRECATE:
            deprecate(version, by=by, reason=order.note)
        elif order.deed == Deed.VERIFY_AGAIN:
            verify_again(version, by=by, note=order.note)
        else:
            _set_labels(order, version, by)
    except (Refused, PermissionDenied) as refusal:
        return _refuse(step, str(refusal))
    return step


def _set_labels(order: BulkOrder, version: Version, by: User) -> None:
    tags = {tag.name for tag in version.tags.all()}
    if order.deed == Deed.ADD_TAGS:
        tags |= set(order.tags)
    elif order.deed == Deed.REMOVE_TAGS:
        tags -= set(order.tags)
    owner = order.owner if order.deed == Deed.SET_OWNER else version.owner
    set_details(
        version,
        by=by,
        tags=sorted(tags),
        links=version.links,
        owner=owner,
        seen=labels_seen(version),
    )


def _refuse(step: BulkStep, why: str) -> BulkStep:
    return BulkStep(entry=step.entry, version=step.version, refusal=why, seen=step.seen)


def _seen(version: Version) -> str:
    parts = (version.pk, version.state, version.verified_at, labels_seen(version))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
