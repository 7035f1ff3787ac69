"""The parameters of the generated studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The parameters of a study. All parameters from `unknown` on are shares of the items or scores."""

    seed: int
    items: int = 240
    overlap: int | None = 2  # None: not in the file, so all raters are required
    reviewers: int = 0  # `overlap` of them score each item; 0 means as many as `overlap`
    per_statement: int = 1
    arms: tuple[str, ...] = ("imported",)
    right: float = 0.45
    careful: float = 0.85  # probability that a reviewer gives the deserved score
    has_verdicts: bool = True
    has_texts: bool = True
    has_long_feedback: bool = False  # feedback of every length, and some without an error
    # The campaign's rules, as in its export.
    rules: Mapping[str, object] = field(default_factory=dict)
    unknown: float = 0.0
    not_assessed: float = 0.0
    no_feedback: float = 0.1
    no_refined: float = 0.1
    same_refined: float = 0.03
    # Share of refined scripts that are refined again, half of them a third time.
    rounds: float = 0.0
    same_script: float = 0.0  # share of items with the same script in both arms
    copied: float = 0.5  # share of scores of an identical text that are copied to the other arm
    only_neighbours: bool = False  # whether scores differ by at most 1
    adjudicated: float = 0.5  # share of disagreements with a final score
    overturned: float = 0.0
    missing: float = 0.0
    cannot_judge: float = 0.0
    skipped: float = 0.0
    called_in: float = 0.0
    not_blind: float = 0.0
    # Share of scores that record what was visible, which may be more than the stage shows.
    seen: float = 0.0
    changed: float = 0.0
    undone: float = 0.0
    untimed: float = 0.0
    tied: float = 0.0  # share of changed scores with the time of the previous score
    timed_work: float = 0.0  # share of scores with a duration
    experts: float = 0.0
    retrieved: float = 0.0
    repaired: float = 0.05
    failed: float = 0.0
    executed: float = 0.0
    recommended: float = 0.0
    running: float = 0.0  # share of incomplete items whose run is in progress
    sham: float = 0.0
    gold: float = 0.0
    again: float = 0.0  # share of items with a hidden repeat, and of items with a halo check
    withdrawn: float = 0.0


_FEW = dict.fromkeys(
    (
        *("unknown", "not_assessed", "missing", "cannot_judge", "not_blind", "changed"),
        *("experts", "retrieved", "failed", "executed", "recommended", "sham", "gold"),
        *("withdrawn", "called_in", "overturned", "skipped", "seen", "undone", "untimed"),
        *("tied", "timed_work", "again"),
    ),
    0.08,
)
_PRIMARY = {"primary_figure": "overall_assessor_triggered", "primary_criterion": "strict"}
STUDIES: dict[str, Shape] = {
    "overlap two": Shape(seed=1, executed=0.7, has_long_feedback=True),
    "overlap three": Shape(seed=2, overlap=3, items=600, reviewers=4, called_in=0.2),
    "overlap five": Shape(seed=3, overlap=5, items=400),
    "unknown verdicts": Shape(seed=4, unknown=0.25, not_assessed=0.1, executed=0.3),
    "unresolved by one criterion": Shape(
        seed=5, only_neighbours=True, adjudicated=0.0, careful=0.7, recommended=0.9
    ),
    "adjudicated": Shape(seed=6, adjudicated=1.0, overturned=0.05, careful=0.7),
    "not blind": Shape(seed=7, items=600, overlap=3, not_blind=0.15, missing=0.05, seen=0.3),
    "not hidden": Shape(
        **{"seed": 19, "overlap": 2, "not_blind": 0.1, "changed": 0.2, "seen": 0.4},
        rules={"hides_verdict": False, "hides_models": False},
    ),
    "same text in two arms": Shape(
        seed=8,
        items=200,
        arms=("small", "large"),
        same_script=0.5,
        adjudicated=0.6,
        rules={**_PRIMARY, "primary_first": "small", "primary_second": "large"},
    ),
    "expert arm": Shape(seed=9, experts=0.5),
    "expert arm of repeated statements": Shape(seed=20, experts=0.8, per_statement=3),
    "several rounds": Shape(seed=10, recommended=0.95, items=200, rounds=0.7, missing=0.03),
    "repeated statements": Shape(
        seed=11, items=360, per_statement=3, arms=("one", "two"), executed=0.5, careful=0.9
    ),
    "retrieved and failed": Shape(
        seed=12, retrieved=0.15, failed=0.1, repaired=0.2, withdrawn=0.05, gold=0.05, again=0.1
    ),
    "absent feedback and refined": Shape(
        seed=13, items=600, no_feedback=0.4, no_refined=0.5, same_refined=0.2
    ),
    "still running": Shape(
        seed=21,
        items=500,
        no_feedback=0.3,
        no_refined=0.3,
        running=0.5,
        missing=0.05,
        recommended=0.7,
    ),
    "changed scores": Shape(
        seed=14, changed=0.3, undone=0.1, untimed=0.1, tied=0.3, timed_work=0.4
    ),
    "labels without an overlap": Shape(
        **{"seed": 15, "items": 300, "overlap": None, "reviewers": 3, "has_texts": False},
        **{"careful": 0.75, "missing": 0.3, "executed": 0.3, "unknown": 0.1, "not_assessed": 0.1},
    ),
    "pending and passed over": Shape(
        seed=16, items=500, overlap=3, missing=0.1, cannot_judge=0.08, skipped=0.05, sham=0.3
    ),
    "no assessor": Shape(seed=17, has_verdicts=False, no_refined=1.0, no_feedback=1.0, items=60),
    "few statements": Shape(seed=22, items=24, overlap=3, arms=("one", "two"), same_script=0.3),
    # Has too few items to sample from. The quick tests use this shape for all studies.
    "two arms, three raters": Shape(
        **{"seed": 23, "items": 18, "overlap": 3, "rounds": 0.4, "missing": 0.05},
        arms=("one", "two"),
        same_script=0.3,
        recommended=0.8,
        rules={**_PRIMARY, "primary_first": "one", "primary_second": "two"},
    ),
    "few of everything": Shape(
        seed=18, **_FEW, items=40, per_statement=2, arms=("one", "two"), same_script=0.4, rounds=0.3
    ),
}
