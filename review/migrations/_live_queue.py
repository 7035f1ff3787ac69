"""Default rows: the live queue, which is the only campaign without an end, and its first rubric.

Django's loader skips modules that begin with an underscore.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

RUBRIC = """\
**2 correct**: does what the statement asks, to the right things, and nothing else. You would run it.

**1 partially correct**: the right approach, with a mistake in an argument, a path, an edge case.

**0 incorrect**: does something else, does harm, or does not run.

Judge the script by what it would do, not by its style.
"""


def make(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    Campaign = apps.get_model("review", "Campaign")
    Rubric = apps.get_model("review", "Rubric")
    queue = Campaign.objects.create(
        name="Live queue",
        kind="live",
        state="open",
        overlap=1,
        order="priority",
        open_to_all=True,
        may_reveal=True,
        hides_models=False,
        hides_execution=False,
        hides_reference=False,
    )
    Rubric.objects.create(campaign=queue, number=1, text=RUBRIC)
