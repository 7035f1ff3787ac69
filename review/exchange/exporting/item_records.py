"""Export all data of a campaign's items, with the column names that `import_items` reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from django.db.models import Count, Max, Min, Sum

from pipeline.models import Assessment, Attempt, Draft, Feedback, Run
from pipeline.types import Arm, DraftKind
from review.blinding.item_view import assessment_of
from review.counting.item_facts import ADVISED, MADE
from review.models import Campaign, Case, Item
from review.study.first_draft import first_draft_of

SLICE = 500
Fields = dict[str, object]


def item_records(campaign: Campaign) -> Iterator[Fields]:
    """Yield a record for each item, then a record for each case without items."""
    items = campaign.items.select_related(
        "case__action", "case__repeats", "configuration", "run"
    ).order_by("pk")
    last = 0
    while found := list(items.filter(pk__gt=last)[:SLICE]):
        yield from _records_of(found)
        last = found[-1].pk
    cases = campaign.cases.filter(items=None).select_related("action", "repeats").order_by("pk")
    last = 0
    while waiting := list(cases.filter(pk__gt=last)[:SLICE]):
        yield from (_case(case) for case in waiting)
        last = waiting[-1].pk


def _records_of(items: Sequence[Item]) -> Iterator[Fields]:
    runs = [item.run_id for item in items if item.run_id]
    drafts, feedbacks, costs = _drafts(runs), _feedbacks(runs), _costs(runs)
    for item in items:
        run = item.run_id or 0
        yield _item(item, drafts[run], feedbacks[run], costs.get(run, {}))


def _item(
    item: Item, drafts: list[Draft], feedbacks: list[Feedback], costs: Mapping[str, object]
) -> Fields:
    first = first_draft_of(drafts)
    feedback = next(
        (one for one in feedbacks if first and one.draft_id == first.pk and one.arm == Arm.MODEL),
        None,
    )
    refined = next((one for one in drafts if feedback and one.feedback_id == feedback.pk), None)
    is_halo = item.again == Item.Again.HALO
    if is_halo:  # the refined script was shown and scored as a first script
        first, feedback, refined = refined, None, None
    return {
        **_case(item.case),
        "configuration": item.configuration.name,
        "script": first.script if first else None,
        "feedback": feedback.text if feedback else None,
        "refined": refined.script if refined else None,
        "verdict": item.run.verdict if item.run and not is_halo else None,
        "execution": item.execution,
        "execution_reason": item.execution_reason,
        "overlap": item.overlap,
        "called_in": item.called_in or None,
        "closed": item.state == Item.State.CLOSED,
        "sham": item.sham,
        "withdrawn": item.state == Item.State.WITHDRAWN or None,
        "pilot": item.pilot or None,
        "made": _made(item.run, first),
        "recommended": _recommended(item.run, first, refined),
        "no_error_found": feedback.no_error_found if feedback else False,
        "demo": item.run.demo if item.run else False,
        "experts": _experts(drafts, feedbacks) or None,
        "later": None if is_halo else _later(drafts, feedbacks, item.run) or None,
        "state": item.state,
        "reviewers_done": item.done,
        "disputed": item.disputed,
        "script_sha256": first.sha256 if first else None,
        "refined_sha256": refined.sha256 if refined else None,
        **_run(item.run),
        "assessment": _assessment(assessment_of(first)),
        "drafts": [_draft(draft, said=(first, refined)) for draft in drafts],
        "feedbacks": [_feedback(one) for one in feedbacks],
        **costs,
    }


def _case(case: Case) -> Fields:
    action = case.action
    return {
        "record": "item",
        "id": case.external_id,
        "statement": action.statement,
        "context": action.incident,
        "environment": action.environment,
        "reference": action.reference,
        "severity": action.severity,
        "target": action.target,
        "impact": action.impact,
        "purpose": case.purpose,
        "known": case.known or None,
        "repeats": case.repeats.external_id if case.repeats else None,
    }


def _experts(drafts: Sequence[Draft], feedbacks: Sequence[Feedback]) -> list[Fields]:
    """Return each expert's feedback with the script refined from it."""
    refined = {draft.feedback_id: draft.script for draft in drafts if draft.feedback_id}
    return [
        {"author": one.author.username, "feedback": one.text, "refined": refined.get(one.pk, "")}
        for one in feedbacks
        if one.arm == Arm.EXPERT and one.author
    ]


def _later(drafts: Sequence[Draft], feedbacks: Sequence[Feedback], run: Run | None) -> list[Fields]:
    """Return the model's later rounds, each with the feedback on the previous Draft and the refined script."""
    texts = {one.pk: one.text for one in feedbacks}
    found: dict[int, Draft] = {}
    for draft in drafts:
        if draft.arm == Arm.MODEL and draft.kind == DraftKind.REFINED and draft.round > 1:
            found.setdefault(draft.round, draft)
    return [
        {
            "round": round_,
            "feedback": texts.get(draft.feedback_id or 0, ""),
            "refined": draft.script,
            "recommended": bool(run and run.recommended_id == draft.pk),
        }
        for round_, draft in sorted(found.items())
    ]


def _made(run: Run | None, first: Draft | None) -> str:
    if first is None:
        return "failed" if run and run.state in (Run.State.FAILED, Run.State.CANCELLED) else ""
    if run and run.spec.get(MADE):
        return str(run.spec[MADE])
    known = {DraftKind.IMPORTED: "imported", DraftKind.REFINED: "generated"}
    return known.get(DraftKind(first.kind), first.kind)


def _recommended(run: Run | None, first: Draft | None, refined: Draft | None) -> str:
    chosen = run.recommended_id if run else None
    if run is None or chosen is None:
        return str(run.spec.get(ADVISED, "")) if run else ""
    if first and chosen == first.pk:
        return "first"
    return "refined" if refined and chosen == refined.pk else "other"


def _run(run: Run | None) -> Fields:
    if run is None:
        return {}
    return {
        "run": run.pk,
        "run_origin": run.origin,
        "run_state": run.state,
        "run_problem": run.problem,
        "asked_at": when(run.created_at),
        "finished_at": when(run.finished_at),
        "roles": run.roles or None,
        "prompts": run.spec.get("prompts"),
    }


def _assessment(assessment: Assessment | None) -> Fields | None:
    if assessment is None:
        return None
    return {
        "verdict": assessment.verdict,
        "why": assessment.why,
        "functionality": assessment.functionality,
        "similarity": assessment.similarity,
        "similarity_reason": assessment.similarity_reason,
        "difference": assessment.difference,
        "difference_reason": assessment.difference_reason,
        "differences": assessment.differences,
        "model": assessment.model,
        "prompt_versions": assessment.prompt_versions,
    }


def _draft(draft: Draft, *, said: Collection[Draft | None]) -> Fields:
    """Return the Draft's data. The script is included unless another column contains the same script."""
    about: Fields = {
        "number": draft.number,
        "kind": draft.kind,
        "arm": draft.arm,
        "round": draft.round,
        "sha256": draft.sha256,
        "model": draft.model,
        "prompt_version": draft.prompt_version,
        "author": draft.author.username if draft.author else None,
        "at": when(draft.created_at),
    }
    return about if draft in said else {**about, "script": draft.script}


def _feedback(feedback: Feedback) -> Fields:
    return {
        "arm": feedback.arm,
        "round": feedback.round,
        "draft_sha256": feedback.draft.sha256,
        "text": feedback.text,
        "no_error_found": feedback.no_error_found,
        "model": feedback.model,
        "prompt_version": feedback.prompt_version,
        "author": feedback.author.username if feedback.author else None,
        "at": when(feedback.created_at),
    }


def _drafts(runs: Sequence[int]) -> dict[int, list[Draft]]:
    found: dict[int, list[Draft]] = defaultdict(list)
    drafts = Draft.objects.filter(run__in=runs).select_related("author", "assessment")
    for draft in drafts.order_by("number"):
        found[draft.run_id].append(draft)
    return found


def _feedbacks(runs: Sequence[int]) -> dict[int, list[Feedback]]:
    found: dict[int, list[Feedback]] = defaultdict(list)
    feedbacks = Feedback.objects.filter(draft__run__in=runs).select_related("author", "draft")
    for feedback in feedbacks.order_by("pk"):
        found[feedback.draft.run_id].append(feedback)
    return found


def _costs(runs: Sequence[int]) -> dict[int, Fields]:
    """Return the calls, tokens, milliseconds and micro-dollars of each run, including all attempts."""
    rows = (
        Attempt.objects.filter(call__run__in=runs)
        .order_by()
        .values("call__run")
        .annotate(
            calls=Count("call", distinct=True),
            tries=Count("pk"),
            input_tokens=Sum("input_tokens"),
            output_tokens=Sum("output_tokens"),
            model_milliseconds=Sum("milliseconds"),
            cost_microdollars=Sum("cost"),
            first_call_at=Min("started_at"),
            last_call_at=Max("ended_at"),
        )
    )
    return {
        row["call__run"]: {
            name: when(value) if isinstance(value, datetime) else value
            for name, value in row.items()
            if name != "call__run"
        }
        for row in rows
    }


def when(moment: datetime | None) -> str | None:
    """Return the time in the format used in export files."""
    return moment.isoformat() if moment else None
