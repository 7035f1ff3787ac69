"""A migration operation that creates all models of an app at once."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.state import ProjectState


class CreateModels(Operation):
    """An operation that adds all models to the state first, and then creates their tables.

    For each CreateModel, Django renders all related models again, which took 12.5 of the 14.2 s of CPU time of a first
    `migrate`. This operation renders each model once. Circular references between models are possible, because Django
    adds foreign keys after all tables. For the measurement and the drawbacks, see
    docs/decisions/2026-11-27-one-initial-migration-per-app.md.
    """

    category = OperationCategory.ADDITION

    def __init__(self, models: Sequence[CreateModel]) -> None:
        self.models = models

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        # Remove the rendered models from the state, because adding a model would otherwise render its related models
        # again. The next use of `state.apps` renders all models.
        state.__dict__.pop("apps", None)
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create {len(self.models)} models"
