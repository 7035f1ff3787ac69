"""Runs the drafts of a finished run in the cases of its statement, if somebody has written some."""

from __future__ import annotations

from catalog.services import request_draft_runs
from pipeline.models import Draft, Run


def request_evidence(run_id: int) -> int:
    """Have the sandbox's worker run every draft; returns how many executions were requested.

    No model is asked, and the results change neither verdict nor recommendation.
    """
    statement = (
        Run.objects.filter(pk=run_id, action__erased_at=None)
        .values_list("action__statement", flat=True)
        .first()
    )
    if not statement:
        return 0
    scripts = Draft.objects.filter(run=run_id).order_by("number").values_list("script", flat=True)
    return request_draft_runs(statement, list(dict.fromkeys(scripts)))
