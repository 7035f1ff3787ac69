"""Check: Bash parses the script and ShellCheck analyzes it, without a model."""

from __future__ import annotations

from catalog.analysis import Report, has_errors
from core.translation import gettext_noop as _
from pipeline.flow.declaration import Stage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import DraftMade
from pipeline.flow.static_checks import summarise
from pipeline.types import StageName

STAGE = Stage(
    name=StageName.CHECK,
    label=_("Check syntax"),
    outcomes={"clean": _("no errors"), "error": _("errors")},
)


def check(passage: Passage, draft: DraftMade) -> Report:
    """Run the static checks on a Draft and return their report."""
    report = passage.ports.check(draft.script)
    with passage.stage(STAGE, round=draft.round) as step:
        bad = has_errors(report)
        step.end("error" if bad else "clean", found=summarise(report), draft=draft, ok=not bad)
    return report
