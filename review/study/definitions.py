"""The figures of the study. Each definition is next to the code that calculates the figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.translation import gettext_noop as _
from pipeline.types import Verdict
from review.study.criteria import EndedItem, Outlook, Part, Patterns, made_patterns
from review.study.types import FinalScore, ItemPattern, Origin, Recommended


class Object(StrEnum):
    """A kind of object that a figure needs. Not every study has every object."""

    ASSESSOR = "assessor"
    FEEDBACK = "feedback"
    REFINED = "refined"
    RECOMMENDED = "recommended"
    EXECUTION = "execution"


@dataclass(frozen=True, kw_only=True)
class Definition:
    """The definition of a figure.

    `part` returns a finished item's contribution to the numerator, or None if the figure does not apply to the item.
    `beside` contains the counts that are shown with the figure, keyed by their names in the report. A Configuration has
    the figure only if all objects in `needs` exist. If items are open, `is_ranged` figures first show the range over
    all scored items.
    """

    name: str
    label: str
    text: str
    part: Part
    needs: tuple[Object, ...] = ()
    is_ranged: bool = False
    beside: Mapping[str, Callable[[Outlook], bool]] = field(default_factory=dict)


def objects_of(patterns: Patterns) -> frozenset[Object]:
    """Return the objects that exist among these items."""
    found = set()
    for pattern, _times in made_patterns(patterns):
        if pattern.verdict is not None:
            found.add(Object.ASSESSOR)
        if pattern.feedback is not FinalScore.ABSENT:
            found.add(Object.FEEDBACK)
        if pattern.refined is not FinalScore.ABSENT:
            found.add(Object.REFINED)
        if pattern.recommended is not Recommended.NONE:
            found.add(Object.RECOMMENDED)
        if pattern.execution is not None:
            found.add(Object.EXECUTION)
    return frozenset(found)


def _first_pass(seen: EndedItem) -> bool:
    return seen.right


def _agreement(seen: EndedItem) -> bool | None:
    return seen.is_flagged is not seen.right if seen.has_verdict else None


def _recall(seen: EndedItem) -> bool | None:
    return seen.is_flagged if seen.is_wrong and seen.is_assessed else None


def _precision(seen: EndedItem) -> bool | None:
    return seen.is_wrong if seen.is_flagged else None


def _feedback_useful(seen: EndedItem) -> bool | None:
    return seen.feedback if seen.is_wrong and not seen.is_failed else None


def _model_correction(seen: EndedItem) -> bool | None:
    return bool(seen.refined) if seen.is_wrong and seen.feedback else None


def _still_wrong(seen: EndedItem) -> bool:
    return seen.is_wrong and bool(seen.feedback) and not seen.refined


def _still_wrong_of_feedback(seen: EndedItem) -> bool | None:
    return _still_wrong(seen) if seen.is_wrong and seen.feedback else None


def _by_expert(seen: EndedItem) -> bool:
    return seen.by_expert


def _by_assessor(seen: EndedItem) -> bool:
    return seen.by_assessor


def _as_recommended(seen: EndedItem) -> bool | None:
    return None if _has_no_recommendation(seen.pattern) else seen.as_recommended


def _fixed(seen: EndedItem) -> bool | None:
    return bool(seen.refined) if seen.is_flagged and seen.is_wrong else None


def _broken(seen: EndedItem) -> bool | None:
    return seen.refined is False if seen.is_flagged and seen.right else None


def _net(seen: EndedItem) -> int:
    return int(bool(_fixed(seen))) - int(bool(_broken(seen)))


def _execution_agreement(seen: EndedItem) -> bool | None:
    return None if seen.pattern.execution is None else seen.right is seen.pattern.execution


def _has_no_recommendation(pattern: ItemPattern) -> bool:
    return pattern.recommended is Recommended.NONE and pattern.origin is not Origin.FAILED


def _is_wrong(one: Outlook) -> bool:
    return one.right is False and one.pattern.origin is not Origin.FAILED


def _is_unknown(one: Outlook) -> bool:
    return one.pattern.verdict is Verdict.UNKNOWN


def _was_never_assessed(one: Outlook) -> bool:
    return one.pattern.verdict is None


def _is_without_refined(one: Outlook) -> bool:
    return one.pattern.refined is FinalScore.ABSENT


OPEN_TEXT = _(
    "Items whose refined script is needed but has no final score are left out of the numerator and "
    "the denominator. With such items, the range over all scored items is shown first, with a "
    "value weighted by script (right or wrong) and verdict (flagged or passed)."
)
FIGURES: tuple[Definition, ...] = (
    Definition(
        name="first_pass_accuracy",
        label=_("First-pass accuracy"),
        text=_(
            "First drafts that are right, as a share of all scored items. A run that ended "
            "without a script counts as wrong. Also reported: items whose script was "
            "repaired after the syntax check, and the accuracy if they count as wrong; "
            "failed runs; items that some of their reviewers have not scored."
        ),
        part=_first_pass,
        beside={
            "repaired": lambda one: one.pattern.origin is Origin.REPAIRED,
            "repaired_right": lambda one: (
                one.right is True and one.pattern.origin is Origin.REPAIRED
            ),
            "failed": lambda one: one.pattern.origin is Origin.FAILED,
        },
    ),
    Definition(
        name="assessor_agreement",
        label=_("Assessor agrees with experts"),
        text=_(
            "Items that are passed and right or flagged and wrong, as a share of the "
            "scored items that were passed or flagged. Also reported: scored items with an "
            "unknown verdict, and those that were never assessed."
        ),
        part=_agreement,
        needs=(Object.ASSESSOR,),
        beside={"unknown": _is_unknown, "never_assessed": _was_never_assessed},
    ),
    Definition(
        name="assessor_recall",
        label=_("Assessor recall"),
        text=_(
            "Flagged items as a share of all wrong items that were assessed. An unknown "
            "verdict is not a flag. Also reported: wrong items with an unknown verdict, "
            "wrong items that were never assessed, and the coverage, which is the share of "
            "scored items that were passed or flagged."
        ),
        part=_recall,
        needs=(Object.ASSESSOR,),
        beside={
            "unknown": lambda one: one.right is False and _is_unknown(one),
            "never_assessed": lambda one: one.right is False and _was_never_assessed(one),
            "covered": lambda one: one.pattern.verdict in (Verdict.CORRECT, Verdict.INCORRECT),
        },
    ),
    Definition(
        name="assessor_precision",
        label=_("Assessor precision"),
        text=_("Wrong items as a share of all scored items that the assessor flagged."),
        part=_precision,
        needs=(Object.ASSESSOR,),
    ),
    Definition(
        name="feedback_useful",
        label=_("Useful feedback"),
        text=_(
            "Right feedback, as a share of the wrong first drafts whose feedback has a "
            "final score. “No error found” is scored like any other feedback. Also "
            "reported: wrong first drafts whose feedback has no final score, and those "
            "without feedback."
        ),
        part=_feedback_useful,
        needs=(Object.FEEDBACK,),
        beside={
            "unscored": lambda one: _is_wrong(one) and one.is_open(_feedback_useful),
            "absent": lambda one: _is_wrong(one) and one.pattern.feedback is FinalScore.ABSENT,
        },
    ),
    Definition(
        name="model_correction",
        label=_("Corrected after useful feedback"),
        text=_(
            "Refined scripts that are right, as a share of the wrong first drafts with "
            "right feedback. A first draft without a refined script is not corrected. A "
            "refined script without a final score is left out. Also reported: the number "
            "of each."
        ),
        part=_model_correction,
        needs=(Object.FEEDBACK, Object.REFINED),
        beside={
            "unscored": lambda one: _is_wrong(one) and one.is_open(_model_correction),
            "not_refined": lambda one: (
                _is_wrong(one) and one.closed(_model_correction) == 0 and _is_without_refined(one)
            ),
        },
    ),
    Definition(
        name="still_wrong_of_feedback",
        label=_("Still wrong after useful feedback, of useful feedback"),
        text=_(
            "The share of wrong first drafts with right feedback whose refined script is "
            "not right, or that were not refined. Under the partial criterion, partly "
            "right feedback counts as right."
        ),
        part=_still_wrong_of_feedback,
        needs=(Object.FEEDBACK, Object.REFINED),
    ),
    Definition(
        name="still_wrong_of_items",
        label=_("Still wrong after useful feedback, of all items"),
        text=_(
            "The same items as a share of all scored items. The share of wrong first drafts with correct "
            "feedback is a different figure, so a report must state which of the two it uses."
        ),
        part=_still_wrong,
        needs=(Object.FEEDBACK, Object.REFINED),
        is_ranged=True,
    ),
    Definition(
        name="overall_expert_triggered",
        label=_("Overall accuracy, refinement triggered by experts"),
        text=_(
            "Items that are right at first, or wrong at first and right after refinement, "
            "as a share of all scored items. This is an oracle: in production, no expert "
            "decides what to refine. Without a refined draft, the first draft counts. Also "
            "reported: wrong items without a refined draft."
        ),
        part=_by_expert,
        needs=(Object.REFINED,),
        is_ranged=True,
        beside={"not_refined": lambda one: _is_wrong(one) and _is_without_refined(one)},
    ),
    Definition(
        name="overall_assessor_triggered",
        label=_("Overall accuracy, refinement triggered by the assessor"),
        text=_(
            "Right scripts as a share of all scored items. The refined draft counts if the "
            "assessor flagged the first draft and a refined one exists; otherwise, the "
            "first draft counts. The guard against self-doubt is ignored."
        ),
        part=_by_assessor,
        needs=(Object.ASSESSOR, Object.REFINED),
        is_ranged=True,
    ),
    Definition(
        name="overall_as_recommended",
        label=_("Overall accuracy, as recommended"),
        text=_(
            "Right recommended drafts as a share of all scored items with a "
            "recommendation. The draft that ScriptSmith recommends after the guard counts. "
            "Also reported: items without a recommendation."
        ),
        part=_as_recommended,
        needs=(Object.RECOMMENDED,),
        is_ranged=True,
        beside={"not_recommended": lambda one: _has_no_recommendation(one.pattern)},
    ),
    Definition(
        name="fixed",
        label=_("Fixed by refinement"),
        text=_(
            "Items that are right after refinement, as a share of the items that were flagged "
            "and wrong."
        ),
        part=_fixed,
        needs=(Object.ASSESSOR, Object.REFINED),
    ),
    Definition(
        name="broken",
        label=_("Broken by refinement"),
        text=_(
            "Items that are wrong after refinement (self-doubt), as a share of the items that "
            "were right but flagged."
        ),
        part=_broken,
        needs=(Object.ASSESSOR, Object.REFINED),
    ),
    Definition(
        name="net",
        label=_("Net effect of refinement"),
        text=_(
            "Fixed minus broken items, as a signed share of all scored items. The p value "
            "is from McNemar’s exact two-sided test, and the interval is Newcombe’s for "
            "paired proportions (method 10)."
        ),
        part=_net,
        needs=(Object.ASSESSOR, Object.REFINED),
        is_ranged=True,
        beside={
            "fixed": lambda one: bool(one.closed(_fixed)),
            "broken": lambda one: bool(one.closed(_broken)),
        },
    ),
    Definition(
        name="execution_agreement",
        label=_("Execution agrees with experts"),
        text=_(
            "Items on which experts and execution agree, as a share of the items that have both. "
            "An execution result counts as right only at full success. Also reported: the reasons "
            "given for differences."
        ),
        part=_execution_agreement,
        needs=(Object.EXECUTION,),
    ),
)
BOUNDS_TEXT = _(
    "An item is open if the figure needs its score and the score is pending or unresolved. "
    "Open items are in neither the numerator nor the denominator. The bounds cover every "
    "possible outcome of the open items."
)
INTERVAL_TEXT = _(
    "95% Wilson intervals. If statements are repeated, items that share a statement are not "
    "independent. The interval then uses the effective number of items, which is the number of items "
    "divided by the design effect (shown as deff)."
)
