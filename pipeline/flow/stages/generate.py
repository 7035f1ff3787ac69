"""Generate: the model writes a script from the statement, its context and the nearest verified entries."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.types import Retrieval
from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage
from pipeline.flow.examples import choose_examples
from pipeline.flow.passage import Passage
from pipeline.flow.ports import DraftMade
from pipeline.flow.prompts import Templates, fence, fence_context
from pipeline.flow.reading.script_reader import read_script
from pipeline.flow.script_notes import say_no_script, say_size
from pipeline.types import (
    DraftKind,
    Example,
    NoScript,
    Question,
    ReadingOutcome,
    Role,
    StageName,
)

STAGE = AskedStage(
    name=StageName.GENERATE,
    label=_("Write"),
    outcomes={"written": _("written")},
    makes=DraftKind.GENERATED,
    role=Role.GENERATOR,
    answer={"script": {"type": "string"}},
    read=read_script,
)


def question(
    statement: str, context: str, examples: Sequence[Example], *, templates: Templates
) -> Question:
    """Return the question that requests a script. The examples must be sorted, nearest first."""
    shown = "\n".join(
        f"{fence(example.statement, 'EXAMPLE_STATEMENT')}\n{fence(example.script, 'EXAMPLE_SCRIPT')}"
        for example in examples
    )
    return STAGE.question(
        templates,
        STATEMENT=fence(statement, "STATEMENT"),
        CONTEXT=fence_context(context),
        EXAMPLES=f"Verified scripts for similar statements, nearest first:\n{shown}"
        if shown
        else "",
    )


def generate(passage: Passage, retrieval: Retrieval | None) -> DraftMade:
    """Return the first Draft. Raises NoScript if the model writes no script."""
    flow_input = passage.flow_input
    examples = choose_examples(retrieval) if retrieval and flow_input.uses_examples else []
    with passage.stage(STAGE) as step:
        reading = passage.ask(
            STAGE,
            question(
                flow_input.statement, flow_input.context, examples, templates=flow_input.templates
            ),
        )
        if reading.outcome is not ReadingOutcome.READ:
            problem = say_no_script(reading)
            step.end(reading.outcome, found=problem, ok=False)
            raise NoScript(problem)
        draft = DraftMade(kind=DraftKind.GENERATED, script=reading.script, note=reading.note)
        passage.keep_draft(draft)
        step.end("written", found=say_size(draft.script, reading.note), draft=draft)
    return draft
