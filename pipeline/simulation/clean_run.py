"""Count the questions of a run without errors, using the real flow with simulated models that never err.

The number of questions in a run is computed only in this module. The closed form, the benches and every test that
counts calls use it, so that a new stage requires no changes elsewhere. `tests/pipeline/flow/test_flow.py` lists the
individual stages, and `execution/test_execution.py` compares them with a run through the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from catalog.analysis import Coverage, Report, Risk, SideEffect, hash_script
from pipeline.error_model.model_behaviour import ModelBehaviour, SeededChance
from pipeline.error_model.rates import Rates
from pipeline.error_model.script_texts import write_statement
from pipeline.flow.ports import FlowInput
from pipeline.flow.run_flow import Flow
from pipeline.simulation.item_flow import MemoryPorts, Spoken
from pipeline.standin.prompt_contract import parse_prompt
from pipeline.standin.simulated_models import SimulatedAnswers
from pipeline.types import Question, Reply, StageName

_SCRIPT_LINES = 4


@dataclass(frozen=True)
class CleanRun:
    """The stages in order, and the questions in groups. The questions of a group are asked in parallel."""

    stages: tuple[StageName, ...]
    groups: tuple[tuple[StageName, ...], ...]

    @property
    def asked(self) -> tuple[StageName, ...]:
        """Return the stage of each question, in order."""
        return tuple(stage for group in self.groups for stage in group)

    @property
    def calls(self) -> int:
        """Return the number of questions."""
        return len(self.asked)

    @property
    def calls_on_the_path(self) -> int:
        """Return the number of sequential calls."""
        return len(self.groups)


@cache
def clean_run(*, is_refined: bool = False) -> CleanRun:
    """Return a run whose first Draft passes or, with `is_refined`, whose first Draft fails and second Draft passes.

    As in studies, the run has no cases and no match in the catalogue.
    """
    ports = _RecordingPorts(is_refined=is_refined)
    flow_input = FlowInput(write_statement(0), rounds=1, uses_retrieval=False)
    Flow(flow_input, ports).carry_out()
    return CleanRun(tuple(ports.stages), tuple(ports.groups))


class _RecordingPorts(MemoryPorts):
    """Ports that record stages and questions. They run no checks, because simulated scripts have no errors."""

    def __init__(self, *, is_refined: bool) -> None:
        first = 0 if is_refined else 1
        never_wrong = Rates(
            generator=first, recall=1, false_alarm=0, fixes=1, breaks=0, fixes_missed=1
        )
        answers = SimulatedAnswers(ModelBehaviour(never_wrong, SeededChance(0)), _SCRIPT_LINES)

        def ask(asked: Sequence[Question]) -> list[Spoken]:
            prompts = [parse_prompt(question.system, question.user) for question in asked]
            return [Spoken(Reply("", tool_input=answers.answer(prompt))) for prompt in prompts]

        super().__init__(ask)
        self.stages: list[StageName] = []
        self.groups: list[tuple[StageName, ...]] = []

    def complete(self, asked: Sequence[Question]) -> list[Reply]:
        self.groups.append(tuple(question.stage for question in asked))
        return super().complete(asked)

    def begin(self, stage: StageName, *, round: int) -> None:
        self.stages.append(stage)

    def check(self, script: str) -> Report:
        return Report(
            sha256=hash_script(script),
            findings=(),
            syntax_ok=True,
            side_effect=SideEffect.READ_ONLY,
            risk=Risk.LOW,
            coverage=Coverage(1, 1),
        )
