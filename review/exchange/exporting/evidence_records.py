"""Export case sets, results, changes to test cases and labels as records that refer to each other by hash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catalog.models import CaseSet, Execution
from catalog.services import case_sets_of_statements, hash_statement, newest_results
from pipeline.models import Draft
from review.evidence.campaign_cases import results_of
from review.evidence.cases_in_force import revisions_of
from review.exchange.exporting.item_records import Fields, when
from review.models import Campaign, CaseRevision, ExecutionLabel

SLICE = 200


def evidence_records(campaign: Campaign) -> Iterator[Fields]:
    """Yield a record for each of the campaign's case sets, results, changes to test cases and labels."""
    roots = _roots(campaign)
    revisions = revisions_of(campaign, roots)
    sets = {one.pk: one for one in roots}
    for one in revisions:
        sets |= {made.pk: made for made in (one.former, one.case_set, one.merged) if made}
    derived = sets.keys() - {one.pk for one in roots}
    for made in sets.values():
        yield _case_set(made, is_revision=made.pk in derived)
    yield from _executions(campaign, list(sets))
    items = _items(campaign)
    by_key = {one.pk: one.sha256 for one in sets.values()}
    for one in revisions:
        yield _revision(one, items[one.item_id], by_key)
    labels = ExecutionLabel.objects.filter(item__campaign=campaign).select_related("by", "draft")
    for label in labels.order_by("pk"):
        yield {
            "record": "execution_label",
            **items[label.item_id],
            "reviewer": label.by.username,
            "stage": label.stage,
            "label": label.reason,
            "draft_sha256": label.draft.sha256 if label.draft else None,
            "at": when(label.at),
            "current": label.current,
        }


def _roots(campaign: Campaign) -> list[CaseSet]:
    """Return the original case sets that count in the campaign."""
    if campaign.is_live:
        return case_sets_of_statements(_statements(campaign))
    found = CaseSet.objects.filter(counted_for__case__campaign=campaign)
    return list(found.select_related("replaces").distinct().order_by("pk"))


def _statements(campaign: Campaign) -> set[str]:
    texts = campaign.cases.filter(action__erased_at=None).values_list(
        "action__statement", flat=True
    )
    return {hash_statement(text) for text in texts.order_by().iterator()}


def _items(campaign: Campaign) -> dict[int, Fields]:
    """Return the ID and configuration of items with labels or changes to test cases, by primary key."""
    said = (CaseRevision, ExecutionLabel)
    keys = {
        pk
        for model in said
        for pk in model.objects.filter(item__campaign=campaign).values_list("item", flat=True)
    }
    rows = campaign.items.filter(pk__in=keys).values_list(
        "pk", "case__external_id", "configuration__name"
    )
    return {pk: {"item": item, "configuration": name} for pk, item, name in rows}


def _case_set(case_set: CaseSet, *, is_revision: bool) -> Fields:
    return {
        "record": "case_set",
        "case_set": case_set.sha256,
        "content": case_set.content,
        "is_revision": is_revision,
        "prompt_version": case_set.prompt_version,
        "replaces": case_set.replaces.sha256 if case_set.replaces else None,
        "at": when(case_set.created_at),
    }


def _executions(campaign: Campaign, sets: Sequence[int]) -> Iterator[Fields]:
    """Yield the newest result of each script for each set."""
    if not sets:
        return
    scripts = Draft.objects.filter(run__items__campaign=campaign).values("sha256")
    keys = list(
        newest_results(
            Execution.objects.filter(
                results_of(campaign), case_set__in=sets, script_sha256__in=scripts
            ),
            "script_sha256",
            "case_set_id",
        ).values_list("pk", flat=True)
    )
    for start in range(0, len(keys), SLICE):
        found = Execution.objects.filter(pk__in=keys[start : start + SLICE])
        for one in found.select_related("case_set").prefetch_related("checks").order_by("pk"):
            yield _execution(one)


def _execution(one: Execution) -> Fields:
    return {
        "record": "execution",
        "case_set": one.case_set.sha256,
        "script_sha256": one.script_sha256,
        "imported": one.imported,
        "fingerprint": one.fingerprint,
        "fingerprint_sha256": one.fingerprint_sha256,
        "state": one.state,
        "why_not_run": one.reason,
        "checks": [
            {
                "case": check.case_number,
                "check": check.number,
                "title": check.case_title,
                "sentence": check.sentence,
                "state": check.state,
                "got": check.got,
            }
            for check in one.checks.all()
        ],
        "small_errors": one.small_errors,
        "noticed": one.noticed,
        "document": one.document,
        "seconds": one.seconds,
        "first_at": when(one.first_at),
        "last_at": when(one.last_at),
        "times": one.times,
    }


def _revision(one: CaseRevision, item: Fields, hashes: dict[int, str]) -> Fields:
    return {
        "record": "case_revision",
        **item,
        "reviewer": one.by.username,
        "kind": one.kind,
        "what": one.what,
        "comment": one.reason,
        "root": hashes[one.root_id],
        "former": hashes[one.former_id],
        "case_set": hashes[one.case_set_id] if one.case_set_id else None,
        "merged": hashes[one.merged_id] if one.merged_id else None,
        "at": when(one.at),
    }
