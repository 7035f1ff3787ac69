"""What lists show of actions and runs, for pages and API alike, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User

from pipeline.access import VisibleParts, access_runs, visible_parts
from pipeline.models import Action, Run


@dataclass(frozen=True)
class RunRow:
    """A run with what this person may see of it."""

    run: Run
    parts: VisibleParts

    @property
    def milliseconds(self) -> int | None:
        """How long the run took, from its first work to its end."""
        return duration_of(self.run)


@dataclass(frozen=True)
class ActionRow:
    """An action with its newest run."""

    action: Action
    newest: RunRow | None


def action_rows(actions: Iterable[Action], user: User) -> list[ActionRow]:
    """These actions, each with its newest run."""
    actions = list(actions)
    newest = access_runs(user).filter(action__in=actions).order_by("action_id", "-pk")
    by_action = {run.action_id: run for run in newest.distinct("action_id")}
    return [
        ActionRow(action, run_row(run, user) if (run := by_action.get(action.pk)) else None)
        for action in actions
    ]


def run_row(run: Run, user: User) -> RunRow:
    """A run with what this person may see of it."""
    return RunRow(run, visible_parts(user, run))


def duration_of(run: Run) -> int | None:
    """Milliseconds from the first work on a run to its end; None where it has none of them."""
    if run.started_at is None or run.finished_at is None:
        return None
    return round((run.finished_at - run.started_at).total_seconds() * 1000)
