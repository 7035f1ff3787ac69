"""Count attempts in the metrics once the attempts are stored."""

from __future__ import annotations

from collections.abc import Sequence

from core import metrics
from pipeline.ledger.attempt_store import Closed
from pipeline.llm.types import Answered, Failed
from pipeline.models import Attempt, ModelCall
from pipeline.types import StageName

# In a study, the number of calls in other stages would reveal verdicts.
_OF_EVERY_RUN = frozenset({StageName.GENERATE.value, StageName.DESCRIBE.value})


def count_attempts(
    closed: Closed, tries: Sequence[tuple[ModelCall, Attempt, Answered | Failed]]
) -> None:
    """Count each attempt that ended now. For campaigns, count only the calls that every run makes."""
    in_campaign = closed.batch_id is not None
    new = set(closed.attempts)
    for call, attempt, ended in tries:
        if attempt.pk not in new or in_campaign and not _is_of_every_run(call):
            continue
        result = ended.kind.value if isinstance(ended, Failed) else Attempt.Outcome.ANSWERED.value
        endpoint = call.endpoint.name
        metrics.count(metrics.ATTEMPTS, endpoint, result)
        if attempt.message_batch_id is None:
            metrics.observe(metrics.MODEL_CALL_SECONDS, ended.milliseconds / 1000, endpoint)


def _is_of_every_run(call: ModelCall) -> bool:
    return call.stage in _OF_EVERY_RUN and call.round == 0 and call.refinement_id is None
