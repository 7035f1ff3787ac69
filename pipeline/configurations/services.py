"""Services that manage configurations and find configurations for new runs.

A Run stores a snapshot, so these services never change an existing run. A study compares Configurations by name. Once a
Configuration has runs, its plan is fixed, and a different plan needs a new Configuration.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow, Stale
from core.texts import check_text
from pipeline.access import require_endpoint_manager
from pipeline.configurations.plans import Plan, check_plan, plan_of, preset_of, say_plan
from pipeline.models import Configuration, Endpoint, RoleSetting
from pipeline.types import NEEDED_ROLES

MAX_NOTE = 2_000
# Names that conflict with URLs of this site.
_TAKEN_NAMES = {"new"}


# --- Reading ------------------------------------------------------------------------------------------------------


def usable_configurations() -> list[Configuration]:
    """Return the configurations that new runs can use now, in a fixed number of queries."""
    found = Configuration.objects.prefetch_related("roles__endpoint")
    return [configuration for configuration in found if is_usable(configuration)]


def default_configuration() -> Configuration:
    """Return the default Configuration. Raises BadInput if no default is set."""
    found = Configuration.objects.filter(is_default=True, archived_at=None).first()
    if found is None:
        raise BadInput(
            _("No default configuration is set. Ask an administrator to set one."),
            field="configuration",
        )
    return found


def find_configuration(name: str) -> Configuration:
    """Return the active Configuration with this name. Raises BadInput if it does not exist."""
    found = Configuration.objects.filter(name=name, archived_at=None).first()
    if found is None:
        raise BadInput(_("Configuration “%s” does not exist.") % name[:80], field="configuration")
    return found


def is_usable(configuration: Configuration) -> bool:
    """Return whether the configuration is active and the endpoints of all its roles are on."""
    roles = configuration.roles.all()
    is_whole = {setting.role for setting in roles} >= {role.value for role in NEEDED_ROLES}
    is_on = all(setting.endpoint.is_on for setting in roles)
    return configuration.archived_at is None and is_whole and is_on


def asks_demo(configuration: Configuration) -> bool:
    """Return whether the demo model has a role in the configuration."""
    return any(setting.endpoint.demo for setting in configuration.roles.all())


def edition_of(configuration: Configuration) -> int:
    """Return a number that changes with each edit. A save names the edition on which it is based."""
    parts = (configuration.title, configuration.note, say_plan(plan_of(configuration)))
    return zlib.crc32(repr(parts).encode())


def is_fixed(configuration: Configuration) -> bool:
    """Return whether the configuration's plan is fixed, because it has runs or represents imported scripts."""
    return configuration.preset == Configuration.Preset.IMPORTED or configuration.runs.exists()


def known_models() -> dict[str, list[str]]:
    """Return the models that a check found or that have a price, with the titles of their endpoints."""
    found: dict[str, list[str]] = {}
    for endpoint in Endpoint.objects.prefetch_related("prices"):
        listed = endpoint.probe.get("models") if isinstance(endpoint.probe, dict) else None
        names = [name for name in listed or [] if isinstance(name, str)]
        names += [price.model for price in endpoint.prices.all()]
        for name in dict.fromkeys(names):
            found.setdefault(name, []).append(str(endpoint))
    return dict(sorted(found.items()))


def hold_configuration(configuration: Configuration) -> Configuration:
    """Lock the row against edits until this transaction ends, without blocking other runs that start."""
    held = Configuration.objects.raw(
        "SELECT * FROM pipeline_configuration WHERE id = %s FOR KEY SHARE", [configuration.pk]
    )
    return held[0]


# --- Changing -----------------------------------------------------------------------------------------------------


@transaction.atomic
def create_configuration(
    name: str, *, title: str, plan: Plan, by: User, note: str = ""
) -> Configuration:
    """Create an active Configuration. Raises BadInput with a field such as `name` or `assessor.model`."""
    require_endpoint_manager(by)
    _check_name(name)
    title, note = _clean_title(title), _clean_note(note)
    endpoints = check_plan(plan)
    try:
        with transaction.atomic():
            made = Configuration.objects.create(name=name, title=title, note=note, created_by=by)
    except IntegrityError:
        raise BadInput(_("A configuration with this name already exists."), field="name") from None
    _write_plan(made, plan, endpoints)
    record(made, "created", by=by, **{part: ("", new) for part, new in say_plan(plan).items()})
    return made


@transaction.atomic
def update_configuration(
    configuration: Configuration,
    *,
    title: str,
    note: str,
    by: User,
    plan: Plan | None = None,
    seen: int | None = None,
) -> Configuration:
    """Change the title, the note and, before the first run, the plan. If `plan` is None, the plan stays unchanged.

    `seen` is the edition on which the change is based. Raises BadInput for invalid values, NotAllowedNow if the plan is
    fixed, and Stale if another user has changed the configuration since.
    """
    require_endpoint_manager(by)
    locked = _lock(configuration)
    newest = edition_of(locked)
    if seen not in (None, newest):
        raise Stale(
            _("Another user has changed this configuration. Check the changes before you save."),
            newest=newest,
        )
    before = {"title": locked.title, "note": locked.note}
    after = {"title": _clean_title(title), "note": _clean_note(note)}
    locked.title, locked.note = after["title"], after["note"]
    old_plan = plan_of(locked)
    if plan is None or plan == old_plan:
        locked.save(update_fields=["title", "note"])
    elif is_fixed(locked):
        raise NotAllowedNow(
            _(
                "This configuration has runs, and studies refer to it by name, so its roles, rounds "
                "and prompts can't be changed. Duplicate it instead."
            )
        )
    else:
        _write_plan(locked, plan, check_plan(plan))
        before |= say_plan(old_plan)
        after |= say_plan(plan)
    changes = {
        part: (before.get(part, ""), new)
        for part, new in after.items()
        if before.get(part, "") != new
    }
    if changes:
        record(locked, "changed", by=by, **changes)
    return locked


@transaction.atomic
def make_default(configuration: Configuration, *, by: User) -> None:
    """Make the configuration the default. Raises NotAllowedNow if new runs can't use it."""
    require_endpoint_manager(by)
    # Lock all rows, so that concurrent changes run one after the other.
    rows = {row.pk: row for row in Configuration.objects.select_for_update().order_by("pk")}
    chosen = rows[configuration.pk]
    if chosen.archived_at or chosen.preset == Configuration.Preset.IMPORTED:
        raise NotAllowedNow(
            _("No runs can be started with this configuration, so it can't be the default.")
        )
    before = next((row for row in rows.values() if row.is_default), None)
    if before == chosen:
        raise NotAllowedNow(_("This configuration is already the default."))
    Configuration.objects.filter(is_default=True).update(is_default=False)
    Configuration.objects.filter(pk=chosen.pk).update(is_default=True)
    record(chosen, "set as default", by=by, default=(before.name if before else "", chosen.name))


@transaction.atomic
def archive_configuration(configuration: Configuration, *, by: User) -> None:
    """Archive the configuration, so that no new run can use it. Raises NotAllowedNow for the default."""
    require_endpoint_manager(by)
    locked = _lock(configuration)
    if locked.is_default:
        raise NotAllowedNow(
            _("The default configuration can't be archived. Set another default first.")
        )
    if locked.preset == Configuration.Preset.IMPORTED:
        raise NotAllowedNow(_("Imports need this configuration, so it can't be archived."))
    if locked.archived_at:
        raise NotAllowedNow(_("This configuration is already archived."))
    locked.archived_at = timezone.now()
    locked.save(update_fields=["archived_at"])
    record(locked, "archived", by=by)


@transaction.atomic
def unarchive_configuration(configuration: Configuration, *, by: User) -> None:
    """Restore an archived configuration, so that new runs can use it. Raises NotAllowedNow for other configurations."""
    require_endpoint_manager(by)
    locked = _lock(configuration)
    if locked.archived_at is None:
        raise NotAllowedNow(_("This configuration is not archived."))
    locked.archived_at = None
    locked.save(update_fields=["archived_at"])
    record(locked, "unarchived", by=by)


@transaction.atomic
def switch_cases_on(*, by: User) -> bool:
    """Turn on cases in the default configuration. Return False if they are already on or the plan is fixed."""
    configuration = _lock(default_configuration())
    plan = plan_of(configuration)
    if plan.cases != Configuration.Cases.OFF or is_fixed(configuration):
        return False
    update_configuration(
        configuration,
        title=configuration.title,
        note=configuration.note,
        plan=replace(plan, cases=Configuration.Cases.RUN.value),
        by=by,
    )
    return True


# --- Helpers ------------------------------------------------------------------------------------------------------

_PLAN_FIELDS = ("rounds", "uses_retrieval", "uses_examples", "confirms_matches", "cases", "prompts")


def _lock(configuration: Configuration) -> Configuration:
    """Wait for runs that are being started with this configuration, and lock the row."""
    found = Configuration.objects.prefetch_related("roles__endpoint")
    return found.select_for_update().get(pk=configuration.pk)


def _write_plan(
    configuration: Configuration, plan: Plan, endpoints: Mapping[str, Endpoint]
) -> None:
    for name in _PLAN_FIELDS:
        setattr(configuration, name, getattr(plan, name))
    configuration.prompts = dict(plan.prompts)
    configuration.preset = preset_of(plan)
    configuration.save()
    configuration.roles.all().delete()
    RoleSetting.objects.bulk_create(
        RoleSetting(
            configuration=configuration,
            role=role.value,
            endpoint=endpoints[player.endpoint],
            model=player.model,
            max_tokens=player.max_tokens,
            effort=player.effort,
            temperature=player.temperature,
        )
        for role, player in plan.players.items()
    )


def _check_name(name: str) -> None:
    try:
        validate_slug(name)
    except ValidationError:
        raise BadInput(
            _("Use only unaccented letters, digits, hyphens and underscores."),
            field="name",
        ) from None
    if len(name) > 80:
        raise BadInput(_("Use at most 80 characters."), field="name")
    if name in _TAKEN_NAMES:
        raise BadInput(_("This name is reserved. Choose another name."), field="name")


def _clean_title(title: str) -> str:
    title = check_text(title, field="title", most=150).strip()
    if not title:
        raise BadInput(_("Enter a title."), field="title")
    return title


def _clean_note(note: str) -> str:
    return check_text(note, field="note", most=MAX_NOTE).strip()
