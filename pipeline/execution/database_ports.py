"""The flow's ports, implemented with the database. A replayed call returns its earlier result.

A resumed Run repeats the flow from the start. The ports return earlier results, so only missing work is done. Replies
are written as soon as they arrive. Derived results are written only before the next question, because they can be
computed again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max

from catalog import services as catalog
from catalog.analysis import Report, analyse
from catalog.execution.cases import CaseSet
from catalog.models import CaseSet as CaseSetRow
from catalog.models import ToolRule, Version
from catalog.types import Match, Retrieval
from pipeline.execution.abandonment import call_watch
from pipeline.execution.case_runs import CaseRuns
from pipeline.execution.draft_checks import keep_findings
from pipeline.execution.retrieval_store import retrieval_of, rows_of
from pipeline.execution.stage_store import StageStore
from pipeline.flow.case_words import NOT_RUN
from pipeline.flow.declaration import AskedStage, Reading
from pipeline.flow.passage import SKIPPED
from pipeline.flow.ports import Assessed, DraftMade, Executed, FeedbackGiven
from pipeline.flow.prompts import load
from pipeline.flow.stages import ASKED_STAGES, MAKERS, confirm, explain
from pipeline.ledger import model_calls
from pipeline.ledger.capacity import RunMustWait, tell_waiting
from pipeline.ledger.model_calls import OpenedAttempt, Position, position_of
from pipeline.ledger.outgoing_secrets import SecretsRule
from pipeline.ledger.thread_shares import thread_quota
from pipeline.llm.request_builder import RoleSpec, reply_of
from pipeline.llm.types import ModelClient
from pipeline.message_batches.waiting import (
    AwaitsReplies,
    can_wait,
    endpoints_with_batches,
    note_waiting,
    rest_until_replies,
)
from pipeline.models import (
    Assessment,
    Draft,
    EntryDescription,
    Feedback,
    Refinement,
    RetrievedMatch,
    Run,
    WrittenCases,
)
from pipeline.scheduling.run_leases import Lease, retry_while_database_is_away
from pipeline.types import (
    Arm,
    CaseAnswer,
    Mode,
    Problem,
    Question,
    ReadingOutcome,
    Reply,
    Role,
    StageName,
)

_MATCHES_KEPT = 5
# The maximum time from the start of an optional stage to the end of its endpoint's pause. If the pause is longer, the
# run skips the stage.
MOST_PATIENCE = timedelta(minutes=5)


class DatabasePorts:
    """The ports of one Run: every step of the flow runs once and is stored."""

    def __init__(
        self, run: Run, lease: Lease, client: ModelClient, *, refinement: Refinement | None = None
    ) -> None:
        self._run = run
        self._lease = lease
        self._client = client
        self._refinement = refinement
        self._roles = roles_of(run)
        self._secrets = SecretsRule.of(run, refinement)
        self._with_batches = endpoints_with_batches(run, refinement)
        self._reports: dict[str, Report] = {}
        self._drafts: dict[DraftMade, Draft] = {}
        self._feedback: dict[FeedbackGiven, Feedback] = {}
        self._asked_endpoints: set[int] = set()  # endpoints that this passage called last
        # The first passage of a run has no earlier rows.
        taken_up_again = lease.fence > 1
        self._stages = StageStore(run, refinement, look_back=taken_up_again)
        self._calls = model_calls.earlier_calls(run.pk, refinement) if taken_up_again else {}
        self._replies: dict[Position, Reply] = {
            at: reply_of(call.reply) for at, call in self._calls.items() if call.reply
        }
        rows = run.drafts.filter(refinement=refinement).select_related("assessment")
        self._case_runs = CaseRuns(self._check_lease)
        self._made = {(row.kind, row.round): row for row in rows} if taken_up_again else {}
        # Drafts made in this passage, which have no earlier feedback or assessment.
        self._new: set[DraftMade] = set()
        # Unsaved rows. Each row comes after the rows that it references.
        self._unsaved: list[Draft | Feedback | Assessment | WrittenCases] = []
        self._matches: list[RetrievedMatch] = []

    def register_draft(self, made: DraftMade, draft: Draft) -> None:
        """Register the row of a Draft that is older than this passage."""
        self._drafts[made] = draft

    def register_feedback(self, given: FeedbackGiven, feedback: Feedback) -> None:
        """Register the row of a Feedback that is older than this passage."""
        self._feedback[given] = feedback

    def draft_of(self, made: DraftMade) -> Draft:
        """Return the row of a Draft that this passage created or registered."""
        return self._drafts[made]

    def model_of(self, role: Role) -> str:
        """Return the run's model for a role."""
        return self._roles[role].model

    def retrieve(self) -> Retrieval:
        if not self._stages.has_ended(StageName.RETRIEVE, round=0):
            found = self._search_catalogue()
            self._matches = rows_of(self._run, found)
            return found
        return retrieval_of(self._run)

    def _search_catalogue(self) -> Retrieval:
        action = self._run.action
        if self._run.origin == Run.Origin.CAMPAIGN:
            # A study measures the model, so no example may contain the answer.
            return catalog.retrieve_examples(action.statement, reference=action.reference)
        return catalog.retrieve(action.statement, limit=_MATCHES_KEPT)

    def known_description(self, match: Match) -> str:
        ended = self._stages.end_of(StageName.ENTRY_DESCRIBE, round=0)
        if ended is not None:
            # Descriptions from an earlier passage are among its replies.
            return ended.found if ended.outcome == "known" else ""
        known = EntryDescription.objects.filter(**self._description_key(match)).first()
        return known.text if known else ""

    def keep_description(self, match: Match, text: str) -> None:
        row = EntryDescription(**self._description_key(match), text=text)
        EntryDescription.objects.bulk_create([row], ignore_conflicts=True)

    def _description_key(self, match: Match) -> dict[str, Any]:
        role = self._roles[confirm.DESCRIBE.role]
        return {
            "version_id": match.version_id,
            "script_sha256": Version.hash_of(match.script),
            "endpoint": role.endpoint,
            "model": role.model,
            "prompt_version": self._prompt_version(confirm.DESCRIBE),
        }

    def complete(self, asked: Sequence[Question]) -> list[Reply]:
        while missing := [one for one in asked if position_of(one) not in self._replies]:
            self._require_open(missing)
            try:
                self._replies |= self._ask(missing)
            except AwaitsReplies:
                raise
            except RunMustWait as rest:
                if self._is_too_long(missing, rest):
                    raise Problem(str(rest)) from rest
                raise
        return [self._replies[position_of(question)] for question in asked]

    def _require_open(self, missing: Sequence[Question]) -> None:
        """Raise Problem for an optional stage that got no answer in an earlier passage."""
        for one in missing:
            ended = self._stages.end_of(one.stage, round=one.round)
            if ended is not None and ended.outcome == "none" and _is_optional(one):
                raise Problem(ended.found.removeprefix(SKIPPED))

    def _is_too_long(self, missing: Sequence[Question], rest: RunMustWait) -> bool:
        """Return whether an endpoint is paused for longer than optional stages may wait.

        Waiting for a free slot is not a pause.
        """
        if rest.until is None or not all(_is_optional(one) for one in missing):
            return False
        begun = [self._stages.begun_at(one.stage, round=one.round) for one in missing]
        return rest.until > min(begun) + MOST_PATIENCE

    def _ask(self, missing: Sequence[Question]) -> dict[Position, Reply]:
        """Ask as many questions as capacity allows. Raises the exception that stops the run for now."""
        roles = [(question, self._roles[question.role]) for question in missing]
        endpoints = {role.endpoint_id for _, role in roles}
        self.release_capacity(but=endpoints)
        # Commit first, because attempts lock their endpoint before the run.
        self.commit_unsaved()
        direct = self._leave_to_batches(roles)
        with thread_quota.held({role.endpoint_id for _, role in direct}):
            return self._ask_at(direct)

    def _leave_to_batches(
        self, roles: Sequence[tuple[Question, RoleSpec]]
    ) -> list[tuple[Question, RoleSpec]]:
        """Return the questions to ask now. Raises AwaitsReplies if all questions go into a Message Batch."""
        waiting = [
            (question, role)
            for question, role in roles
            if can_wait(question, role, self._calls.get(position_of(question)), self._with_batches)
        ]
        if not waiting:
            return list(roles)
        note_waiting(
            self._lease,
            waiting,
            known=self._calls,
            refinement=self._refinement,
            endpoints=self._with_batches,
            secrets=self._secrets,
        )
        direct = [one for one in roles if one not in waiting]
        if not direct:
            raise rest_until_replies()
        return direct

    def _ask_at(self, roles: Sequence[tuple[Question, RoleSpec]]) -> dict[Position, Reply]:
        opening = model_calls.open_calls(
            self._lease,
            roles,
            batch_id=self._run.batch_id,
            known=self._calls,
            refinement=self._refinement,
            secrets=self._secrets,
        )
        for endpoint_id in opening.with_places:
            tell_waiting(endpoint_id)
        tries = {at: one for at, one in opening.outcomes.items() if isinstance(one, OpenedAttempt)}
        self._calls |= {at: opened.call for at, opened in tries.items()}
        self._asked_endpoints |= {opened.call.endpoint_id for opened in tries.values()}
        with call_watch.over(self._lease):
            ended = self._client.send(
                [(opened.target, opened.request) for opened in tries.values()]
            )
        # Write every reply before a failure stops the run, because each reply was billed.
        both = list(zip(tries.values(), ended, strict=True))
        outcomes = opening.outcomes | retry_while_database_is_away(
            lambda: model_calls.settle_attempts(self._lease, both)
        )
        for outcome in outcomes.values():
            if isinstance(outcome, Exception):
                raise outcome
        return {at: reply for at, reply in outcomes.items() if isinstance(reply, Reply)}

    def release_capacity(self, *, but: Collection[int] = ()) -> None:
        """Wake the runs that are waiting for endpoints that this passage no longer needs."""
        for endpoint_id in self._asked_endpoints.difference(but):
            tell_waiting(endpoint_id)
            self._asked_endpoints.discard(endpoint_id)

    def check(self, script: str) -> Report:
        if script not in self._reports:
            self._reports[script] = analyse(script, ToolRule.objects.in_force())
        return self._reports[script]

    def start_cases(self, case_set: CaseSet, draft: DraftMade) -> None:
        # Show the work in progress on the page before waiting for it.
        self.commit_unsaved()
        self._case_runs.start(case_set, draft.script)

    def end_cases(self, case_set: CaseSet, draft: DraftMade, *, round: int) -> Executed:
        before = self._stages.end_of(StageName.EXECUTE, round=round)
        if before is not None and before.outcome == "not_run":
            # Repeat the earlier outcome even if the result is known by now, because later steps relied on its absence.
            return Executed(case_set=case_set, reason=before.found.removeprefix(NOT_RUN))
        self.release_capacity()
        self.commit_unsaved()
        return self._case_runs.end(case_set, draft.script)

    def _check_lease(self) -> None:
        with transaction.atomic():
            self._lease.check()

    def commit_unsaved(self) -> None:
        """Save all new rows atomically."""
        if not (self._unsaved or self._matches or self._stages.has_unsaved):
            return
        with transaction.atomic():
            self._lease.check()
            self.save()
        self.forget_committed()

    def save(self) -> None:
        """Save inside a transaction that has checked the lease. Call `forget_committed` after the commit."""
        if self._matches:
            # Delete the matches of an earlier passage that stopped before it used them.
            self._run.matches.all().delete()
            RetrievedMatch.objects.bulk_create(self._matches)
        number = 0
        for row in self._unsaved:
            if isinstance(row, Draft):
                # Users also add Drafts, under the same lock on the run.
                number = number or self._run.drafts.aggregate(last=Max("number"))["last"] or 0
                number += 1
                row.number = number
            row.save(force_insert=True)
            if isinstance(row, Draft) and row.script in self._reports:
                keep_findings(row, self._reports[row.script])
        self._stages.save()

    def forget_committed(self) -> None:
        """Clear the saved rows after the commit, so that they are not saved twice."""
        self._unsaved, self._matches = [], []
        self._stages.forget()

    def begin(self, stage: StageName, *, round: int) -> None:
        self._stages.begin(stage, round=round)

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
        row = self._drafts[draft] if draft else None
        self._stages.end(stage, round=round, outcome=outcome, found=found, draft=row, ok=ok)

    def note_reading(self, question: Question, outcome: ReadingOutcome) -> None:
        self._stages.note_reading(question, outcome)

    def keep_draft(self, draft: DraftMade, report: Report | None = None) -> None:
        row = self._made.get((draft.kind.value, draft.round))
        if row is None:
            maker = MAKERS[draft.kind]
            asked = maker if isinstance(maker, AskedStage) else None
            row = Draft(
                run=self._run,
                kind=draft.kind.value,
                round=draft.round,
                refinement=self._refinement,
                script=draft.script,
                sha256=Version.hash_of(draft.script),
                arm=draft.arm.value,
                parent=self._drafts[draft.parent] if draft.parent else None,
                feedback=self._feedback[draft.feedback] if draft.feedback else None,
                version_id=draft.version_id,
                note=draft.note,
                model=self._roles[asked.role].model if asked else "",
                prompt_version=self._prompt_version(asked) if asked else "",
            )
            self._unsaved.append(row)
            self._new.add(draft)
        self._drafts[draft] = row

    def keep_feedback(self, feedback: FeedbackGiven) -> None:
        draft = self._drafts[feedback.draft]
        is_new = feedback.draft in self._new
        row = None if is_new else draft.feedbacks.filter(arm=Arm.MODEL.value).first()
        if row is None:
            row = Feedback(
                draft=draft,
                arm=Arm.MODEL.value,
                round=feedback.round,
                text=feedback.text,
                no_error_found=feedback.no_error_found,
                points=feedback.points,
                words=len(feedback.text.split()),
                model=self._roles[explain.STAGE.role].model,
                prompt_version=self._prompt_version(explain.STAGE),
            )
            self._unsaved.append(row)
        self._feedback[feedback] = row

    def keep_assessment(self, assessed: Assessed) -> None:
        draft = self._drafts[assessed.draft]
        if assessed.draft not in self._new and hasattr(draft, "assessment"):
            return
        row = Assessment(
            draft=draft,
            script_sha256=draft.sha256,
            verdict=assessed.verdict.value,
            why=assessed.why,
            syntax_ok=assessed.syntax_ok,
            functionality=assessed.functionality,
            similarity=assessed.similarity or "",
            similarity_reason=assessed.similarity_reason,
            difference=assessed.difference or "",
            difference_reason=assessed.difference_reason,
            differences=list(assessed.differences),
            model=self._roles[Role.ASSESSOR].model,
            prompt_versions={
                name: self._prompt_version(stage)
                for name, stage in ASKED_STAGES.items()
                if stage.judges
            },
        )
        self._unsaved.append(row)

    def keep_cases(
        self,
        case_set: CaseSet,
        *,
        number: int,
        stage: StageName,
        replaces: CaseSet | None = None,
        answers: Sequence[CaseAnswer] = (),
    ) -> None:
        version = self._prompt_version(ASKED_STAGES[stage.value])
        row = self._case_runs.keep(
            case_set, prompt_version=version, replaces=replaces.sha256 if replaces else ""
        )
        self._note_cases(row, number=number, version=version, answers=answers)

    def withdraw_cases(
        self,
        case_set: CaseSet,
        *,
        number: int,
        stage: StageName,
        answers: Sequence[CaseAnswer] = (),
    ) -> None:
        row = self._case_runs.withdraw(case_set)
        version = self._prompt_version(ASKED_STAGES[stage.value])
        self._note_cases(row, number=number, version=version, answers=answers)

    def _note_cases(
        self, row: CaseSetRow, *, number: int, version: str, answers: Sequence[CaseAnswer]
    ) -> None:
        """Record the run's cases, their author and the author's answers, once for each number."""
        if self._lease.fence > 1 and self._run.written_cases.filter(number=number).exists():
            return
        self._unsaved.append(
            WrittenCases(
                run=self._run,
                number=number,
                case_set=row,
                model=self._roles[Role.CASE_AUTHOR].model,
                prompt_version=version,
                answers=[
                    {"check": one.check, "answer": one.answer, "why": one.why} for one in answers
                ],
            )
        )

    def _prompt_version(self, stage: AskedStage[Reading]) -> str:
        """Return the run's version of the prompt. Older runs may lack the prompts of stages that were added later."""
        named = self._run.spec["prompts"].get(stage.prompt)
        return str(named or load(stage.prompt).version)


def roles_of(run: Run) -> dict[Role, RoleSpec]:
    """Return the models of the roles from the run's own snapshot."""
    return {
        Role(name): RoleSpec(**role | {"mode": Mode(role["mode"])})
        for name, role in run.roles.items()
    }


def _is_optional(question: Question) -> bool:
    return ASKED_STAGES[question.stage.value].optional
