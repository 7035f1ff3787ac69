"""The snapshot of a Configuration that a Run stores, so that later changes do not affect the Run."""

from __future__ import annotations

from django.utils.translation import gettext as _

from core.errors import BadInput
from pipeline.configurations.prompt_versions import choose_versions
from pipeline.models import Configuration, Endpoint, RoleSetting
from pipeline.types import NEEDED_ROLES, CasesUse, Mode, Role


def snapshot_of(configuration: Configuration) -> tuple[dict[str, object], bool]:
    """Return a Configuration's snapshot for a Run, and whether the demo model has a role in it."""
    settings_ = list(configuration.roles.select_related("endpoint"))
    if not {setting.role for setting in settings_} >= {role.value for role in NEEDED_ROLES}:
        raise BadInput(
            _("A role of the configuration “%s” has no model.") % configuration,
            field="configuration",
        )
    has_cases = configuration.cases != CasesUse.OFF
    if not has_cases:
        settings_ = [one for one in settings_ if one.role != Role.CASE_AUTHOR]
    for setting in settings_:
        if not setting.endpoint.is_on:
            raise BadInput(_("The endpoint “%s” is off.") % setting.endpoint, field="configuration")
    roles = {
        setting.role: {
            "endpoint": setting.endpoint.name,
            "endpoint_id": setting.endpoint_id,
            "model": setting.model,
            "mode": _mode_of(setting),
            "max_tokens": setting.max_tokens,
            "effort": setting.effort,
            "temperature": setting.temperature if setting.endpoint.takes_temperature else None,
        }
        for setting in settings_
    }
    # Store the case author separately, because a worker of the previous release would fail on the unknown role.
    author = roles.pop(Role.CASE_AUTHOR.value, roles[Role.ASSESSOR.value])
    spec: dict[str, object] = {
        "configuration": configuration.name,
        "rounds": configuration.rounds,
        "uses_examples": configuration.uses_examples,
        "confirms_matches": configuration.confirms_matches,
        "cases": configuration.cases,
        "roles": roles,
        "prompts": choose_versions(configuration.prompts),
    }
    if has_cases:
        spec[Role.CASE_AUTHOR.value] = author
    return spec, any(setting.endpoint.demo for setting in settings_)


def _mode_of(setting: RoleSetting) -> str:
    """Return the mode for a role: text if a local model writes scripts, otherwise the endpoint's mode.

    Small models write regular expressions into JSON strings without escaping them, so that "\\b" becomes a backspace.
    Without a schema, their verdicts are often unreadable.
    """
    is_local = setting.endpoint.base_url == Endpoint.LOCAL
    writes = setting.role in (Role.GENERATOR, Role.REFINER)
    return Mode.TEXT.value if is_local and writes else setting.endpoint.mode
