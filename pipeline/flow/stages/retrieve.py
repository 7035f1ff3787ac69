"""Retrieve: search the catalogue for an entry that answers the statement, or for examples."""

from __future__ import annotations

from catalog.types import Answer, Retrieval
from core.translation import gettext_noop as _
from pipeline.flow.declaration import Stage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import FlowInput
from pipeline.types import DraftKind, StageName

STAGE = Stage(
    name=StageName.RETRIEVE,
    label=_("Search catalogue"),
    outcomes={
        "match": _("match found"),
        "adapt": _("starting point"),
        "none": _("no match"),
        "examples": _("examples only"),
    },
    makes=DraftKind.RETRIEVED,
)


def retrieve(passage: Passage) -> Retrieval | None:
    """Search the catalogue and return the result, or None if the input needs neither an answer nor examples."""
    flow_input = passage.flow_input
    if not (flow_input.uses_retrieval or flow_input.uses_examples):
        return None
    with passage.stage(STAGE) as step:
        retrieval = passage.ports.retrieve()
        outcome = retrieval.answer.value if flow_input.uses_retrieval else "examples"
        step.end(outcome, found=say_retrieved(retrieval, flow_input))
    return retrieval


def say_retrieved(retrieval: Retrieval, flow_input: FlowInput) -> str:
    """Describe the search result and why it is or is not the answer."""
    if not retrieval.matches:
        says = "The catalogue has no similar entry."
        if not flow_input.uses_retrieval:
            says = "No entry is suitable as an example."
        if flow_input.uses_examples and retrieval.neighbours:
            says = "The closest entries are used as examples."
        return f"{says} {retrieval.degraded}".rstrip()
    best = retrieval.matches[0]
    says = {
        Answer.MATCH: f"“{best.title}” matches",
        Answer.ADAPT: f"“{best.title}” is a starting point, but no match",
        Answer.NONE: f"No match. The closest entry is “{best.title}”",
    }[retrieval.answer if flow_input.uses_retrieval else Answer.ADAPT]
    details = "; ".join(
        best.differs[:2] if retrieval.answer is not Answer.MATCH else best.reasons[:2]
    )
    return f"{says}{': ' + details if details else ''}."
