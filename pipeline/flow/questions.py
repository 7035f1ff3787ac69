"""The questions that the flow asks: prompt, fenced data, and the shape of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from pipeline.flow.prompts import Templates, fence, render
from pipeline.flow.reading.readers import read_explanation, read_opinion, read_points, read_text
from pipeline.flow.reading.script_reader import read_script
from pipeline.types import Example, Question, ReadingOutcome, Reply, Role, StageName


def _shape(**properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_SCRIPT = _shape(script={"type": "string"})
_FUNCTIONALITY = _shape(functionality={"type": "string"})
_SIMILARITY = _shape(
    verdict={"type": "string", "enum": ["match", "mismatch"]}, reason={"type": "string"}
)
_DIFFERENCE = _shape(
    verdict={"type": "string", "enum": ["match", "mismatch"]},
    differences={"type": "array", "items": {"type": "string"}},
    reason={"type": "string"},
)
_EXPLANATION = _shape(
    verdict={"type": "string", "enum": ["error", "no_error"]},
    points={"type": "array", "items": {"type": "string"}},
)
_POINTS = _shape(points={"type": "array", "items": {"type": "string"}})
_SHAPES = {
    StageName.GENERATE: _SCRIPT,
    StageName.REPAIR: _SCRIPT,
    StageName.DESCRIBE: _FUNCTIONALITY,
    StageName.SIMILARITY: _SIMILARITY,
    StageName.DIFFERENCE: _DIFFERENCE,
    StageName.EXPLAIN: _EXPLANATION,
    StageName.REFINE: _SCRIPT,
    StageName.SHORTEN: _POINTS,
}


def generate(
    statement: str, context: str, examples: Sequence[Example], *, templates: Templates
) -> Question:
    """Ask for a script; the examples are nearest first."""
    shown = "\n".join(
        f"{fence(example.statement, 'EXAMPLE_STATEMENT')}\n{fence(example.script, 'EXAMPLE_SCRIPT')}"
        for example in examples
    )
    return _question(
        StageName.GENERATE,
        Role.GENERATOR,
        templates,
        STATEMENT=fence(statement, "STATEMENT"),
        CONTEXT=_context(context),
        EXAMPLES=f"Verified scripts for similar statements, nearest first:\n{shown}"
        if shown
        else "",
    )


def repair(statement: str, script: str, checker: str, *, templates: Templates) -> Question:
    """Ask for a mended script after the checker refused it."""
    return _question(
        StageName.REPAIR,
        Role.GENERATOR,
        templates,
        STATEMENT=fence(statement, "STATEMENT"),
        SCRIPT=fence(script, "SCRIPT"),
        CHECKER=fence(checker, "CHECKER"),
    )


def describe(script: str, *, round: int, templates: Templates) -> Question:
    """Ask what a script does; the model sees the script and nothing else."""
    return _question(
        StageName.DESCRIBE,
        Role.ASSESSOR,
        templates,
        round=round,
        SCRIPT=fence(script, "SCRIPT"),
    )


def compare(
    stage: StageName, statement: str, functionality: str, *, round: int, templates: Templates
) -> Question:
    """Ask for likeness or for difference of statement and description."""
    return _question(
        stage,
        Role.ASSESSOR,
        templates,
        round=round,
        STATEMENT=fence(statement, "STATEMENT"),
        FUNCTIONALITY=fence(functionality, "FUNCTIONALITY"),
    )


def explain(
    statement: str,
    script: str,
    functionality: str,
    noted: Sequence[str],
    *,
    round: int,
    templates: Templates,
) -> Question:
    """Ask why a script fails, from what the assessor noted; "no error" is offered as an answer."""
    return _question(
        StageName.EXPLAIN,
        Role.REFINER,
        templates,
        round=round,
        STATEMENT=fence(statement, "STATEMENT"),
        SCRIPT=fence(script, "SCRIPT"),
        FUNCTIONALITY=fence(functionality or "(not described)", "FUNCTIONALITY"),
        DIFFERENCES=fence("\n".join(noted) or "(nothing)", "DIFFERENCES"),
    )


def refine(
    statement: str,
    context: str,
    script: str,
    feedback: str,
    *,
    round: int,
    templates: Templates,
) -> Question:
    """Ask for the script rewritten from feedback."""
    return _question(
        StageName.REFINE,
        Role.REFINER,
        templates,
        round=round,
        STATEMENT=fence(statement, "STATEMENT"),
        CONTEXT=_context(context),
        SCRIPT=fence(script, "SCRIPT"),
        FEEDBACK=fence(feedback, "FEEDBACK"),
    )


def shorten(
    statement: str, script: str, feedback: str, *, number: int, templates: Templates
) -> Question:
    """Ask for an expert's feedback in fewer words; `number` tells those of one run apart."""
    return _question(
        StageName.SHORTEN,
        Role.REFINER,
        templates,
        round=number,
        STATEMENT=fence(statement, "STATEMENT"),
        SCRIPT=fence(script, "SCRIPT"),
        FEEDBACK=fence(feedback, "FEEDBACK"),
    )


def answer_words(name: str) -> Iterator[str]:
    """The words by which the answer to the prompt of this name is read: its fields, and what they may say."""
    properties = _SHAPES[StageName(name)]["properties"]
    assert isinstance(properties, dict)
    for word, allowed in properties.items():
        yield word
        yield from allowed.get("enum", [])


def first_reading(question: Question, reply: Reply) -> ReadingOutcome:
    """Whether a reply can be read as an answer to the question."""
    return _read(question, reply).outcome


def ask_again(question: Question, reply: Reply, outcome: ReadingOutcome) -> Question:
    """The one re-ask: with a higher limit after a cut reply; after another, with what was missing in it."""
    missing = ""
    if outcome is ReadingOutcome.EMPTY:
        missing = "Your last answer was empty."
    elif outcome is ReadingOutcome.UNPARSED:
        note = _read(question, reply).note or "it could not be read"
        missing = f"Your last answer is of no use: {note}."
    return replace(
        question,
        sample=question.sample + 1,
        longer=outcome is ReadingOutcome.TRUNCATED,
        missing=missing,
    )


class _Reading(Protocol):
    @property
    def outcome(self) -> ReadingOutcome: ...

    @property
    def note(self) -> str: ...


def _read(question: Question, reply: Reply) -> _Reading:
    match question.stage:
        case StageName.DESCRIBE:
            return read_text(reply, "functionality")
        case StageName.SIMILARITY | StageName.DIFFERENCE:
            return read_opinion(reply)
        case StageName.EXPLAIN:
            return read_explanation(reply)
        case StageName.SHORTEN:
            return read_points(reply)
        case _:
            return read_script(reply)


def _context(context: str) -> str:
    return f"Its context:\n{fence(context, 'CONTEXT')}" if context.strip() else ""


def _question(
    stage: StageName, role: Role, templates: Templates, *, round: int = 0, **slots: str
) -> Question:
    prompt = render(templates[stage.value], **slots)
    return Question(
        stage=stage,
        role=role,
        prompt=stage.value,
        user=prompt.user,
        system=prompt.system,
        prompt_version=prompt.version,
        round=round,
        schema=_SHAPES[stage],
    )
