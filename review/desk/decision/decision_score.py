"""Merge autosaved fields into the score and comment that a reviewer submits with a decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from core.errors import BadInput, NotAllowedNow, Stale
from pipeline.types import Arm
from review.blinding.item_view import ItemView, Step
from review.desk.scores import MAX_COMMENT, ScoreInput
from review.models import Score


@dataclass(frozen=True, kw_only=True)
class ScoreForm:
    """The score form that is submitted with a decision. An empty `stage` is the stage of the decided Draft."""

    stage: str = ""
    arm: str = Arm.MODEL.value
    value: int | None = None  # None if no score is selected
    comment: str | None = None  # None if no comment was sent
    seen: int | None = None  # key of the Draft or Feedback that was scored
    view: str = Score.View.PLAIN
    active_seconds: float | None = None
    pauses: int = 0
    revision: int | None = None  # revision of the autosaved fields on the page; None for API calls


@dataclass(frozen=True)
class PendingScore:
    """The score and comment to store with a decision, and their stage."""

    step: Step
    value: int | None
    comment: str
    sent: ScoreForm

    def given(self, value: int) -> ScoreInput:
        """Return the input for a score with this value."""
        return ScoreInput(
            stage=self.step.stage,
            arm=self.step.arm,
            value=value,
            seen=self.step.seen or 0,
            comment=self.comment,
            view=self.sent.view,
            active_seconds=self.sent.active_seconds,
            pauses=self.sent.pauses,
        )

    def as_kept(self) -> dict[str, object]:
        """Return the JSON to store with the decision. Undo restores the form fields from this JSON."""
        return {"step": self.step.key, "value": self.value, "comment": self.comment}


def read_score_form(desk: ItemView, sent: ScoreForm | None, *, target: Step) -> PendingScore:
    """Return the score and comment to store. Autosaved fields are never ignored.

    `target` is the stage of the decided Draft. Autosaved fields count as long as their stage has no score.

    - A page with the newest revision shows all autosaved fields of its stage. The submitted values count, even if
      empty.
    - A page with an older revision does not show values that another tab or device has saved since then. If they differ
      from the submitted values, NotAllowedNow reports the saved values, and nothing is stored.
    - API calls have no page. Values that are not sent are read from the autosaved fields. A saved 0 therefore prevents
      an approval, and a saved comment is stored.
    - Autosaved fields of another open stage are not on the page, so they raise NotAllowedNow too.

    Raises BadInput for an invalid value or comment, and Stale if the form was filled in for another Draft or Feedback.
    """
    sent = sent or ScoreForm()
    step = _step_of(desk, sent, target)
    _check(sent)
    value, comment = sent.value, (sent.comment or "").strip()
    kept = desk.scratch.fields if desk.scratch else {}
    is_shown = desk.scratch is None or sent.revision == desk.scratch.revision
    for one in desk.steps:
        if one.key in desk.scores:
            continue
        kept_value, kept_comment = _kept_of(one, kept)
        if one == step and sent.revision is None:
            value = kept_value if value is None else value
            comment = kept_comment if sent.comment is None else comment
        elif one == step:
            if not is_shown and (kept_value, kept_comment) not in ((None, ""), (value, comment)):
                raise NotAllowedNow(_say_kept(kept_value, kept_comment))
        elif kept_value is not None or kept_comment:
            raise NotAllowedNow(_say_kept(kept_value, kept_comment))
    before = desk.scores.get(step.key)
    if value is None and comment and before is not None:
        value = before.value
    return PendingScore(step, value, comment, sent)


def _step_of(desk: ItemView, sent: ScoreForm, target: Step) -> Step:
    if not sent.stage:
        return target
    for step in desk.steps:
        if (step.stage, step.arm) == (sent.stage, sent.arm):
            if sent.seen is not None and step.seen != sent.seen:
                raise Stale(_("The script has changed since you scored it."), newest=0)
            return step
    if sent.value is None and not (sent.comment or "").strip():
        return target
    raise NotAllowedNow(_("This stage is not open yet. Score the earlier stages first."))


def _check(sent: ScoreForm) -> None:
    if sent.value is not None and sent.value not in Score.Value.values:
        raise BadInput(_("The score must be 0, 1 or 2."), field="value")
    if len(sent.comment or "") > MAX_COMMENT:
        raise BadInput(
            _("The comment is longer than %s characters.") % f"{MAX_COMMENT:,}", field="comment"
        )


def _kept_of(step: Step, kept: Mapping[str, object]) -> tuple[int | None, str]:
    value = kept.get(f"value-{step.key}")
    comment = str(kept.get(f"comment-{step.key}", "")).strip()
    return int(str(value)) if value in ("0", "1", "2") else None, comment


def _say_kept(value: int | None, comment: str) -> str:
    said = _(
        "No decision was saved, because this page does not show your saved score or comment. Check them below."
    )
    if value is not None:
        said += " " + _("Score: %s.") % value
    if comment:
        said += " " + _("Comment: “%s”.") % comment[:200]
    return said
