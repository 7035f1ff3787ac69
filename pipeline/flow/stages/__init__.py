"""The stages of the flow. Each module has one declaration, `STAGE`, and the function that runs it.

To add a stage, copy the most similar module and follow the recipe in CONTRIBUTING.
"""

from __future__ import annotations

from pipeline.flow.declaration import AskedStage, Reading, Stage
from pipeline.flow.stages import (
    cases,
    check,
    compare,
    confirm,
    describe,
    ensemble,
    execute,
    explain,
    generate,
    mend_cases,
    recommend,
    refine,
    refine_cases,
    repair,
    retrieve,
    shorten,
)
from pipeline.types import DraftKind

# In the order shown on pages.
STAGES: tuple[Stage, ...] = (
    retrieve.STAGE,
    confirm.DESCRIBE,
    confirm.SIMILARITY,
    confirm.DIFFERENCE,
    confirm.STAGE,
    generate.STAGE,
    check.STAGE,
    repair.STAGE,
    cases.STAGE,
    execute.STAGE,
    mend_cases.STAGE,
    describe.STAGE,
    compare.SIMILARITY,
    compare.DIFFERENCE,
    ensemble.STAGE,
    explain.STAGE,
    refine.STAGE,
    refine_cases.STAGE,
    recommend.STAGE,
    shorten.STAGE,
)
ASKED_STAGES: dict[str, AskedStage[Reading]] = {
    stage.name.value: stage for stage in STAGES if isinstance(stage, AskedStage)
}
MAKERS: dict[DraftKind, Stage] = {stage.makes: stage for stage in STAGES if stage.makes}

_ORDER = {stage.name.value: at for at, stage in enumerate(STAGES)}


def find_stage(name: str) -> Stage | None:
    """Return the stage with this name, or None if the product no longer has it."""
    at = _ORDER.get(name)
    return None if at is None else STAGES[at]


def order_of(name: str) -> int:
    """Return the stage's position on pages. Unknown stages come last."""
    return _ORDER.get(name, len(STAGES))
