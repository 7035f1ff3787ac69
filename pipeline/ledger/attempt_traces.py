"""Record attempts in the traces once they are stored, with model, duration and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from core import tracing
from pipeline.ledger.attempt_store import Closed
from pipeline.llm.types import Answered, Failed
from pipeline.models import Attempt, ModelCall


def trace_attempts(
    closed: Closed, tries: Sequence[tuple[ModelCall, Attempt, Answered | Failed]]
) -> None:
    """Add a span to the run's trace for each attempt that ended now, if the run is traced."""
    if not tracing.is_within():
        return
    new = set(closed.attempts)
    for call, attempt, ended in tries:
        if attempt.pk not in new:
            continue
        attributes: dict[str, str | int] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": call.model,
            "scriptsmith.endpoint": call.endpoint.name,
            "scriptsmith.stage": call.stage,
            "scriptsmith.round": call.round,
        }
        if isinstance(ended, Failed):
            attributes["error.type"] = ended.kind.value
        else:
            attributes["gen_ai.usage.input_tokens"] = ended.usage.input
            attributes["gen_ai.usage.output_tokens"] = ended.usage.output
        tracing.record(
            f"chat {call.model}",
            attributes,
            begun=attempt.started_at,
            ended=attempt.started_at + timedelta(milliseconds=ended.milliseconds),
            failed=isinstance(ended, Failed),
        )
