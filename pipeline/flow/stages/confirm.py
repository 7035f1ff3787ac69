"""Confirm: the assessor decides whether an entry does what the statement asks for, if the score alone is uncertain.

The description is based only on the entry's script and is created once for each model and prompt. The prompts that
assess Drafts compare it with the statement for similarity and difference. The entry answers the request only if both
match. If no model can be called, or an answer can't be read, the entry stays a starting point and the model writes a
script.
"""

from __future__ import annotations

from catalog.types import Answer, Match, Retrieval
from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage, Stage
from pipeline.flow.passage import Passage
from pipeline.flow.prompts import Templates, fence
from pipeline.flow.reading.readers import OpinionReading, read_opinion
from pipeline.flow.stages import compare, describe
from pipeline.types import Opinion, Question, ReadingOutcome, Role, StageName

DESCRIBE = AskedStage(
    name=StageName.ENTRY_DESCRIBE,
    label=_("Describe entry"),
    outcomes={"read": _("described"), "known": _("already described"), "none": _("not described")},
    role=Role.ASSESSOR,
    answer=describe.STAGE.answer,
    read=describe.STAGE.read,
    asks_by=describe.STAGE.prompt,
    optional=True,
)
SIMILARITY = AskedStage(
    name=StageName.ENTRY_SIMILARITY,
    label=_("Assess entry similarity"),
    outcomes={**compare.SIMILARITY.outcomes, "none": _("not compared")},
    role=Role.ASSESSOR,
    answer=compare.SIMILARITY.answer,
    read=read_opinion,
    asks_by=compare.SIMILARITY.prompt,
    optional=True,
)
DIFFERENCE = AskedStage(
    name=StageName.ENTRY_DIFFERENCE,
    label=_("Assess entry differences"),
    outcomes={**compare.DIFFERENCE.outcomes, "none": _("not compared")},
    role=Role.ASSESSOR,
    answer=compare.DIFFERENCE.answer,
    read=read_opinion,
    asks_by=compare.DIFFERENCE.prompt,
    optional=True,
)
STAGE = Stage(
    name=StageName.CONFIRM,
    label=_("Confirm match"),
    outcomes={"confirmed": _("match confirmed"), "not": _("not confirmed")},
)


def describe_question(script: str, *, templates: Templates) -> Question:
    """Return the question about what an entry's script does."""
    return DESCRIBE.question(templates, SCRIPT=fence(script, "SCRIPT"))


def compare_questions(
    statement: str, functionality: str, *, templates: Templates
) -> tuple[Question, Question]:
    """Return the questions about the similarity and difference between the statement and the entry's description."""
    similarity, difference = (
        compare.question(stage, statement, functionality, round=0, templates=templates)
        for stage in (SIMILARITY, DIFFERENCE)
    )
    return similarity, difference


def entry_to_confirm(retrieval: Retrieval) -> Match | None:
    """Return the best entry if an uncertain score is its only problem. Otherwise return None."""
    best = retrieval.matches[0] if retrieval.matches else None
    is_unsure = best is not None and best.answer is Answer.ADAPT and best.is_confirmable
    return best if is_unsure else None


def confirm(passage: Passage, match: Match) -> bool:
    """Return whether the assessor confirms that the entry does what the statement asks for."""
    functionality = _describe(passage, match)
    readings = _compare(passage, functionality) if functionality else ()
    is_confirmed = is_match(*readings) if readings else False
    with passage.stage(STAGE) as step:
        step.end(
            "confirmed" if is_confirmed else "not",
            found=_say(is_confirmed, functionality, readings),
        )
    return is_confirmed


def is_match(similarity: OpinionReading, difference: OpinionReading) -> bool:
    """Return whether both answers match. An unreadable answer does not count as a match."""
    return all(
        one.outcome is ReadingOutcome.READ and one.opinion is Opinion.MATCH
        for one in (similarity, difference)
    )


def _describe(passage: Passage, match: Match) -> str:
    """Return the entry's description, stored or new, or an empty string if the script could not be described."""
    with passage.stage(DESCRIBE) as step:
        known = passage.entries.known_description(match)
        if known:
            step.end("known", found=known)
            return known
        asked = describe_question(match.script, templates=passage.flow_input.templates)
        reading = passage.ask_or_end(step, DESCRIBE, asked)
        if reading is None:
            return ""
        is_read = reading.outcome is ReadingOutcome.READ
        step.end(reading.outcome, found=reading.text, ok=is_read)
        if is_read:
            passage.entries.keep_description(match, reading.text)
    return reading.text if is_read else ""


def _compare(passage: Passage, functionality: str) -> tuple[OpinionReading, ...]:
    flow_input = passage.flow_input
    with passage.stage(SIMILARITY) as first, passage.stage(DIFFERENCE) as second:
        questions = compare_questions(
            flow_input.statement, functionality, templates=flow_input.templates
        )
        readings = passage.ask_all_or_end(
            [(first, SIMILARITY, questions[0]), (second, DIFFERENCE, questions[1])]
        )
        for step, reading in zip((first, second), readings, strict=False):
            compare.end(step, reading, None)
    return tuple(readings)


def _say(is_confirmed: bool, functionality: str, readings: tuple[OpinionReading, ...]) -> str:
    if is_confirmed:
        return "Similar, with no differences, according to a model that can be wrong."
    objections = [
        text
        for one in readings
        if one.opinion is Opinion.MISMATCH
        for text in (one.differences or (one.reason,))
    ]
    if objections:
        return "\n".join(objections)
    return "The assessor's reply could not be used." if functionality else ""
