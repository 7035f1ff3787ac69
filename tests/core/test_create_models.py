"""Tests for migrations with circular foreign keys and for refreshing table statistics."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from django.contrib.auth.models import Permission
from django.db import connection, models
from django.db.migrations import CreateModel
from django.db.migrations.state import ModelState, ProjectState
from django.test.utils import CaptureQueriesContext

from core.database.create_models import CreateModels
from core.database.statistics import refresh_statistics


def referring(name: str, to: str) -> CreateModel:
    key = models.ForeignKey(to, models.CASCADE, null=True)
    return CreateModel(name, [("id", models.BigAutoField(primary_key=True)), ("other", key)])


@pytest.mark.django_db
def test_models_of_a_circle_are_created_and_removed_with_each_rendered_once() -> None:
    operation = CreateModels([referring("First", "core.Second"), referring("Second", "core.First")])
    before = ProjectState()
    before.add_model(ModelState("core", "Old", [("id", models.BigAutoField(primary_key=True))]))
    assert before.apps.get_model("core", "Old")
    after = before.clone()

    with patch.object(ModelState, "render", autospec=True, side_effect=ModelState.render) as render:
        operation.state_forwards("core", after)
        with connection.schema_editor() as editor:
            operation.database_forwards("core", editor, before, after)
    assert sorted(call.args[0].name for call in render.call_args_list) == ["First", "Old", "Second"]
    assert {"core_first", "core_second"} <= set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        keys = connection.introspection.get_relations(cursor, "core_first")
    assert keys == {"other_id": ("id", "core_second")}

    with connection.schema_editor() as editor:
        operation.database_backwards("core", editor, after, before)
    assert not [name for name in connection.introspection.table_names() if name.startswith("core_")]


@pytest.mark.django_db
def test_statistics_are_refreshed_if_a_tenth_of_the_rows_changed() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE auth_permission")
    rows = Permission.objects.count()
    analyzed = {}
    for added in (0, rows // 20, rows // 5, rows):
        with CaptureQueriesContext(connection) as asked:
            refresh_statistics([Permission], added=added)
        analyzed[added] = any("ANALYZE" in query["sql"] for query in asked.captured_queries)
    assert list(analyzed.values()) == [False, False, True, True]
