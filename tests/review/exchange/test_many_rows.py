"""After many rows came in at once, what follows is planned for as many as there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from core.database.statistics import MANY
from tests.review.exchange.files import run_command, write_lines

pytestmark = pytest.mark.django_db


def planned_for(table: str) -> int:
    """How many rows PostgreSQL takes the table to have."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
        (rows,) = cursor.fetchone()
    return int(rows)


@pytest.mark.slow
def test_an_import_tells_the_planner_what_it_brought(tmp_path: Path) -> None:
    many = MANY + 1
    items = [
        {"id": f"i{one}", "statement": f"Show {one}", "configuration": "c", "script": f"echo {one}"}
        for one in range(many)
    ]
    scores = [
        {"id": f"i{one}", "configuration": "c", "reviewer": "ann", "stage": "script", "value": 2}
        for one in range(many)
    ]
    assert run_command("import_items", "Many", write_lines(tmp_path / "items.jsonl", *items)) == 0
    assert (
        run_command("import_scores", "Many", write_lines(tmp_path / "scores.jsonl", *scores)) == 0
    )

    assert planned_for("review_item") >= many
    assert planned_for("review_score") >= many
    assert planned_for("pipeline_run") >= many
