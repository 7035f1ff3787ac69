"""Merge an entry into another entry that does the same thing, and undo merges."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.locks import lock_entry
from catalog.entries.services.wording_confirmation import Confirmation
from catalog.evidence.services import share_cases, unshare_cases
from catalog.models import Entry, MatchLabel, Merge, NearDuplicate, Phrasing, Use, Version
from core.audit import record
from core.errors import NotAllowedNow, Stale
from core.texts import LONGEST_REASON, clean_text, name_of

State = Version.State


@dataclass(frozen=True, kw_only=True)
class MergePlan:
    """The effect of merging `source` into `target`. If the merge is impossible, `problem` says why."""

    source: Entry
    target: Entry
    moving: Sequence[Phrasing]  # phrasings that move to the target
    known: Sequence[Phrasing]  # phrasings that the target already has
    retiring: Sequence[Version]  # versions that the merge deprecates
    answering: Version | None  # the live version after the merge
    uses: int  # uses and labels stay with the source's versions
    labels: int
    same_script: bool
    problem: str = ""

    @property
    def seen(self) -> str:
        """Return a short hash of the plan."""
        parts = (
            self.source.pk,
            self.target.pk,
            [phrasing.pk for phrasing in self.moving],
            [(version.pk, version.state) for version in self.retiring],
            self.answering and self.answering.pk,
            self.problem,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def plan_merge(source: Entry, *, target: Entry) -> MergePlan:
    """Return the effect of a merge without changing anything."""
    theirs = set(target.phrasings.values_list("text", flat=True))
    phrasings = list(source.phrasings.defer("document"))
    retiring = list(source.versions.exclude(state=State.DEPRECATED))
    answering = target.versions.filter(state=State.VERIFIED).first()
    verified = [version for version in retiring if version.state == State.VERIFIED]
    return MergePlan(
        source=source,
        target=target,
        moving=[one for one in phrasings if one.text not in theirs],
        known=[one for one in phrasings if one.text in theirs],
        retiring=retiring,
        answering=answering,
        uses=Use.objects.filter(version__entry=source).count(),
        labels=MatchLabel.objects.counting().filter(version__entry=source).count(),
        same_script=bool(
            answering and any(version.sha256 == answering.sha256 for version in verified)
        ),
        problem=_problem(source, target, is_answered=bool(verified), answering=answering),
    )


@transaction.atomic
def merge_entries(
    source: Entry, *, target: Entry, by: User, note: str = "", seen: str = ""
) -> Merge:
    """Move the source's phrasings to the target, deprecate its versions and redirect its page.

    Uses and labels stay with their versions. If the scripts differ, a second user must confirm that the phrasings
    request the target's script. Raises NotAllowedNow if the merge is impossible, and Stale if the plan has changed
    since the user saw it.
    """
    require(by, CURATE)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    source, target = lock_both(source, target)
    plan = plan_merge(source, target=target)
    if plan.problem:
        raise NotAllowedNow(plan.problem)
    if seen and seen != plan.seen:
        raise Stale(_("One of the entries has changed. Check both entries again."), newest=0)
    moved = [phrasing.pk for phrasing in plan.moving]
    source.phrasings.filter(pk__in=moved, source=Phrasing.Source.TITLE).update(
        source=Phrasing.Source.CURATOR
    )
    confirmations = {} if plan.same_script else _ask_again(moved, by=by)
    Phrasing.objects.filter(pk__in=moved).update(entry=target)
    merge = Merge.objects.create(
        source=source,
        target=target,
        phrasings=moved,
        confirmations=confirmations,
        events=[_retire(version, target, by=by) for version in plan.retiring],
        note=note,
        by=by,
    )
    Entry.objects.filter(pk=source.pk).update(merged_into=target)
    pairs = NearDuplicate.objects.filter(Q(first=source) | Q(second=source))
    pairs.filter(Q(first=target) | Q(second=target)).update(
        state=NearDuplicate.State.MERGED, by=by, decided_at=timezone.now()
    )
    pairs.filter(state=NearDuplicate.State.OPEN).delete()
    share_cases(source, target, at=merge.at, by=by)
    record(source, "merged away", by=by, into=("", target.slug))
    record(target, "merged in", by=by, entry=("", source.slug), phrasings=("", len(moved)))
    refresh([source.pk, target.pk])
    return merge


@transaction.atomic
def undo_merge(merge: Merge, *, by: User) -> None:
    """Undo the merge, and restore each entry's own phrasings and its former live version.

    Phrasings added to the target since the merge stay there, and removed phrasings stay removed. Raises NotAllowedNow
    if the merge was already undone, or if the target itself was merged.
    """
    require(by, CURATE)
    source, target = lock_both(merge.source, merge.target)
    merge.refresh_from_db()
    if merge.undone_at is not None:
        raise NotAllowedNow(
            _("%(who)s has already undone this merge.") % {"who": name_of(merge.undone_by)}
        )
    if target.merged_into_id is not None:
        raise NotAllowedNow(
            _('"%(title)s" has since been merged into another entry. Undo that merge first.')
            % {"title": target.title}
        )
    back = Phrasing.objects.filter(pk__in=merge.phrasings, entry=target)
    back.exclude(source=Phrasing.Source.TITLE).update(entry=source)
    for pk, confirmed in merge.confirmations.items():
        Phrasing.objects.filter(pk=pk, entry=source).update(**confirmed)
    _restore_title(source, by=by)
    Entry.objects.filter(pk=source.pk).update(merged_into=None)
    note = _("the merge was undone")
    events = {
        event.pk: event for version in source.versions.all() for event in version.events.all()
    }
    for pk in merge.events:
        events[pk].version.take_back(events[pk], by=by, note=note)
    merge.undone_at, merge.undone_by = timezone.now(), by
    merge.save(update_fields=["undone_at", "undone_by"])
    NearDuplicate.objects.filter(
        state=NearDuplicate.State.MERGED, first__in=[source, target], second__in=[source, target]
    ).update(state=NearDuplicate.State.OPEN, by=None, decided_at=None)
    unshare_cases(target, at=merge.at, by=by)
    record(source, "merge undone", by=by, into=(target.slug, ""))
    refresh([source.pk, target.pk])


def lock_both(source: Entry, target: Entry) -> tuple[Entry, Entry]:
    """Lock both entries in a fixed order, so that two merges cannot deadlock."""
    locked = {pk: lock_entry(pk) for pk in sorted({source.pk, target.pk})}
    return locked[source.pk], locked[target.pk]


def _problem(source: Entry, target: Entry, *, is_answered: bool, answering: Version | None) -> str:
    if source.pk == target.pk:
        return _("An entry can't be merged into itself.")
    for entry in (source, target):
        if entry.merged_into_id is not None:
            return _('%(who)s has already merged "%(title)s".') % {
                "who": name_of(entry.merges_away.get(undone_at=None).by),
                "title": entry.title,
            }
    if target.suspended_at is not None:
        return _('"%(title)s" is suspended. Lift the suspension first.') % {"title": target.title}
    if is_answered and answering is None:
        return _(
            '"%(title)s" has no verified version, so requests would no longer find a script.'
            " Swap the direction or verify a version first."
        ) % {"title": target.title}
    return ""


def _ask_again(keys: Sequence[int], *, by: User) -> dict[str, dict[str, object]]:
    """Reset the confirmations of phrasings that now have a different script. A second user must confirm them again.

    Return the former confirmations, so that undoing the merge can restore them.
    """
    confirmed = Phrasing.objects.filter(pk__in=keys, confirmed_at__isnull=False)
    names = ("added_by", "confirmed_by", "confirmed_at", "self_confirmed")
    before = {
        str(row.pop("pk")): row | {"confirmed_at": row["confirmed_at"].isoformat()}
        for row in confirmed.values("pk", *names)
    }
    confirmed.update(added_by=by, confirmed_by=None, confirmed_at=None, self_confirmed=False)
    return before


def _retire(version: Version, target: Entry, *, by: User) -> int:
    """Deprecate a version, and return the key of the event that records it."""
    version.move_to(State.DEPRECATED, by=by, note=_("merged into %(slug)s") % {"slug": target.slug})
    return version.events.latest("pk").pk


def _restore_title(entry: Entry, *, by: User) -> None:
    if not entry.phrasings.filter(text=entry.title).update(source=Phrasing.Source.TITLE):
        Phrasing.objects.create(
            entry=entry,
            text=entry.title,
            source=Phrasing.Source.TITLE,
            **Confirmation(added_by=by).fields(),
        )
