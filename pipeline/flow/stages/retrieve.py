"""Retrieve: search the catalogue for an entry that answers the statement, or for examples."""

from __future__ import annotations

from catalog.types import Answer, Retrieval
from core.translation import gettext_noop as _
from pipeline.flow.declaration import Stage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import Task
from pipeline.types import DraftKind, StageName

STAGE = Stage(
    name=StageName.RETRIEVE,
    label=_("Search the catalogue"),
    outcomes={
        "match": _("a match"),
        "adapt": _("a starting point"),
        "none": _("no match"),
        "examples": _("examples only"),
    },
    makes=DraftKind.RETRIEVED,
)


def retrieve(passage: Passage) -> Retrieval | None:
    """What the catalogue answers; None where the Task asks for neither an answer nor examples."""
    task = passage.task
    if not (task.uses_retrieval or task.uses_examples):
        return None
    with passage.stage(STAGE) as step:
        retrieval = passage.ports.retrieve()
        outcome = retrieval.answer.value if task.uses_retrieval else "examples"
        step.end(outcome, found=say_retrieved(retrieval, task))
    return retrieval


def say_retrieved(retrieval: Retrieval, task: Task) -> str:
    """What the catalogue answered, and why it is or is not the answer."""
    if not retrieval.matches:
        says = "The catalogue has no similar entry."
        if task.uses_examples and retrieval.neighbours:
            says = "Nothing in the catalogue answers it; the nearest entries serve as examples."
        return f"{says} {retrieval.degraded}".rstrip()
    best = retrieval.matches[0]
    says = {
        Answer.MATCH: f"“{best.title}” answers it",
        Answer.ADAPT: f"“{best.title}” is a starting point, not the answer",
        Answer.NONE: f"Closest is “{best.title}”: no match",
    }[retrieval.answer if task.uses_retrieval else Answer.ADAPT]
    details = "; ".join(
        best.differs[:2] if retrieval.answer is not Answer.MATCH else best.reasons[:2]
    )
    return f"{says}{': ' + details if details else ''}."
