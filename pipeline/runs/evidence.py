"""Run the drafts of a finished run against the sandbox tests of its statement."""

from __future__ import annotations

from catalog.services import request_draft_runs
from pipeline.models import Draft, Run


def request_evidence(run_id: int) -> int:
    """Request sandbox runs of every draft and return the number of requested runs.

    No model is called, and the results change neither the verdict nor the recommendation.
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
