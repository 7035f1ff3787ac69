"""Rows of run lists for pages and the API, limited to what the user may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from pipeline.access import VisibleParts, shown_state, visible_parts
from pipeline.models import Run


@dataclass(frozen=True)
class RunRow:
    """A run with the values that the user may see."""

    run: Run
    parts: VisibleParts

    @property
    def state(self) -> str:
        """Return the run's state as the user may see it."""
        return shown_state(self.run, self.parts)

    @property
    def is_active(self) -> bool:
        """Return whether the run is in progress, based on the state that the user may see."""
        return self.state in (Run.State.QUEUED, Run.State.RUNNING)

    # A run with a refinement takes longer than a run that passed, so times reveal the verdict.

    @property
    def started_at(self) -> datetime | None:
        """Return when work on the run began, or None if that is hidden."""
        return self.run.started_at if self.parts.verdict else None

    @property
    def finished_at(self) -> datetime | None:
        """Return when the run ended, or None if that is hidden."""
        return self.run.finished_at if self.parts.verdict else None

    @property
    def milliseconds(self) -> int | None:
        """Return the time from the start of work to the run's end in milliseconds, or None if it is hidden."""
        return duration_of(self.run) if self.parts.verdict else None

    @property
    def problem(self) -> str:
        """Return why the run failed, if the user may see it."""
        return self.run.problem if self.parts.verdict or self.state == Run.State.FAILED else ""

    # Imported and generated scripts may be arms of a study.

    @property
    def origin(self) -> str | None:
        """Return the run's origin, or None if the origin is hidden."""
        return self.run.origin if self.parts.models else None

    @property
    def asked_by(self) -> User | None:
        """Return the user who started the run or, if that is hidden, the user who requested the action."""
        return self.run.asked_by if self.parts.models else self.run.action.asked_by

    @property
    def created_at(self) -> datetime:
        """Return when the run was requested or, if that is hidden, when the action was requested."""
        return self.run.created_at if self.parts.models else self.run.action.created_at


def run_row(run: Run, user: User) -> RunRow:
    """Return the row of a run for this user."""
    return RunRow(run, visible_parts(user, run))


def duration_of(run: Run) -> int | None:
    """Return the time from the start of work on a run to its end in milliseconds, or None if it has not ended."""
    if run.started_at is None or run.finished_at is None:
        return None
    return round((run.finished_at - run.started_at).total_seconds() * 1000)
