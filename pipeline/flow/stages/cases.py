"""Cases: the model writes cases from the statement, its context and parameters, and never sees a script."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from catalog.execution.cases import CaseSet
from catalog.execution.cases.display import show
from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage
from pipeline.flow.prompts import fence, fence_context
from pipeline.flow.reading.case_reader import CasesReading, read_cases
from pipeline.types import ReadingOutcome, Role, StageName

STAGE: AskedStage[CasesReading] = AskedStage(
    name=StageName.CASES,
    label=_("Write sandbox tests"),
    outcomes={"written": _("written"), "none": _("no tests")},
    role=Role.CASE_AUTHOR,
    # Cases are text because the keys of a scenario vary. No schema that all servers accept can describe them.
    answer={"cases": {"type": "string"}, "note": {"type": "string"}},
    read=read_cases,
    added_later=True,
    optional=True,
)

# Placeholders in a statement: `<service>`, `{days}`, `$NAMESPACE`.
_PLACEHOLDER = re.compile(
    r"<[A-Za-z][\w -]{0,40}>|\{[A-Za-z]\w{0,40}\}|\$\{?[A-Z][A-Z0-9_]{1,40}\}?"
)


def write_cases(passage: Passage) -> CaseSet | None:
    """Return the cases for the statement, or None if the model returns no usable cases."""
    flow_input = passage.flow_input
    with passage.stage(STAGE) as step:
        question = STAGE.question(
            flow_input.templates,
            STATEMENT=fence(flow_input.statement, "STATEMENT"),
            CONTEXT=fence_context(flow_input.context),
            PARAMETERS=_fence_parameters(flow_input.statement),
        )
        reader = partial(read_cases, statement=flow_input.statement, author=flow_input.case_author)
        reading = passage.ask_or_end(step, replace(STAGE, read=reader), question)
        if reading is None:
            return None
        if reading.outcome is not ReadingOutcome.READ:
            step.end(reading.outcome, found=show(reading.note), ok=False)
            return None
        case_set = reading.case_set
        if case_set is None:
            step.end("none", found=show(reading.note) or "The model wrote no tests.")
            return None
        passage.sandbox.keep_cases(case_set, number=0, stage=STAGE.name)
        titles = "\n".join(case.title for case in case_set.cases)
        step.end("written", found=show("\n".join(filter(None, [titles, reading.note]))))
    return case_set


def _fence_parameters(statement: str) -> str:
    """Return the value of the PARAMETERS slot, which is empty if the statement has no placeholders."""
    found = dict.fromkeys(_PLACEHOLDER.findall(statement))
    if not found:
        return ""
    return (
        "Placeholders of the statement; a script takes their values as arguments, in this order:\n"
        f"{fence(chr(10).join(found), 'PARAMETERS')}"
    )
