"""Rows of the list of actions, each with its newest run, for pages and API, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User

from pipeline.access import access_runs
from pipeline.models import Action
from pipeline.runs.list_rows import RunRow, run_row


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
