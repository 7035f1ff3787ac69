"""Write the decisions about an import's rows to the database."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils import timezone

from catalog.entries.services.creation import (
    Prepared,
    add_phrasings,
    add_version,
    make_entry,
    prepare,
)
from catalog.entries.services.lifecycle import mark_verified
from catalog.entries.services.locks import lock_standing
from catalog.entries.services.versions import set_details
from catalog.entries.services.wording_confirmation import Confirmation
from catalog.exchange.formats import EntryRecord, OtherVersion
from catalog.exchange.services.import_plan import (
    ImportPlan,
    ImportStep,
    Need,
    in_order,
    lower_state,
)
from catalog.exchange.services.import_report import ImportOutcome
from catalog.models import Entry, Phrasing, Version
from catalog.version_details import VersionDetails
from core.audit import record as audit

State = Version.State


class Written(NamedTuple):
    """The entry that a row now belongs to."""

    entry_id: int
    slug: str = ""
    has_changed: bool = False  # whether derived data must be rebuilt


def carry_out(
    step: ImportStep,
    prepared: Mapping[Need, Prepared],
    plan: ImportPlan,
    owners: Mapping[str, User],
) -> Written:
    """Apply the decision about a row. Raises Refused if another user changed the entry in the meantime."""
    record = step.record
    owner = owners.get(record.owner or "")
    if step.entry_id is None:
        entry = _make_entry(record, prepared, plan, owner)
        return Written(entry.pk, entry.slug, has_changed=True)
    if step.outcome is ImportOutcome.UNCHANGED:
        return Written(step.entry_id)
    if step.outcome is ImportOutcome.LABELS:
        _set_labels(step, plan, owner)
    if step.outcome is ImportOutcome.VERSION:
        entry = lock_standing(step.entry_id)
        state = lower_state(plan.state_of_changed, record.state)
        _add_version(entry, record, step.details, state, prepared, plan=plan, owner=owner)
    has_new = _add_phrasings(lock_standing(step.entry_id), record, plan)
    return Written(step.entry_id, has_changed=has_new or step.outcome is ImportOutcome.VERSION)


def _make_entry(
    record: EntryRecord, prepared: Mapping[Need, Prepared], plan: ImportPlan, owner: User | None
) -> Entry:
    confirmation = _confirmation(record, plan, says=record.title_confirmed)
    entry = make_entry(record.title, by=plan.by, slug=record.slug or "", confirmation=confirmation)
    _add_phrasings(entry, record, plan)
    for version in in_order(record):
        state = lower_state(plan.state, version.state)
        if version is not record and state == State.VERIFIED:
            state = State.IN_REVIEW  # only the main version can be verified
        _add_version(entry, version, version.details, state, prepared, plan=plan, owner=owner)
    if record.suspended:
        entry.suspended_at = timezone.now()
        entry.suspended_by = plan.by
        entry.suspended_why = record.suspended
        entry.save(update_fields=["suspended_at", "suspended_by", "suspended_why"])
        audit(entry, "entry suspended", by=plan.by, suspended=("", record.suspended[:200]))
    return entry


def _add_version(
    entry: Entry,
    said: EntryRecord | OtherVersion,
    details: VersionDetails,
    state: State,
    prepared: Mapping[Need, Prepared],
    *,
    plan: ImportPlan,
    owner: User | None,
) -> None:
    """Add the next version to a locked entry, with this state and the origin from the file."""
    need = (said.script, details)
    version = add_version(
        entry,
        prepared.get(need) or prepare(*need),
        author=plan.author,
        by=plan.by,
        owner=owner,
        provenance={"origin": plan.origin, **({"before": dict(said.about)} if said.about else {})},
        state=State.DRAFT if state == State.DRAFT else State.IN_REVIEW,
    )
    audit(version, "imported", by=plan.by, origin=("", plan.origin))
    if state == State.VERIFIED:
        mark_verified(version, by=plan.by, note=plan.origin)
    elif state == State.DEPRECATED:
        version.move_to(State.DEPRECATED, by=plan.by, note=plan.origin)


def _set_labels(step: ImportStep, plan: ImportPlan, owner: User | None) -> None:
    assert step.version is not None
    assert plan.by is not None
    set_details(
        step.version,
        by=plan.by,
        tags=step.details.tags or (),
        links=[link.model_dump(mode="json") for link in step.details.links or ()],
        owner=owner or step.version.owner,
    )


def _add_phrasings(entry: Entry, record: EntryRecord, plan: ImportPlan) -> bool:
    """Add the phrasings that a locked entry does not have yet, each with its source. Return whether any were added."""
    imported = Phrasing.Source.IMPORTED.value
    said = [(imported, record.title_confirmed, record.title)]
    said += [(one.source, one.confirmed, one.text) for one in record.phrasings]
    has_new = False
    for (source, confirmed), group in groupby(said, key=lambda one: one[:2]):
        confirmation = _confirmation(record, plan, says=confirmed)
        texts = [text for _source, _confirmed, text in group]
        new = add_phrasings(entry, texts, source=Phrasing.Source(source), confirmation=confirmation)
        has_new = bool(new) or has_new
    return has_new


def _confirmation(record: EntryRecord, plan: ImportPlan, *, says: bool | None) -> Confirmation:
    """Return the confirmation of new phrasings. A curator who imports an entry as verified confirms its phrasings,
    except for those that the file marks as unconfirmed.
    """
    is_verified = lower_state(plan.state, record.state) == State.VERIFIED
    if is_verified and says is not False:
        return Confirmation(added_by=None, confirmed_by=plan.by, is_confirmed=True)
    return Confirmation(added_by=plan.by)
