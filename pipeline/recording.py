"""The flow's ports over the database: each call may be replayed, and then gives what it gave before.

A Run that is taken up again goes through the same flow from its start; what it had retrieved, asked and
made is found here, so that only what is missing is done.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from catalog import services as catalog
from catalog.analysis import Report, analyse
from catalog.models import Version
from catalog.types import Answer, Match, Retrieval
from pipeline import ledger
from pipeline.findings import keep_findings
from pipeline.flow import Assessed, DraftMade, FeedbackGiven
from pipeline.leases import Lease
from pipeline.ledger import Opened
from pipeline.llm.requests import RoleSpec
from pipeline.llm.types import ModelClient
from pipeline.models import (
    Assessment,
    Attempt,
    Draft,
    Feedback,
    ModelCall,
    Refinement,
    RetrievedMatch,
    Run,
    Stage,
)
from pipeline.types import Arm, DraftKind, Question, ReadingOutcome, Reply, Role, StageName

_MATCHES_KEPT = 5


class RecordedPorts:
    """What the flow does for one Run, done once and written down."""

    def __init__(
        self, run: Run, lease: Lease, client: ModelClient, *, refinement: Refinement | None = None
    ) -> None:
        self._run = run
        self._lease = lease
        self._client = client
        self._refinement = refinement
        self._roles = roles_of(run)
        self._reports: dict[str, Report] = {}
        self._drafts: dict[DraftMade, Draft] = {}
        self._feedback: dict[FeedbackGiven, Feedback] = {}

    # --- What was there before ----------------------------------------------------------------------------

    def know_draft(self, made: DraftMade, draft: Draft) -> None:
        """Tell which row a Draft is that was made before this passage began."""
        self._drafts[made] = draft

    def know_feedback(self, given: FeedbackGiven, feedback: Feedback) -> None:
        """Tell which row a Feedback is that was given before this passage began."""
        self._feedback[given] = feedback

    def draft_of(self, made: DraftMade) -> Draft:
        """The row of a Draft that this passage made or was told of."""
        return self._drafts[made]

    # --- Doing ------------------------------------------------------------------------------------------------

    def retrieve(self) -> Retrieval:
        kept = list(self._run.matches.select_related("version__entry"))
        if not kept and not self._stage_is_done(StageName.RETRIEVE, 0):
            found = catalog.retrieve(self._run.action.statement, limit=_MATCHES_KEPT)
            with transaction.atomic():
                self._lease.check()
                RetrievedMatch.objects.bulk_create(
                    _row_of(self._run, found, rank) for rank in range(len(found.matches))
                )
            return found
        return Retrieval(
            statement=self._run.action.statement,
            answer=Answer(kept[0].answer) if kept else Answer.NONE,
            matches=tuple(_match_of(row) for row in kept),
            threshold=0.0,
            scoring=kept[0].scoring if kept else "",
        )

    def complete(self, asked: Sequence[Question]) -> list[Reply]:
        opened = [
            ledger.open_call(
                self._lease,
                question,
                self._roles[question.role],
                refinement=self._refinement,
            )
            for question in asked
        ]
        tries = [try_ for try_ in opened if isinstance(try_, Opened)]
        ended = self._client.send([(try_.target, try_.request) for try_ in tries])
        # Every reply that came is written before any failure stops the run: it was paid for.
        settled = {
            try_.call.pk: ledger.settle(self._lease, try_, end)
            for try_, end in zip(tries, ended, strict=True)
        }
        replies: list[Reply] = []
        for try_ in opened:
            outcome = settled[try_.call.pk] if isinstance(try_, Opened) else try_
            if isinstance(outcome, Exception):
                raise outcome
            replies.append(outcome)
        return replies

    def check(self, script: str) -> Report:
        if script not in self._reports:
            self._reports[script] = analyse(script)
        return self._reports[script]

    # --- Writing down ----------------------------------------------------------------------------------------

    def begin(self, stage: StageName, *, round: int) -> None:
        with transaction.atomic():
            self._lease.check()
            last = self._run.stages.aggregate(last=Coalesce(Max("sequence"), 0))["last"]
            Stage.objects.get_or_create(
                run=self._run,
                name=stage.value,
                round=round,
                refinement=self._refinement,
                defaults={"sequence": last + 1},
            )

    def end(
        self,
        stage: StageName,
        *,
        round: int,
        outcome: str,
        found: str = "",
        draft: DraftMade | None = None,
        ok: bool = True,
    ) -> None:
        with transaction.atomic():
            self._lease.check()
            row = Stage.objects.get(
                run=self._run, name=stage.value, round=round, refinement=self._refinement
            )
            if row.ended_at is not None:
                return
            row.state = Stage.State.DONE if ok else Stage.State.FAILED
            row.outcome, row.found = outcome[:20], found
            row.draft = self._drafts[draft] if draft else None
            row.ended_at = timezone.now()
            self._sum_up(row)
            row.save()

    def note_reading(self, question: Question, outcome: ReadingOutcome) -> None:
        ModelCall.objects.filter(
            run=self._run,
            stage=question.stage.value,
            round=question.round,
            refinement=self._refinement,
        ).exclude(outcome=outcome.value).update(outcome=outcome.value)

    def keep_draft(self, draft: DraftMade, report: Report | None = None) -> None:
        with transaction.atomic():
            self._lease.check()
            last = self._run.drafts.aggregate(last=Coalesce(Max("number"), 0))["last"]
            role = Role.REFINER if draft.kind is DraftKind.REFINED else Role.GENERATOR
            made_by_model = draft.kind is not DraftKind.RETRIEVED
            row, created = Draft.objects.get_or_create(
                run=self._run,
                kind=draft.kind.value,
                round=draft.round,
                refinement=self._refinement,
                defaults={
                    "number": last + 1,
                    "script": draft.script,
                    "sha256": Version.hash_of(draft.script),
                    "arm": draft.arm.value,
                    "parent": self._drafts[draft.parent] if draft.parent else None,
                    "feedback": self._feedback[draft.feedback] if draft.feedback else None,
                    "version_id": draft.version_id,
                    "note": draft.note,
                    "model": self._roles[role].model if made_by_model else "",
                    "prompt_version": self._prompt_version(draft.kind) if made_by_model else "",
                },
            )
            self._drafts[draft] = row
            if created and report:
                keep_findings(row, report)

    def keep_feedback(self, feedback: FeedbackGiven) -> None:
        with transaction.atomic():
            self._lease.check()
            row, _ = Feedback.objects.get_or_create(
                draft=self._drafts[feedback.draft],
                arm=Arm.MODEL.value,
                defaults={
                    "round": feedback.round,
                    "text": feedback.text,
                    "no_error_found": feedback.no_error_found,
                    "points": feedback.points,
                    "words": len(feedback.text.split()),
                    "model": self._roles[Role.REFINER].model,
                    "prompt_version": str(self._run.spec["prompts"]["explain"]),
                },
            )
            self._feedback[feedback] = row

    def keep_assessment(self, assessed: Assessed) -> None:
        draft = self._drafts[assessed.draft]
        with transaction.atomic():
            self._lease.check()
            Assessment.objects.get_or_create(
                draft=draft,
                defaults={
                    "script_sha256": draft.sha256,
                    "verdict": assessed.verdict.value,
                    "why": assessed.why,
                    "syntax_ok": assessed.syntax_ok,
                    "functionality": assessed.functionality,
                    "similarity": assessed.similarity or "",
                    "similarity_reason": assessed.similarity_reason,
                    "difference": assessed.difference or "",
                    "difference_reason": assessed.difference_reason,
                    "differences": list(assessed.differences),
                    "model": self._roles[Role.ASSESSOR].model,
                    "prompt_versions": {
                        name: self._run.spec["prompts"][name]
                        for name in ("describe", "similarity", "difference")
                    },
                },
            )

    # --- Helpers ------------------------------------------------------------------------------------------------

    def _stage_is_done(self, stage: StageName, round: int) -> bool:
        return Stage.objects.filter(
            run=self._run, name=stage.value, round=round, refinement=None, ended_at__isnull=False
        ).exists()

    def _prompt_version(self, kind: DraftKind) -> str:
        name = {DraftKind.REPAIRED: "repair", DraftKind.REFINED: "refine"}.get(kind, "generate")
        return str(self._run.spec["prompts"][name])

    def _sum_up(self, row: Stage) -> None:
        """Time and tokens: those of its model calls, or the clock's where it has none."""
        sums = Attempt.objects.filter(
            call__run=self._run,
            call__stage=row.name,
            call__round=row.round,
            call__refinement=self._refinement,
        ).aggregate(
            milliseconds=Sum("milliseconds"), input=Sum("input_tokens"), output=Sum("output_tokens")
        )
        if sums["milliseconds"] is None and row.ended_at:
            elapsed = row.ended_at - row.started_at
            sums["milliseconds"] = round(elapsed.total_seconds() * 1000)
        row.milliseconds = sums["milliseconds"] or 0
        row.input_tokens = sums["input"] or 0
        row.output_tokens = sums["output"] or 0


def roles_of(run: Run) -> dict[Role, RoleSpec]:
    """Who plays which role, from the run's own snapshot."""
    return {Role(name): RoleSpec(**role) for name, role in run.spec["roles"].items()}


def _row_of(run: Run, found: Retrieval, rank: int) -> RetrievedMatch:
    match = found.matches[rank]
    return RetrievedMatch(
        run=run,
        rank=rank,
        version_id=match.version_id,
        phrasing=match.phrasing,
        answer=match.answer.value,
        confidence=match.confidence,
        cosine=match.cosine,
        scoring=found.scoring,
        reasons=list(match.reasons),
        differs=list(match.differs),
        fills=dict(match.fills),
    )


def _match_of(row: RetrievedMatch) -> Match:
    return Match(
        entry=row.version.entry.slug,
        version=row.version.number,
        version_id=row.version_id,
        phrasing=row.phrasing,
        title=row.version.entry.title,
        script=row.version.script,
        answer=Answer(row.answer),
        confidence=row.confidence,
        cosine=row.cosine,
        reasons=tuple(row.reasons),
        differs=tuple(row.differs),
        fills=dict(row.fills),
    )
