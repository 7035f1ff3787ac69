"""The snapshot of a Configuration that a Run keeps, so that later changes do not reach it."""

from __future__ import annotations

from django.utils.translation import gettext as _

from core.errors import BadInput
from pipeline.configurations.prompt_versions import choose_versions
from pipeline.models import Configuration


def snapshot_of(configuration: Configuration) -> tuple[dict[str, object], bool]:
    """The Configuration as it is now, for the Run's snapshot, and whether the demo model has a role in it."""
    settings_ = list(configuration.roles.select_related("endpoint"))
    if {setting.role for setting in settings_} != {"generator", "assessor", "refiner"}:
        raise BadInput(
            _("The configuration “%s” does not say who plays each role.") % configuration,
            field="configuration",
        )
    for setting in settings_:
        if not setting.endpoint.is_on:
            raise BadInput(
                _("The endpoint “%s” is switched off.") % setting.endpoint, field="configuration"
            )
    spec: dict[str, object] = {
        "configuration": configuration.name,
        "rounds": configuration.rounds,
        "uses_examples": configuration.uses_examples,
        "roles": {
            setting.role: {
                "endpoint": setting.endpoint.name,
                "endpoint_id": setting.endpoint_id,
                "model": setting.model,
                "mode": setting.endpoint.mode,
                "max_tokens": setting.max_tokens,
                "effort": setting.effort,
                "temperature": setting.temperature if setting.endpoint.takes_temperature else None,
            }
            for setting in settings_
        },
        "prompts": choose_versions(configuration.prompts),
    }
    return spec, any(setting.endpoint.demo for setting in settings_)
