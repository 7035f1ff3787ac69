"""Services that manage endpoints. The pages and the API use only these services."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import asdict, dataclass, replace

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow, Stale
from pipeline.access import require_endpoint_manager
from pipeline.clients.destinations import is_loopback, leaves_machine
from pipeline.endpoints.address_rules import read_base_url, read_key_variable
from pipeline.ledger.capacity import tell_waiting
from pipeline.models import Configuration, Endpoint, Run
from pipeline.types import Mode

MOST_IN_FLIGHT = 1_000
MOST_SECONDS = 3_600
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TAKEN_NAMES = ("new",)  # conflicts with a URL of this site


@dataclass(frozen=True)
class EndpointValues:
    """The editable values of an endpoint. Its name never changes."""

    title: str
    base_url: str
    key_variable: str = ""
    mode: str = Mode.TEXT.value
    takes_temperature: bool = False
    has_batches: bool = False
    treat_as_remote: bool = False
    max_in_flight: int = 1
    timeout_seconds: int = 120


@transaction.atomic
def create_endpoint(name: str, *, values: EndpointValues, by: User) -> Endpoint:
    """Create an endpoint, which is initially off. Raises BadInput for invalid values."""
    require_endpoint_manager(by)
    name = name.strip()
    if not _NAME.fullmatch(name) or len(name) > 50 or name in _TAKEN_NAMES:
        raise BadInput(
            _("Use at most 50 lowercase letters, digits and hyphens, such as ollama-gpu."),
            field="name",
        )
    judged = _judge(values)
    try:
        with transaction.atomic():
            endpoint = Endpoint.objects.create(name=name, **asdict(judged))
    except IntegrityError:
        raise BadInput(_("An endpoint with this name already exists."), field="name") from None
    record(endpoint, "endpoint added", by=by, base_url=("", judged.base_url))
    return endpoint


@transaction.atomic
def change_endpoint(
    endpoint: Endpoint, *, values: EndpointValues, by: User, seen: int | None = None
) -> Endpoint:
    """Change an endpoint. `seen` is the edition on which the change is based.

    A new address or key discards the findings of the last check. A new address outside this machine turns the endpoint
    off, so that no text is sent there unnoticed. Raises BadInput, and Stale if another user has changed the endpoint in
    the meantime.
    """
    require_endpoint_manager(by)
    kept = _lock(endpoint)
    old = values_of(kept)
    if seen is not None and seen != edition_of(kept):
        raise Stale(_("Another user has changed this endpoint."), newest=edition_of(kept))
    new = _judge(values, is_built_in=kept.is_built_in)
    if kept.is_built_in:
        new = replace(new, base_url=old.base_url, key_variable=old.key_variable)
    changes = {
        name: (before, asdict(new)[name])
        for name, before in asdict(old).items()
        if before != asdict(new)[name]
    }
    if not changes:
        return kept
    for name, (_before, after) in changes.items():
        setattr(kept, name, after)
    if {"base_url", "key_variable"} & changes.keys():
        kept.probe, kept.probed_at = {}, None
    if "base_url" in changes and not is_loopback(new.base_url) and kept.is_on:
        _require_free_of_setting(kept, field="base_url")
        kept.enabled = False
        changes["enabled"] = (True, False)
    kept.save(update_fields=[*changes, "enabled", "probe", "probed_at"])
    record(kept, "endpoint changed", by=by, **changes)
    return kept


@transaction.atomic
def switch_on(endpoint: Endpoint, *, by: User, confirmed: bool = False) -> None:
    """Turn the endpoint on. Raises BadInput if it is outside this machine and `confirmed` is missing."""
    require_endpoint_manager(by)
    kept = _lock(endpoint)
    if kept.is_on:
        raise NotAllowedNow(_("This endpoint is already on."))
    if leaves_machine(kept) and not confirmed:
        raise BadInput(
            _(
                "Confirm that requests and scripts may leave this machine and that calls may be billed."
            ),
            field="confirmed",
        )
    kept.enabled = True
    kept.save(update_fields=["enabled"])
    record(kept, "turned on", by=by, base_url=(kept.base_url, kept.base_url))


@transaction.atomic
def switch_off(endpoint: Endpoint, *, by: User) -> None:
    """Turn the endpoint off, so that it gets no more calls. Runs that need it fail and can be retried later."""
    require_endpoint_manager(by)
    kept = _lock(endpoint)
    if not kept.is_on:
        raise NotAllowedNow(_("This endpoint is already off."))
    _require_free_of_setting(kept)
    kept.enabled = False
    kept.save(update_fields=["enabled"])
    record(kept, "turned off", by=by)


@transaction.atomic
def wake(endpoint: Endpoint, *, by: User) -> None:
    """Resume the endpoint, so that waiting runs may call it again. Raises NotAllowedNow if it is not paused."""
    require_endpoint_manager(by)
    now = timezone.now()
    kept = _lock(endpoint)
    if kept.blocked_until is None or kept.blocked_until <= now:
        raise NotAllowedNow(_("This endpoint is not paused."))
    was = kept.blocked_why
    kept.blocked_until, kept.blocked_why = None, ""
    kept.save(update_fields=["blocked_until", "blocked_why"])
    # This pause determined the retry times of the waiting runs.
    Run.objects.unfinished().filter(waits_for=kept, not_before__gt=now).update(not_before=None)
    tell_waiting(kept.pk)
    record(kept, "resumed", by=by, blocked_why=(was, ""))


@transaction.atomic
def delete_endpoint(endpoint: Endpoint, *, by: User) -> None:
    """Delete an endpoint and its prices. Raises NotAllowedNow if it was ever used."""
    require_endpoint_manager(by)
    if endpoint.is_built_in:
        raise NotAllowedNow(_("This built-in endpoint can't be deleted. Turn it off instead."))
    users = configurations_of(endpoint)
    if users:
        raise NotAllowedNow(
            _("These configurations use this endpoint: %(names)s. Turn it off instead.")
            % {"names": ", ".join(str(user) for user in users)}
        )
    record(endpoint, "endpoint deleted", by=by, base_url=(endpoint.base_url, ""))
    try:
        Endpoint.objects.get(pk=endpoint.pk).delete()
    except ProtectedError:
        raise NotAllowedNow(
            _("This endpoint can't be deleted because it has past calls. Turn it off instead.")
        ) from None


@transaction.atomic
def use_mode(endpoint: Endpoint, *, mode: str, by: User) -> None:
    """Use the mode that the last check recommends. Raises NotAllowedNow if `mode` is a different mode."""
    require_endpoint_manager(by)
    kept = _lock(endpoint)
    if not mode or kept.probe.get("recommended") != mode:
        raise NotAllowedNow(_("The last check no longer recommends this mode."))
    old, kept.mode = kept.mode, mode
    kept.save(update_fields=["mode"])
    record(kept, "mode set from check", by=by, mode=(old, mode))


def configurations_of(endpoint: Endpoint) -> list[Configuration]:
    """List the configurations that use the endpoint for a role, including archived configurations."""
    return list(Configuration.objects.filter(roles__endpoint=endpoint).distinct())


def values_of(endpoint: Endpoint) -> EndpointValues:
    """Return the editable values of an endpoint."""
    return EndpointValues(
        title=endpoint.title,
        base_url=endpoint.base_url,
        key_variable=endpoint.key_variable,
        mode=endpoint.mode,
        takes_temperature=endpoint.takes_temperature,
        has_batches=endpoint.has_batches,
        treat_as_remote=endpoint.treat_as_remote,
        max_in_flight=endpoint.max_in_flight,
        timeout_seconds=endpoint.timeout_seconds,
    )


def edition_of(endpoint: Endpoint) -> int:
    """Return a number that changes with the values. A save names the edition on which it is based."""
    return zlib.crc32(json.dumps(asdict(values_of(endpoint)), sort_keys=True).encode())


def on_by_setting(endpoint: Endpoint) -> bool:
    """Return whether the setting SCRIPTSMITH_ENDPOINTS turns the endpoint on. It overrides the switch on the page."""
    return endpoint.name in settings.SCRIPTSMITH_ENDPOINTS


def _lock(endpoint: Endpoint) -> Endpoint:
    # This lock does not block foreign keys, so calls that refer to the endpoint can still be recorded.
    return Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)


def _require_free_of_setting(endpoint: Endpoint, *, field: str = "") -> None:
    if not on_by_setting(endpoint):
        return
    message = _(
        "SCRIPTSMITH_ENDPOINTS turns on this endpoint. Remove the endpoint's name from the setting and restart "
        "ScriptSmith."
    )
    raise BadInput(message, field=field) if field else NotAllowedNow(message)


def _judge(values: EndpointValues, *, is_built_in: bool = False) -> EndpointValues:
    """Validate the values and return the values to store. Raises BadInput for the first invalid value."""
    title = values.title.strip()
    if not title or len(title) > 100 or "\0" in title:
        raise BadInput(_("Enter a title of at most 100 characters."), field="title")
    if values.mode not in {mode.value for mode in Mode}:
        raise BadInput(_("The mode must be schema, tool or text."), field="mode")
    for name, most in (("max_in_flight", MOST_IN_FLIGHT), ("timeout_seconds", MOST_SECONDS)):
        if not 1 <= getattr(values, name) <= most:
            raise BadInput(
                _("Enter a number from 1 to %(most)s.") % {"most": f"{most:,}"}, field=name
            )
    if is_built_in:
        return replace(values, title=title)
    base_url = read_base_url(values.base_url)
    if len(base_url) > 300:
        raise BadInput(_("Enter an address of at most 300 characters."), field="base_url")
    return replace(
        values,
        title=title,
        base_url=base_url,
        key_variable=read_key_variable(values.key_variable),
    )
