"""Rows of action lists for pages and the API, with the newest run and answer, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User

from pipeline.access import access_runs
from pipeline.models import Action
from pipeline.runs.answers import ShownAnswer, answers_of
from pipeline.runs.list_rows import RunRow, run_row


@dataclass(frozen=True)
class ActionRow:
    """An action with its newest run and answer, if it has a run."""

    action: Action
    newest: RunRow | None
    answer: ShownAnswer | None


def action_rows(actions: Iterable[Action], user: User) -> list[ActionRow]:
    """Return a row for each of these actions, with its newest run."""
    actions = list(actions)
    newest = access_runs(user).filter(action__in=actions).order_by("action_id", "-pk")
    rows = {run.action_id: run_row(run, user) for run in newest.distinct("action_id")}
    answers = answers_of(rows.values(), user) if rows else {}
    return [
        ActionRow(one, row, answers[row.run.pk])
        if (row := rows.get(one.pk))
        else ActionRow(one, None, None)
        for one in actions
    ]
