"""Store the stages of a Run: one row per step, with its time, tokens and result."""

from __future__ import annotations

import json
from datetime import datetime

from django.db import connection
from django.db.models import Max

from core import tracing
from core.database.clock import database_now
from pipeline.models import Draft, Refinement, Run, Stage
from pipeline.types import Question, ReadingOutcome, StageName

Step = tuple[str, int]  # a stage's name and round

# The time and tokens of a finished step are the sums of its model calls. Without calls, the time is wall-clock time.
_SAVE = """
WITH read AS (
    UPDATE pipeline_modelcall AS call SET outcome = reading.outcome
    FROM jsonb_to_recordset(%(readings)s::jsonb) AS reading (
        stage text, round int, sample int, outcome text
    )
    WHERE call.run_id = %(run)s AND call.refinement_id IS NOT DISTINCT FROM %(refinement)s
        AND call.stage = reading.stage AND call.round = reading.round
        AND call.sample = reading.sample AND call.outcome <> reading.outcome
)
INSERT INTO pipeline_stage (
    run_id, refinement_id, sequence, name, round, state, outcome, found, draft_id, started_at,
    ended_at, milliseconds, input_tokens, output_tokens
)
SELECT %(run)s, %(refinement)s, line.sequence, line.name, line.round, line.state, line.outcome,
    line.found, line.draft_id, line.started_at, line.ended_at,
    coalesce(asked.milliseconds, line.clock), coalesce(asked.input_tokens, 0),
    coalesce(asked.output_tokens, 0)
FROM jsonb_to_recordset(%(lines)s::jsonb) AS line (
    sequence int, name text, round int, state text, outcome text, found text, draft_id bigint,
    started_at timestamptz, ended_at timestamptz, clock int
)
LEFT JOIN LATERAL (
    SELECT sum(attempt.milliseconds) AS milliseconds, sum(attempt.input_tokens) AS input_tokens,
        sum(attempt.output_tokens) AS output_tokens
    FROM pipeline_modelcall AS call JOIN pipeline_attempt AS attempt ON attempt.call_id = call.key
    WHERE call.run_id = %(run)s AND call.refinement_id IS NOT DISTINCT FROM %(refinement)s
        AND call.stage = line.name AND call.round = line.round
) AS asked ON line.ended_at IS NOT NULL
ON CONFLICT ON CONSTRAINT stage_once_a_step DO UPDATE SET
    state = excluded.state, outcome = excluded.outcome, found = excluded.found,
    draft_id = excluded.draft_id, ended_at = excluded.ended_at,
    milliseconds = excluded.milliseconds, input_tokens = excluded.input_tokens,
    output_tokens = excluded.output_tokens
"""


class StageStore:
    """The Stages of one passage, buffered until they are saved together with their results."""

    def __init__(self, run: Run, refinement: Refinement | None, *, look_back: bool) -> None:
        self._run = run
        self._refinement = refinement
        self._rows: dict[Step, Stage] = {}
        self._sequence = 0
        if look_back:
            rows = run.stages.filter(refinement=refinement)
            self._rows = {(row.name, row.round): row for row in rows}
            self._sequence = run.stages.aggregate(last=Max("sequence"))["last"] or 0
        self._news: dict[Step, Stage] = {}
        self._readings: dict[tuple[str, int, int], ReadingOutcome] = {}

    @property
    def has_unsaved(self) -> bool:
        return bool(self._news or self._readings)

    def end_of(self, stage: StageName, *, round: int) -> Stage | None:
        """Return the row of this step if the step has ended, or None."""
        row = self._rows.get((stage.value, round))
        return row if row is not None and row.ended_at is not None else None

    def begun_at(self, stage: StageName, *, round: int) -> datetime:
        """Return when this step began, in any passage."""
        return self._rows[stage.value, round].started_at

    def has_ended(self, stage: StageName, *, round: int) -> bool:
        """Return whether this step has ended, in this or an earlier passage."""
        return self.end_of(stage, round=round) is not None

    def begin(self, stage: StageName, *, round: int) -> None:
        """Add a row, unless an earlier passage has begun the step."""
        step = (stage.value, round)
        if step not in self._rows:
            self._sequence += 1
            row = Stage(
                run=self._run,
                name=stage.value,
                round=round,
                refinement=self._refinement,
                sequence=self._sequence,
            )
            self._rows[step] = self._news[step] = row

    def end(
        self,
        stage: StageName,
        *,
        round: int,
        outcome: str,
        found: str,
        draft: Draft | None,
        ok: bool,
    ) -> None:
        """Record how the step ended. A step that an earlier passage ended stays unchanged."""
        step = (stage.value, round)
        row = self._rows[step]
        if row.ended_at is None:
            row.state = Stage.State.DONE if ok else Stage.State.FAILED
            row.outcome, row.found, row.draft = outcome[:20], found, draft
            row.ended_at = database_now()
            self._news[step] = row

    def note_reading(self, question: Question, outcome: ReadingOutcome) -> None:
        """Record the outcome of reading the reply to this question. Each repeat of a question has its own record."""
        self._readings[question.stage.value, question.round, question.sample] = outcome

    def save(self) -> None:
        """Write new rows inside the caller's transaction. Call `forget` after the commit."""
        if not self.has_unsaved:
            return
        with connection.cursor() as cursor:
            cursor.execute(
                _SAVE,
                {
                    "run": self._run.pk,
                    "refinement": self._refinement.pk if self._refinement else None,
                    "lines": json.dumps([_line_of(row) for row in self._news.values()]),
                    "readings": json.dumps(
                        [
                            {
                                "stage": stage,
                                "round": round,
                                "sample": sample,
                                "outcome": outcome.value,
                            }
                            for (stage, round, sample), outcome in self._readings.items()
                        ]
                    ),
                },
            )

    def forget(self) -> None:
        """Clear the written rows and add them to the traces without their results, which may contain arbitrary text."""
        for row in self._news.values() if tracing.is_within() else ():
            if row.ended_at is not None:
                tracing.record(
                    f"stage {row.name}",
                    {"scriptsmith.stage": row.name, "scriptsmith.round": row.round},
                    begun=row.started_at,
                    ended=row.ended_at,
                    failed=row.state == Stage.State.FAILED,
                )
        self._news, self._readings = {}, {}


def _line_of(row: Stage) -> dict[str, object]:
    ended = row.ended_at
    return {
        "sequence": row.sequence,
        "name": row.name,
        "round": row.round,
        "state": row.state,
        "outcome": row.outcome,
        "found": row.found,
        "draft_id": row.draft.pk if row.draft else None,
        "started_at": row.started_at.isoformat(),
        "ended_at": ended.isoformat() if ended else None,
        "clock": round((ended - row.started_at).total_seconds() * 1000) if ended else 0,
    }
