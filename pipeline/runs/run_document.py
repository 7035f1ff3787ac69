"""A Run as one JSON document, for the command line and the API."""

from __future__ import annotations

from django.db.models import Sum

from pipeline.models import Attempt, Run


def report_run(run: Run) -> dict[str, object]:
    """Return a run's stages, drafts, result and usage. The cost is in USD, or null if a price is unknown."""
    attempts = Attempt.objects.filter(call__run=run)
    sums = attempts.aggregate(
        input=Sum("input_tokens"), output=Sum("output_tokens"), cost=Sum("cost")
    )
    recommended = run.recommended
    cost = (sums["cost"] or 0) / 1_000_000
    return {
        "run": run.pk,
        "state": run.state,
        "origin": origin_of(run),
        "configuration": run.configuration.name,
        "demo": run.demo,
        "stages": [
            {
                "name": stage.name,
                "round": stage.round,
                "outcome": stage.outcome,
                "milliseconds": stage.milliseconds,
                "input_tokens": stage.input_tokens,
                "output_tokens": stage.output_tokens,
            }
            for stage in run.stages.all()
        ],
        "drafts": [
            {
                "number": draft.number,
                "kind": draft.kind,
                "sha256": draft.sha256,
                "script": draft.script,
                "verdict": draft.assessment.verdict if hasattr(draft, "assessment") else None,
            }
            for draft in run.drafts.select_related("assessment").order_by("number")
        ],
        "verdict": run.verdict or None,
        "recommended": recommended.number if recommended else None,
        "script": recommended.script if recommended else None,
        "calls": attempts.count(),
        "tokens": {"input": sums["input"] or 0, "output": sums["output"] or 0},
        "cost": None if attempts.filter(outcome="answered", cost=None).exists() else cost,
        **({"problem": run.problem} if run.problem else {}),
    }


def masked_in(run: Run) -> list[dict[str, object]]:
    """Return the kinds of masked secrets for each call with masked secrets, in one query."""
    rows = run.calls.exclude(masked=[]).order_by("created_at", "key")
    return [
        {"stage": stage, "round": round, "endpoint": endpoint, "kinds": kinds}
        for stage, round, endpoint, kinds in rows.values_list(
            "stage", "round", "endpoint__name", "masked"
        )
    ]


def origin_of(run: Run) -> str:
    """Return the source of the script: the catalogue, a model, or an import."""
    if run.answered_by_id:
        return "retrieved"
    return "imported" if run.origin == Run.Origin.IMPORTED else "generated"
