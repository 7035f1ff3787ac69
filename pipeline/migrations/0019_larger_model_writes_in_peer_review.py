"""Reverse the models of the preset for peer review, if neither a user edited it nor a run was started under it."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME = "claude-peer-review"
WRITES, ASSESSES = "claude-opus-5-5", "claude-sonnet-5-5"
SHIPPED = {
    **{"title": "Sonnet writes, Opus assesses", "preset": "peer_review", "note": "", "rounds": 1},
    **{"uses_retrieval": True, "uses_examples": True, "confirms_matches": False, "cases": "off"},
    **{"prompts": {}, "archived_at": None},
}
SHIPPED_ROLES = {
    (role, "claude", model, 4096, "", None)
    for role, model in (("generator", ASSESSES), ("assessor", WRITES), ("refiner", ASSESSES))
}


def reverse_models(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    # Studies compare by name, so a configuration with runs keeps its models.
    found = apps.get_model("pipeline", "Configuration").objects.filter(
        name=NAME, runs=None, **SHIPPED
    )
    for configuration in found:
        roles = configuration.roles.values_list(
            *("role", "endpoint__name", "model", "max_tokens", "effort", "temperature")
        )
        if set(roles) == SHIPPED_ROLES:
            configuration.roles.exclude(role="assessor").update(model=WRITES)
            configuration.roles.filter(role="assessor").update(model=ASSESSES)
            configuration.title = "Opus writes, Sonnet assesses"
            configuration.save(update_fields=["title"])


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0001_squashed_0018_initial")]
    operations = [migrations.RunPython(reverse_models, migrations.RunPython.noop)]
