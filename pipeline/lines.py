"""The lines of a Run as people watch them: one for each step, with its time, its tokens and what was found."""

from __future__ import annotations

from django.db.models import Max, Sum
from django.utils import timezone

from pipeline.models import Attempt, Draft, ModelCall, Refinement, Run, Stage
from pipeline.types import ReadingOutcome, StageName

Step = tuple[str, int]  # a stage's name and round


class Lines:
    """The Stages of one passage, kept until they are saved together with what was made in them."""

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
        self._readings: dict[Step, ReadingOutcome] = {}

    @property
    def has_news(self) -> bool:
        return bool(self._news or self._readings)

    def has_ended(self, stage: StageName, *, round: int) -> bool:
        """Whether an earlier passage got through this step, or this one."""
        row = self._rows.get((stage.value, round))
        return row is not None and row.ended_at is not None

    def begin(self, stage: StageName, *, round: int) -> None:
        """A line of its own, unless an earlier passage has begun it."""
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
        """Say how the step ended; one that an earlier passage ended stays as it is."""
        step = (stage.value, round)
        row = self._rows[step]
        if row.ended_at is None:
            row.state = Stage.State.DONE if ok else Stage.State.FAILED
            row.outcome, row.found, row.draft = outcome[:20], found, draft
            row.ended_at = timezone.now()
            self._news[step] = row

    def note_reading(self, stage: StageName, *, round: int, outcome: ReadingOutcome) -> None:
        """Say how the step's reply could be read."""
        self._readings[stage.value, round] = outcome

    def save(self) -> None:
        """Write what is new, inside the caller's transaction."""
        self._sum_up([row for row in self._news.values() if row.ended_at])
        new = [row for row in self._news.values() if row._state.adding]
        for row in self._news.values():
            if not row._state.adding:
                row.save()
        Stage.objects.bulk_create(new)
        for (stage, round), outcome in self._readings.items():
            ModelCall.objects.filter(
                run=self._run, stage=stage, round=round, refinement=self._refinement
            ).exclude(outcome=outcome.value).update(outcome=outcome.value)
        self._news, self._readings = {}, {}

    def _sum_up(self, ended: list[Stage]) -> None:
        """Time and tokens: those of the step's model calls, or the clock's where it has none."""
        if not ended:
            return
        sums = Attempt.objects.filter(
            call__run=self._run,
            call__refinement=self._refinement,
            call__stage__in={row.name for row in ended},
        ).values_list("call__stage", "call__round")
        by_step = {
            (stage, round): counted
            for stage, round, *counted in sums.annotate(
                Sum("milliseconds"), Sum("input_tokens"), Sum("output_tokens")
            ).order_by()
        }
        for row in ended:
            elapsed = row.ended_at - row.started_at if row.ended_at else None
            clock = round(elapsed.total_seconds() * 1000) if elapsed else 0
            milliseconds, given, taken = by_step.get((row.name, row.round), (None, None, None))
            row.milliseconds = clock if milliseconds is None else milliseconds
            row.input_tokens, row.output_tokens = given or 0, taken or 0
