"""Execute: a sandbox worker runs a Draft against the cases while the models work. This stage calls no model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from catalog.execution.cases import CaseSet, State
from core.translation import gettext_noop as _
from pipeline.flow.case_words import JUDGED, say_executed
from pipeline.flow.declaration import Stage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import DraftMade, Executed
from pipeline.types import StageName

STAGE = Stage(
    name=StageName.EXECUTE,
    label=_("Run sandbox tests"),
    outcomes={
        "holds": _("all checks passed"),
        "partly": _("some checks passed, others have no result"),
        "fails": _("checks failed"),
        "no_verdict": _("no result"),
        "not_run": _("not run"),
    },
)


@dataclass
class Execution:
    """The execution of a Draft. `executed` is set when the `execution` block ends, and stays None without cases."""

    executed: Executed | None = None


@contextmanager
def execution(
    passage: Passage, case_set: CaseSet | None, draft: DraftMade, *, round: int
) -> Iterator[Execution]:
    """Run the Draft against the cases while the block runs."""
    under_way = Execution()
    if case_set is None:
        yield under_way
        return
    with passage.stage(STAGE, round=round) as step:
        passage.sandbox.start_cases(case_set, draft)
        yield under_way
        executed = passage.sandbox.end_cases(case_set, draft, round=round)
        under_way.executed = executed
        step.end(outcome_of(executed), found=say_executed(executed), draft=draft)


def outcome_of(executed: Executed) -> str:
    """Return the stage's outcome. A check without a result counts as neither passed nor failed."""
    if executed.of(State.FAILED):
        return "fails"
    if executed.of(*JUDGED):
        return "holds" if len(executed.of(*JUDGED)) == len(executed.checks) else "partly"
    return "not_run" if executed.reason else "no_verdict"
