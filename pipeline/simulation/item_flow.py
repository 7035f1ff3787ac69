"""Send one item through the real flow, once for each number of rounds, with all state in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from catalog.analysis import Report, analyse
from catalog.types import Answer, Retrieval
from pipeline.error_model.script_texts import read_draft, shape_of, write_statement
from pipeline.flow.ports import Assessed, DraftMade, FeedbackGiven, FlowInput, Result
from pipeline.flow.run_flow import Flow
from pipeline.types import Question, ReadingOutcome, Reply, StageName, Verdict


@dataclass(frozen=True)
class Spoken:
    """A reply and its usage. The cost is in micro-dollars."""

    reply: Reply
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0


Ask = Callable[[Sequence[Question]], list[Spoken]]


@dataclass(frozen=True)
class Passage:
    """The result and usage of an item for a given maximum number of rounds."""

    last_right: bool
    recommended_right: bool
    calls: int
    input_tokens: int
    output_tokens: int
    cost: int  # micro-dollars


@dataclass(frozen=True)
class ItemOutcome:
    """The outcome of an item: its first Draft, the verdict on it, and a passage for each number of rounds."""

    first_right: bool
    verdict: Verdict
    expert_right: bool  # True if the item is right after an expert requests one refinement of each wrong Draft.
    passages: dict[int, Passage]


class SimulationBroken(Exception):
    """Raised if the flow or the demo model behaves in a way that indicates a bug."""


class MemoryPorts:
    """The flow's ports in memory. A repeated question gets the same answer."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[tuple[StageName, int, int, str], Spoken] = {}
        self._used: set[tuple[StageName, int, int, str]] = set()

    def begin_passage(self) -> None:
        """Reset the record of used answers, because each passage is counted separately. The answers are kept."""
        self._used.clear()

    @property
    def used(self) -> list[Spoken]:
        """Return the replies that this passage used."""
        return [self._known[key] for key in self._used]

    def complete(self, asked: Sequence[Question]) -> list[Reply]:
        keys = [(one.stage, one.round, one.sample, one.user) for one in asked]
        new = {
            key: question
            for key, question in zip(keys, asked, strict=True)
            if key not in self._known
        }
        if new:
            self._known.update(zip(new, self._ask(list(new.values())), strict=True))
        self._used.update(keys)
        return [self._known[key].reply for key in keys]

    def check(self, script: str) -> Report:
        # Bash and ShellCheck take 0.1 s, and scripts differ only in a comment, so check each shape once.
        return _analyse(shape_of(script))

    def retrieve(self) -> Retrieval:
        return Retrieval(statement="", answer=Answer.NONE, matches=(), threshold=1.0, scoring="")

    def begin(self, stage: StageName, *, round: int) -> None: ...

    def end(
        self,
        stage: StageName,
        *,
        round: int,
        outcome: str,
        found: str = "",
        draft: DraftMade | None = None,
        ok: bool = True,
    ) -> None: ...

    def note_reading(self, question: Question, outcome: ReadingOutcome) -> None: ...

    def keep_draft(self, draft: DraftMade, report: Report | None = None) -> None: ...

    def keep_feedback(self, feedback: FeedbackGiven) -> None: ...

    def keep_assessment(self, assessed: Assessed) -> None: ...


def simulate_item(item: int, *, rounds: Iterable[int], ask: Ask) -> ItemOutcome:
    """Send an item through the flow without refinement and with each number of rounds. `ask` answers questions.

    Raises SimulationBroken if a reply contains a script that no simulation wrote.
    """
    ports = MemoryPorts(ask)
    passages: dict[int, Passage] = {}
    ended = False
    for most in sorted({0, *rounds}):
        if not ended:  # More rounds do not change an item that ended before its last round.
            ports.begin_passage()
            result = _flow(item, ports, rounds=most).carry_out()
            passage = _sum_up(result, ports.used)
            ended = len(result.assessments) <= most
        passages[most] = passage
    first = result.assessments[0]
    first_right = _is_right(first.draft)
    expert_right = first_right
    if not first_right:
        # Flagged items were refined before, so their answers are known. Drafts with missed errors are refined now.
        refined = _flow(item, ports, rounds=1).refine_on_demand(first, None)
        expert_right = refined is not None and _is_right(refined.draft)
    return ItemOutcome(first_right, first.verdict, expert_right, passages)


def _flow(item: int, ports: MemoryPorts, *, rounds: int) -> Flow:
    flow_input = FlowInput(
        write_statement(item), rounds=rounds, uses_retrieval=False, uses_examples=False
    )
    return Flow(flow_input, ports)


def _sum_up(result: Result, used: Sequence[Spoken]) -> Passage:
    return Passage(
        last_right=_is_right(result.assessments[-1].draft),
        recommended_right=_is_right(result.recommended),
        calls=len(used),
        input_tokens=sum(spoken.input_tokens for spoken in used),
        output_tokens=sum(spoken.output_tokens for spoken in used),
        cost=sum(spoken.cost for spoken in used),
    )


def _is_right(draft: DraftMade) -> bool:
    simulated = read_draft(draft.script)
    if simulated is None:
        raise SimulationBroken("The returned script is not from a simulation.")
    return simulated.right


@cache
def _analyse(script: str) -> Report:
    return analyse(script)
