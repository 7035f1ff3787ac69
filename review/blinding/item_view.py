"""The parts of an item that a reviewer sees at each stage. All rules that hide parts of a study are in this module.

The script is scored first. The feedback and the refined script open if the reviewer scores the script below 2, or if
the assessor flagged the script and a refinement exists. Without the second condition, a study could not measure how
often refinement breaks correct scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.contrib.auth.models import User
from django.utils import timezone

from pipeline.models import Assessment, Draft, DraftFinding, Feedback, Refinement, Run
from pipeline.types import Arm, Verdict
from review.blinding.exposure import note_run, note_runs
from review.blinding.hidden_runs import as_first_draft
from review.blinding.item_queries import (
    findings_of,
    read_assignment,
    read_drafts,
    read_first_drafts,
    read_scored_drafts,
    read_scores,
    read_scratch,
)
from review.models import (
    Assignment,
    Campaign,
    Case,
    Decision,
    Item,
    Reveal,
    Score,
    Scratch,
    SentBack,
)
from review.models.score import OTHERS
from review.study.first_draft import first_draft_of


@dataclass(frozen=True)
class Step:
    """A Draft or Feedback to score, with its stage and arm."""

    stage: str
    arm: str
    draft: Draft | None = None
    feedback: Feedback | None = None
    is_of_another: bool = False  # refined from another expert's feedback

    @property
    def key(self) -> str:
        return f"{self.stage}-{OTHERS if self.is_of_another else self.arm}"

    @property
    def seen(self) -> int | None:
        """Return the primary key of the Draft or Feedback to score."""
        scored = self.draft or self.feedback
        return scored.pk if scored else None


@dataclass
class ItemView:
    """An item as its reviewer sees it, opened once per request. Each part is loaded by one query on first access."""

    item: Item
    reviewer: User
    run: Run
    # All of this reviewer's scores for the item, oldest first. `scores` contains only the current scores.
    given: list[Score]
    # Set when a score is saved, to load all parts together that the score may open.
    reads_all: bool = False
    # Load texts and findings too. Saving a score needs neither.
    shows: bool = True

    def __post_init__(self) -> None:
        self.scores = {score.step_key: score for score in self.given if score.current}

    # --- Loaded data --------------------------------------------------------------------------------------------

    @cached_property
    def assignment(self) -> Assignment | None:
        """Return the reviewer's active, waiting or submitted assignment to the item."""
        mine = next(iter(read_assignment(self.item.pk, self.reviewer.pk)), None)
        if mine is not None:
            # Reuse these objects to save queries for the assignment's item and reviewer.
            mine.item, mine.reviewer = self.item, self.reviewer
        return mine

    @cached_property
    def drafts(self) -> list[Draft]:
        """Return the run's Drafts, or only candidates for the first Draft before the script is scored.

        If later Drafts were loaded too, the response time would reveal that they exist.
        """
        read = read_first_drafts
        if self._may_read_all:
            read = read_drafts if self.shows else read_scored_drafts
        drafts = read(self.run.pk)
        for draft in drafts:
            draft.run = self.run
        return as_first_draft(drafts, first_draft_of(drafts)) if self._is_halo else drafts

    @property
    def _may_read_all(self) -> bool:
        return (
            self.reads_all
            or self._is_halo
            or self.script_score is not None
            or not self.item.campaign.hides_verdict
            or Reveal.What.VERDICT in self.revealed
        )

    @cached_property
    def feedbacks(self) -> list[Feedback]:
        found = Feedback.objects.filter(draft__run=self.run).order_by("pk")
        return [] if self._is_halo else list(found)

    @cached_property
    def refinements(self) -> list[Refinement]:
        return [] if self._is_halo else list(self.run.refinements.all())

    @cached_property
    def revealed(self) -> set[str]:
        """Return the parts that the reviewer revealed early. No query runs if the campaign forbids early reveals."""
        if not self.item.campaign.may_reveal:
            return set()
        found = Reveal.objects.filter(item=self.item, reviewer=self.reviewer)
        return set(found.values_list("what", flat=True))

    @cached_property
    def decision(self) -> Decision | None:
        if not self.item.campaign.is_live:
            return None
        decisions = self.item.decisions.filter(undone_at=None)
        return decisions.select_related("by", "draft", "edited").first()

    @cached_property
    def scratch(self) -> Scratch | None:
        if not getattr(self.item, "has_scratch", True):
            return None
        return next(iter(read_scratch(self.item.pk, self.reviewer.pk)), None)

    @cached_property
    def sent_back(self) -> SentBack | None:
        """Return the unanswered request to review the item again, or None."""
        if not self.given or self.assignment is None or self.item.campaign.is_live:
            return None
        return self.assignment.sent_back.filter(answered_at=None).first()

    @cached_property
    def findings(self) -> dict[int, list[DraftFinding]]:
        """Return the findings of static checks for each Draft."""
        return {draft.pk: findings_of(draft) for draft in self.drafts}

    @property
    def _is_halo(self) -> bool:
        """Return whether this is a halo check, which shows the refined script as the first Draft and hides the rest."""
        return self.item.again == Item.Again.HALO

    # --- Stages -------------------------------------------------------------------------------------------------

    @cached_property
    def first(self) -> Draft | None:
        """Return the Draft that the first verdict is about. After a syntax repair, this is the repaired Draft."""
        return first_draft_of(self.drafts)

    @cached_property
    def assessment(self) -> Assessment | None:
        return assessment_of(self.first)

    @cached_property
    def is_flagged(self) -> bool:
        return bool(self.assessment and self.assessment.verdict == Verdict.INCORRECT)

    def feedback_in(self, arm: str) -> Feedback | None:
        """Return the newest feedback on the first Draft in an arm.

        In the experts' arm, ignore other reviewers' feedback.
        """
        found = [
            feedback
            for feedback in self.feedbacks
            if self.first
            and feedback.draft_id == self.first.pk
            and feedback.arm == arm
            and (arm == Arm.MODEL or feedback.author_id == self.reviewer.pk)
        ]
        return found[-1] if found else None

    def refined_in(self, arm: str) -> Draft | None:
        """Return the Draft refined from the arm's feedback, even if the guard does not recommend it.

        Without such Drafts, the guard would hide the effect of refinement.
        """
        feedback = self.feedback_in(arm)
        made = [draft for draft in self.drafts if feedback and draft.feedback_id == feedback.pk]
        return made[0] if made else None

    @cached_property
    def refined_by_another(self) -> Draft | None:
        """Return the Draft refined from another expert's feedback that this reviewer scores, or None.

        This stage exists only in studies. The stage opens after every stage of the model's arm is scored. A reviewer
        who has finished the item does not get this stage.
        """
        item = self.item
        if item.campaign.is_live or item.again or item.case.purpose != Case.Purpose.REAL:
            return None
        if self.refined_in(Arm.MODEL) is None or "refined-model" not in self.scores:
            return None
        earlier = {
            one.pk
            for one in self.feedbacks
            if one.arm == Arm.EXPERT and one.author_id not in (None, self.reviewer.pk)
        }
        made = sorted(
            (one for one in self.drafts if one.feedback_id in earlier),
            key=lambda one: one.feedback_id or 0,
        )
        given = self.scores.get(f"refined-{OTHERS}")
        if given is not None:
            return next((one for one in made if one.pk == given.draft_id), None)
        if not made or self.assignment is None:
            return None
        is_through = self.assignment.state == Assignment.State.SUBMITTED
        return None if is_through else made[0]

    # --- Open stages --------------------------------------------------------------------------------------------

    @property
    def script_score(self) -> Score | None:
        return self.scores.get("script-model")

    @cached_property
    def opens_later_stages(self) -> bool:
        """Return whether the script is scored and its score opens the feedback and the refined script."""
        return self.script_score is not None and self.opens_at(self.script_score.value)

    def opens_at(self, value: int) -> bool:
        """Return whether this script score opens the feedback and the refined script."""
        return value < Score.Value.CORRECT or (
            (self.is_flagged or self.item.sham) and self.refined_in(Arm.MODEL) is not None
        )

    @cached_property
    def steps(self) -> list[Step]:
        """Return the stages to score that are visible now, in order."""
        if self.first is None:
            return []
        steps = [Step("script", Arm.MODEL.value, draft=self.first)]
        if not self.opens_later_stages:
            return steps
        for arm in (Arm.MODEL.value, Arm.EXPERT.value):
            feedback, refined = self.feedback_in(arm), self.refined_in(arm)
            # Reviewers do not score their own feedback.
            if feedback and arm == Arm.MODEL:
                steps.append(Step("feedback", arm, feedback=feedback))
            if refined and (arm == Arm.EXPERT or "feedback-model" in self.scores):
                steps.append(Step("refined", arm, draft=refined))
        if others := self.refined_by_another:
            steps.append(Step("refined", Arm.EXPERT.value, draft=others, is_of_another=True))
        return steps

    @property
    def shown_drafts(self) -> list[Draft]:
        """Return the Drafts that this reviewer may see now, in the order of their stages."""
        return [step.draft for step in self.steps if step.draft]

    @cached_property
    def next_step(self) -> Step | None:
        """Return the first visible stage without a score."""
        return next((step for step in self.steps if step.key not in self.scores), None)

    @cached_property
    def is_preparing(self) -> bool:
        """Return whether a refinement of this item is in progress."""
        return any(one.state == Refinement.State.WAITING for one in self.refinements)

    @cached_property
    def can_ask_feedback(self) -> bool:
        """Return whether this reviewer can request feedback on the script.

        The reviewer must have scored the script as wrong in the review queue. The script must have no feedback, and no
        request for feedback may be in progress.
        """
        return (
            self.item.campaign.is_live
            and self.script_score is not None
            and self.script_score.value < Score.Value.CORRECT
            and self.feedback_in(Arm.MODEL.value) is None
            and not any(
                one.feedback_id is None and one.state != Refinement.State.FAILED
                for one in self.refinements
            )
        )

    def take(self, score: Score) -> None:
        """Add a score that was just saved, and recalculate the visible stages."""
        self.given.append(score)
        self.scores[score.step_key] = score
        self._work_out()

    def drop(self, score: Score, before: Score | None) -> None:
        """Replace a current score with the score `before`, if any, and recalculate the visible stages."""
        del self.scores[score.step_key]
        if before is not None:
            self.scores[before.step_key] = before
        self._work_out()

    def _work_out(self) -> None:
        names = ["opens_later_stages", "steps", "next_step", "visible", "refined_by_another"]
        if not self.reads_all:
            names += ["drafts", "findings", "first", "assessment", "is_flagged", "newest"]
        for name in names:
            self.__dict__.pop(name, None)

    # --- Visibility -----------------------------------------------------------------------------------------------

    @cached_property
    def visible(self) -> dict[str, bool]:
        """Return a dict of the parts that this reviewer can see now. Each score stores this dict."""
        campaign, scored = self.item.campaign, self.script_score is not None
        if not campaign.is_live:
            # Between the stages of a study, the verdict would reveal which later stages are sham.
            scored = scored and self.next_step is None
        shows_verdict = scored or not campaign.hides_verdict or "verdict" in self.revealed
        return {
            "verdict": shows_verdict and not self.is_training,
            "feedback": self.opens_later_stages or "verdict" in self.revealed,
            "models": not campaign.hides_models or "models" in self.revealed,
            "reviewers": not campaign.hides_reviewers or "reviewers" in self.revealed,
            "execution": not campaign.hides_execution or "execution" in self.revealed,
            "reference": not campaign.hides_reference or "reference" in self.revealed,
        }

    @property
    def is_training(self) -> bool:
        """Return whether this is a training item, which shows the correct scores afterward, but never the verdict."""
        item = self.item
        return not item.campaign.is_live and item.case.purpose == Case.Purpose.TRAINING

    @property
    def is_closed(self) -> bool:
        return self.item.state != Item.State.OPEN

    @property
    def may_change_until(self) -> datetime | None:
        """Return the deadline for changing the scores of a finished study item, or None if they can't be changed."""
        assignment = self.assignment
        if (
            self.item.campaign.is_live
            or assignment is None
            or assignment.state != Assignment.State.SUBMITTED
            or assignment.ended_at is None
        ):
            return None
        until = assignment.ended_at + timedelta(minutes=self.item.campaign.edit_minutes)
        return until if until > timezone.now() else None


def assessment_of(draft: Draft | None) -> Assessment | None:
    """Return the Draft's assessment, or None if it has none."""
    return getattr(draft, "assessment", None) if draft else None


def note_shown_by(desk: ItemView) -> None:
    """Record that the page shows the verdict, unless a script score in the review queue already implies that."""
    if not (desk.item.campaign.is_live and desk.script_score):
        note_run(desk.reviewer, desk.run)


def note_evidence_shown_by(desk: ItemView) -> None:
    """Record that the page shows sandbox tests, which give hints about every run of the statement in a study."""
    of_studies = Item.objects.filter(
        run__action__statement_sha256=desk.run.action.statement_sha256,
        campaign__kind=Campaign.Kind.STUDY,
    ).exclude(campaign__state=Campaign.State.CLOSED)
    note_runs(desk.reviewer, of_studies.values_list("run", flat=True))


def open_item(
    item: Item,
    reviewer: User,
    *,
    assignment: Assignment | None = None,
    reads_all: bool = False,
    shows: bool = True,
) -> ItemView:
    """Return the view of an item that a reviewer may see.

    Pass `assignment` to save a query if the item was just assigned. `reads_all` loads all parts that a saved score may
    open. Without `shows`, script texts and findings are not loaded.
    """
    run = item.run
    if run is None:
        raise ValueError("an item without a run can't be reviewed")
    # Skip the query if `read_item` found that the reviewer has no scores.
    has_scores = getattr(item, "has_scores", True)
    given = read_scores(item.pk, reviewer.pk) if has_scores else []
    desk = ItemView(
        item=item, reviewer=reviewer, run=run, given=given, reads_all=reads_all, shows=shows
    )
    if assignment is not None:
        assignment.item, assignment.reviewer = item, reviewer
        desk.__dict__["assignment"] = assignment
    return desk
