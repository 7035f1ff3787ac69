"""The state that all stages of a run share, and the calls to models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from catalog.execution.cases.display import show
from pipeline.flow.declaration import AskedStage, Reading, Stage
from pipeline.flow.ports import CasePorts, DraftMade, EntryPorts, FlowInput, Ports
from pipeline.flow.reading.script_reader import ScriptReading
from pipeline.types import Problem, Question, ReadingOutcome

R = TypeVar("R", bound=Reading)
SKIPPED = "Skipped: "  # a resumed run reads the reason after this prefix

# Small local models often return the script that they were given, and at temperature 0 they would do so again.
_SAME_SCRIPT = "Your last answer repeats an earlier script. Change the lines that need a fix."
_VARIED = 0.7
_ASK_AGAIN = {ReadingOutcome.TRUNCATED, ReadingOutcome.UNPARSED, ReadingOutcome.EMPTY}


@dataclass
class Step:
    """A running stage in one round."""

    stage: Stage
    ports: Ports
    round: int
    is_ended: bool = False

    def end(
        self, outcome: str, *, found: str = "", draft: DraftMade | None = None, ok: bool = True
    ) -> None:
        """Record how the stage ended. Raises ValueError for an undeclared outcome."""
        if self.stage.outcome_label(outcome) is None:
            raise ValueError(f"the stage {self.stage.name} does not declare the outcome {outcome}")
        self.ports.end(
            self.stage.name, round=self.round, outcome=outcome, found=found, draft=draft, ok=ok
        )
        self.is_ended = True

    def end_without(self, problem: Problem) -> None:
        """End an optional stage whose model could not be called."""
        self.end("none", found=show(f"{SKIPPED}{problem}"), ok=False)


@dataclass
class Passage:
    """The state that the stages share: the input, the ports, and the run's scripts so far."""

    flow_input: FlowInput
    ports: Ports
    seen: set[str] = field(default_factory=set)
    case_ports: CasePorts | None = None
    entry_ports: EntryPorts | None = None

    @property
    def entries(self) -> EntryPorts:
        """Return the store of entry descriptions. Use this property only if the input allows confirming a match."""
        assert self.entry_ports is not None
        return self.entry_ports

    @property
    def sandbox(self) -> CasePorts:
        """Return the store and runner of cases. Use this property only for runs with cases."""
        assert self.case_ports is not None
        return self.case_ports

    @contextmanager
    def stage(self, stage: Stage, *, round: int = 0) -> Iterator[Step]:
        """Begin a stage. Raises RuntimeError if the block does not end the stage.

        If the block raises an exception, the stage stays open, and a resumed Run continues it.
        """
        self.ports.begin(stage.name, round=round)
        step = Step(stage, self.ports, round)
        yield step
        if not step.is_ended:
            raise RuntimeError(f"the stage {stage.name} was not ended")

    def keep_draft(self, draft: DraftMade) -> None:
        """Store a Draft with the findings of the static checks."""
        self.ports.keep_draft(draft, self.ports.check(draft.script))
        self.seen.add(draft.script)

    def ask(self, stage: AskedStage[R], question: Question) -> R:
        """Ask a question and return the reader's result. Ask again once if the answer can't be read.

        Also ask again once, with more variation, if the answer is a script of this run. Keep the first answer if the
        second can't be read.
        """
        reading = self.ask_all([(stage, question)])[0]
        if not (isinstance(reading, ScriptReading) and reading.script in self.seen):
            return reading
        again = replace(question, sample=2, missing=_SAME_SCRIPT, temperature=_VARIED)
        second = self.ask_all([(stage, again)])[0]
        return second if second.outcome is ReadingOutcome.READ else reading

    def ask_or_end(self, step: Step, stage: AskedStage[R], question: Question) -> R | None:
        """Ask an optional stage's question. If no model can be called, end the stage and return None."""
        try:
            return self.ask(stage, question)
        except Problem as problem:
            step.end_without(problem)
            return None

    def ask_all_or_end(self, asked: Sequence[tuple[Step, AskedStage[R], Question]]) -> list[R]:
        """Ask the questions of optional stages in parallel. If no model can be called, end the stages and return []."""
        try:
            return self.ask_all([(stage, question) for _step, stage, question in asked])
        except Problem as problem:
            for step, _stage, _question in asked:
                step.end_without(problem)
            return []

    def ask_all(self, asked: Sequence[tuple[AskedStage[R], Question]]) -> list[R]:
        """Ask multiple questions in parallel. Ask a question again once if its answer can't be read."""
        stages = [stage for stage, _ in asked]
        latest = [question for _, question in asked]
        readings = self._read(stages, latest)
        again = [at for at, reading in enumerate(readings) if reading.outcome in _ASK_AGAIN]
        for at in again:
            self.ports.note_reading(latest[at], readings[at].outcome)
            latest[at] = ask_again(latest[at], readings[at])
        if again:
            second = self._read([stages[at] for at in again], [latest[at] for at in again])
            for at, reading in zip(again, second, strict=True):
                readings[at] = reading
        for question, reading in zip(latest, readings, strict=True):
            self.ports.note_reading(question, reading.outcome)
        return readings

    def _read(self, stages: Sequence[AskedStage[R]], asked: Sequence[Question]) -> list[R]:
        replies = self.ports.complete(asked)
        return [stage.read(reply) for stage, reply in zip(stages, replies, strict=True)]


def ask_again(question: Question, reading: Reading) -> Question:
    """Return the question to repeat: with a higher token limit after a truncated reply, otherwise with the error."""
    missing = ""
    if reading.outcome is ReadingOutcome.EMPTY:
        missing = "Your last answer was empty."
    elif reading.outcome is ReadingOutcome.UNPARSED:
        missing = f"Your last answer is of no use: {reading.note or 'it could not be read'}."
    return replace(
        question,
        sample=question.sample + 1,
        longer=reading.outcome is ReadingOutcome.TRUNCATED,
        missing=missing,
    )
