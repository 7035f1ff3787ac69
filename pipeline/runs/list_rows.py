"""Rows of lists of runs, for pages and API, each as this person may see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from pipeline.access import VisibleParts, shown_state, visible_parts
from pipeline.models import Run


@dataclass(frozen=True)
class RunRow:
    """A run as this person may see it."""

    run: Run
    parts: VisibleParts

    @property
    def state(self) -> str:
        """Its state as this person may see it."""
        return shown_state(self.run, self.parts)

    @property
    def is_active(self) -> bool:
        """Whether it is in progress, as far as this person may see."""
        return self.state in (Run.State.QUEUED, Run.State.RUNNING)

    # A run with refinement takes longer than one that passed, so times reveal the verdict.

    @property
    def started_at(self) -> datetime | None:
        """When work on it began; None if that is hidden."""
        return self.run.started_at if self.parts.verdict else None

    @property
    def finished_at(self) -> datetime | None:
        """When it ended; None if that is hidden."""
        return self.run.finished_at if self.parts.verdict else None

    @property
    def milliseconds(self) -> int | None:
        """How long the run took, from its first work to its end; None if that is hidden."""
        return duration_of(self.run) if self.parts.verdict else None

    @property
    def problem(self) -> str:
        """Why it failed, if the person may see it."""
        return self.run.problem if self.parts.verdict or self.state == Run.State.FAILED else ""

    # Imported and generated scripts may be arms of a study.

    @property
    def origin(self) -> str | None:
        """Who or what started it; None if that is hidden."""
        return self.run.origin if self.parts.models else None

    @property
    def asked_by(self) -> User | None:
        """Who started it; if that is hidden, who asked for the action."""
        return self.run.asked_by if self.parts.models else self.run.action.asked_by

    @property
    def created_at(self) -> datetime:
        """When it was requested; if that is hidden, when the action was."""
        return self.run.created_at if self.parts.models else self.run.action.created_at


def run_row(run: Run, user: User) -> RunRow:
    """A run as this person may see it."""
    return RunRow(run, visible_parts(user, run))


def duration_of(run: Run) -> int | None:
    """Milliseconds from the first work on a run to its end; None if it has not got both."""
    if run.started_at is None or run.finished_at is None:
        return None
    return round((run.finished_at - run.started_at).total_seconds() * 1000)
