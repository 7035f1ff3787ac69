"""Generate random items, in the product's counts and in the export format that the recount reads."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from pipeline.types import Arm, Verdict
from review.study import GivenScore, Judged, Stage
from review.study.types import Origin, Recommended
from tests.review.study.recount.records import Record, Study, read_study

_VERDICTS = (Verdict.CORRECT, Verdict.INCORRECT, Verdict.INCORRECT, Verdict.UNKNOWN, None)
_ORIGINS = (Origin.MADE,) * 8 + (Origin.REPAIRED, Origin.REPAIRED, Origin.RETRIEVED, Origin.FAILED)
_RECOMMENDED = {False: (Recommended.FIRST, Recommended.NONE), True: tuple(Recommended)[:2]}


def random_item(source: random.Random) -> Judged:
    """Return an item that needs one to three reviewers. Any of them may have scored each stage."""
    origin = source.choice(_ORIGINS)
    has_feedback = origin is not Origin.FAILED and source.random() < 0.8
    has_refined = has_feedback and source.random() < 0.8
    there = {Stage.SCRIPT: origin is not Origin.FAILED, Stage.FEEDBACK: has_feedback}
    wanted = source.choice((1, 2, 2, 3))
    scorers = [reviewer for reviewer in range(1, wanted + 1) if source.random() < 0.85]
    return Judged(
        scores=tuple(
            GivenScore(reviewer=reviewer, stage=stage, value=source.choice((0, 1, 2, 2)))
            for stage in Stage
            for reviewer in (scorers if there.get(stage, has_refined) else ())
            if source.random() < 0.85
        ),
        adjudicated={
            (stage, Arm.MODEL): source.choice((0, 1, 2))
            for stage in Stage
            if there.get(stage, has_refined) and source.random() < 0.1
        },
        origin=origin,
        verdict=None if origin is Origin.FAILED else source.choice(_VERDICTS),
        wanted=wanted,
        has_feedback=has_feedback,
        has_refined=has_refined,
        is_same=has_refined and source.random() < 0.15,
        recommended=source.choice(_RECOMMENDED[has_refined]),
        execution=source.choice((None, 0.0, 0.5, 1.0)),
        execution_reason=source.choice(("", "too_strict", "other")),
        feedback_words=source.choice((5, 50, 500)) if has_feedback else None,
    )


def drawn_items(seed: int, *, most: int = 16) -> list[Judged]:
    """Return the items of a seed. The list may be empty."""
    source = random.Random(seed)
    return [random_item(source) for _ in range(source.randint(0, most))]


def exported(items: Sequence[Judged]) -> Study:
    """Return the items as the study that the recount would read. Each item has a separate statement."""
    records: list[Record] = []
    for number, item in enumerate(items):
        about = {"configuration": "arm", "id": f"case-{number}", "item": f"case-{number}"}
        script = f"echo {number}\n"
        refined = script if item.is_same else f"echo -n {number}\n"
        records.append(
            {
                **about,
                "record": "item",
                "statement": f"Do {number}",
                "made": item.origin.value,
                "overlap": item.wanted,
                "script": "" if item.origin is Origin.FAILED else script,
                "feedback": " ".join(["no"] * (item.feedback_words or 0)),
                "refined": refined if item.has_refined else "",
                "verdict": item.verdict.value if item.verdict else "",
                "recommended": item.recommended.value,
                "execution": item.execution,
                "execution_reason": item.execution_reason,
            }
        )
        for score in item.scores:
            said = {"reviewer": f"r{score.reviewer}", "stage": score.stage, "value": score.value}
            records.append({**about, **said, "record": "score"})
        for (stage, _arm), value in item.adjudicated.items():
            said = {"reviewer": "judge", "stage": stage, "value": value}
            records.append({**about, **said, "record": "adjudication"})
    return read_study(json.dumps(one) for one in records)
