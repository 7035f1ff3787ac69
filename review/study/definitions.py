"""The figures of the study, each with its definition in words beside what it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pipeline.types import Verdict
from review.study.criteria import Part, Seen
from review.study.translation import mark as _
from review.study.types import Origin, Recommended, Standing


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A figure. `part` says what an item adds to the numerator, and None where the figure is not about it.

    `beside` are the counts that stand next to it, by the key they have in the report.
    """

    name: str
    label: str
    text: str
    part: Part
    beside: Mapping[str, Callable[[Seen], bool]] = field(default_factory=dict)


def _first_pass(seen: Seen) -> bool | None:
    return seen.right


def _agreement(seen: Seen) -> bool | None:
    if seen.right is None or not seen.has_verdict:
        return None
    return seen.is_flagged is not seen.right


def _recall(seen: Seen) -> bool | None:
    return seen.is_flagged if seen.is_wrong and seen.is_assessed else None


def _precision(seen: Seen) -> bool | None:
    return None if seen.right is None or not seen.is_flagged else seen.is_wrong


def _feedback_useful(seen: Seen) -> bool | None:
    return seen.feedback if seen.is_wrong and not seen.is_failed else None


def _model_correction(seen: Seen) -> bool | None:
    return bool(seen.refined) if seen.is_wrong and seen.feedback else None


def _by_expert(seen: Seen) -> bool | None:
    return None if seen.right is None else seen.by_expert


def _by_assessor(seen: Seen) -> bool | None:
    return None if seen.right is None else seen.by_assessor


def _as_recommended(seen: Seen) -> bool | None:
    if seen.right is None or _has_no_recommendation(seen):
        return None
    return seen.as_recommended


def _fixed(seen: Seen) -> bool | None:
    return bool(seen.refined) if seen.is_flagged and seen.is_wrong else None


def _broken(seen: Seen) -> bool | None:
    return seen.refined is False if seen.is_flagged and seen.right else None


def _net(seen: Seen) -> int | None:
    return None if seen.right is None else int(bool(_fixed(seen))) - int(bool(_broken(seen)))


def _execution_agreement(seen: Seen) -> bool | None:
    if seen.right is None or seen.pattern.execution is None:
        return None
    return seen.right is seen.pattern.execution


def _has_no_recommendation(seen: Seen) -> bool:
    return seen.pattern.recommended is Recommended.NONE and not seen.is_failed


def _is_scored(seen: Seen) -> bool:
    return seen.right is not None


def _is_flagged_and_awaits(seen: Seen) -> bool:
    return _is_scored(seen) and seen.is_flagged and seen.awaits_refined


def _awaits_recommended(seen: Seen) -> bool:
    recommended = seen.pattern.recommended
    return recommended is Recommended.OTHER or (
        recommended is Recommended.REFINED and seen.awaits_refined
    )


FIGURES: tuple[Definition, ...] = (
    Definition(
        name="first_pass_accuracy",
        label=_("First-pass accuracy"),
        text=_(
            "First Drafts that are right, of all scored items. A Run that ended without a script counts "
            "as wrong. Beside it: items whose script was repaired after the syntax check, with the accuracy "
            "if those are taken as wrong; failed Runs; items that not all of their reviewers have scored."
        ),
        part=_first_pass,
        beside={
            "repaired": lambda seen: _is_scored(seen) and seen.pattern.origin is Origin.REPAIRED,
            "repaired_right": lambda seen: (
                bool(seen.right) and seen.pattern.origin is Origin.REPAIRED
            ),
            "failed": lambda seen: seen.is_failed,
            "pending": lambda seen: seen.pattern.script is Standing.PENDING,
        },
    ),
    Definition(
        name="assessor_agreement",
        label=_("Assessor agrees with experts"),
        text=_(
            "Passed and right, or flagged and wrong, of the scored items with the verdict correct or "
            "incorrect. Beside it: scored items whose verdict is unknown, and those never assessed."
        ),
        part=_agreement,
        beside={
            "unknown": lambda seen: _is_scored(seen) and seen.pattern.verdict is Verdict.UNKNOWN,
            "never_assessed": lambda seen: _is_scored(seen) and not seen.is_assessed,
        },
    ),
    Definition(
        name="assessor_recall",
        label=_("Wrong scripts that the assessor flags"),
        text=_(
            "Flagged and wrong, of all wrong items that were assessed; an unknown verdict is not a flag. "
            "Beside it: wrong items with an unknown verdict, and wrong items never assessed."
        ),
        part=_recall,
        beside={
            "unknown": lambda seen: seen.is_wrong and seen.pattern.verdict is Verdict.UNKNOWN,
            "never_assessed": lambda seen: seen.is_wrong and not seen.is_assessed,
        },
    ),
    Definition(
        name="assessor_precision",
        label=_("Flagged scripts that are wrong"),
        text=_("Flagged and wrong, of all scored items that the assessor flagged."),
        part=_precision,
    ),
    Definition(
        name="feedback_useful",
        label=_("Useful feedback"),
        text=_(
            "Right feedback, of the wrong first Drafts whose feedback has a final score; “no error found” "
            "is scored like any other. Beside it: wrong first Drafts whose feedback has none."
        ),
        part=_feedback_useful,
        beside={
            "unscored": lambda seen: seen.is_wrong and not seen.is_failed and seen.feedback is None
        },
    ),
    Definition(
        name="model_correction",
        label=_("Corrected from right feedback"),
        text=_(
            "Refined scripts that are right, of the wrong first Drafts with right feedback. Without a refined "
            "Draft, or unscored, it is not corrected. Beside it: how many are not scored, and how many have none."
        ),
        part=_model_correction,
        beside={
            "unscored": lambda seen: seen.is_wrong and bool(seen.feedback) and seen.awaits_refined,
            "not_refined": lambda seen: (
                seen.is_wrong and bool(seen.feedback) and not seen.pattern.has_refined
            ),
        },
    ),
    Definition(
        name="overall_expert_triggered",
        label=_("Overall accuracy, refined where experts say wrong"),
        text=_(
            "Right at first, or wrong at first and refined right, of all scored items; what is not scored yet "
            "counts as not corrected. Beside it: wrong items whose refined Draft is not scored yet, and wrong "
            "items without one."
        ),
        part=_by_expert,
        beside={
            "pending": lambda seen: seen.is_wrong and seen.awaits_refined,
            "not_refined": lambda seen: (
                seen.is_wrong and not seen.is_failed and not seen.pattern.has_refined
            ),
        },
    ),
    Definition(
        name="overall_assessor_triggered",
        label=_("Overall accuracy, refined where the assessor flags"),
        text=_(
            "The refined Draft’s score where the assessor flagged the first and a refined one exists, else the "
            "first Draft’s: right, of all scored items. The guard against self-doubt is ignored. Beside it: "
            "items that hang on a refined Draft not scored yet, which count as not right."
        ),
        part=_by_assessor,
        beside={"pending": _is_flagged_and_awaits},
    ),
    Definition(
        name="overall_as_recommended",
        label=_("Overall accuracy, as recommended"),
        text=_(
            "The score of the Draft that the product recommends, after the guard: right, of all scored items "
            "with a recommendation. Beside it: items whose recommended Draft is not scored, and those without a "
            "recommendation."
        ),
        part=_as_recommended,
        beside={
            "pending": lambda seen: _is_scored(seen) and _awaits_recommended(seen),
            "not_recommended": lambda seen: _is_scored(seen) and _has_no_recommendation(seen),
        },
    ),
    Definition(
        name="fixed",
        label=_("Fixed by refinement"),
        text=_(
            "Refined right, of the items that were flagged and wrong. Beside it: those whose refined Draft is "
            "not scored yet."
        ),
        part=_fixed,
        beside={"pending": lambda seen: seen.is_wrong and _is_flagged_and_awaits(seen)},
    ),
    Definition(
        name="broken",
        label=_("Broken by refinement"),
        text=_(
            "Refined wrong, of the items that were flagged and right: self-doubt. Beside it: those whose refined "
            "Draft is not scored yet."
        ),
        part=_broken,
        beside={"pending": lambda seen: bool(seen.right) and _is_flagged_and_awaits(seen)},
    ),
    Definition(
        name="net",
        label=_("Net effect of refinement"),
        text=_(
            "Fixed minus broken, of all scored items; signed. The p value is McNemar’s exact two-sided test, the "
            "interval Newcombe’s for paired shares (method 10)."
        ),
        part=_net,
        beside={
            "fixed": lambda seen: bool(_fixed(seen)),
            "broken": lambda seen: bool(_broken(seen)),
            "pending": _is_flagged_and_awaits,
        },
    ),
    Definition(
        name="execution_agreement",
        label=_("Execution agrees with experts"),
        text=_(
            "Experts and execution agree, of the items that have both; execution agrees with right only at full "
            "success. Beside it: the reasons given where they differ."
        ),
        part=_execution_agreement,
    ),
)
