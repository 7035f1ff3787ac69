"""Administration of alert sources, and of the rules that request scripts automatically."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import BadInput, NotAllowedNow, Stale
from pipeline.access import ASK
from scriptsmith_site.integrations.alerts.kept_secrets import hash_token, seal
from scriptsmith_site.integrations.alerts.matchers import BadMatcher, read_matchers
from scriptsmith_site.integrations.alerts.payloads import generic
from scriptsmith_site.integrations.alerts.services.intake import forget_wrong_secrets
from scriptsmith_site.models import AlertKey, AlertRule, AlertSource
from scriptsmith_site.people.services import is_service_account, require_administrator

Kind = AlertSource.Kind
Proof = AlertSource.Proof
_SHOWN = 4  # number of characters that are shown to identify a secret
_LEAST_KEY, _MOST_KEY = 16, 500
_CHANGEABLE = (
    *("name", "signature_header", "timestamp_header", "mapping", "matchers"),
    *("least_severity", "requests_per_minute", "most_open"),
)


class MadeKey(NamedTuple):
    """A new key and its secret, which is shown only once."""

    key: AlertKey
    secret: str


def proofs_of(kind: str) -> tuple[Proof, ...]:
    """Return the authentication methods for this kind of source."""
    if kind == Kind.GRAFANA:
        return (Proof.TOKEN, Proof.SIGNATURE)
    return (Proof.SIGNATURE,) if kind == Kind.PAGERDUTY else (Proof.TOKEN,)


@transaction.atomic
def add_source(kind: str, *, by: User, details: Mapping[str, object]) -> AlertSource:
    """Create a source without a key. Raises BadInput."""
    require_administrator(by)
    if kind not in Kind.values:
        raise BadInput(_("Unknown kind."), field="kind")
    source = AlertSource(kind=kind, created_by=by)
    wanted = [one for one in proofs_of(kind) if one == details.get("proof")]
    source.proof = (wanted or proofs_of(kind))[0]
    _write(source, details)
    record(source, "alert source added", by=by, kind=("", kind))
    return source


@transaction.atomic
def change_source(
    source: AlertSource, *, by: User, details: Mapping[str, object], seen: int
) -> None:
    """Change the source. Raises BadInput, and Stale if it has changed since edition `seen`."""
    require_administrator(by)
    locked = AlertSource.objects.select_for_update().get(pk=source.pk)
    if seen != locked.edition:
        raise Stale(
            _("Another user has changed this source since you opened it."), newest=locked.edition
        )
    before = {name: getattr(locked, name) for name in _CHANGEABLE}
    locked.edition += 1
    _write(locked, details)
    changes = {
        name: (old, getattr(locked, name))
        for name, old in before.items()
        if old != getattr(locked, name)
    }
    if changes:
        record(locked, "alert source changed", by=by, **changes)


def check_source(source: AlertSource) -> None:
    """Raise BadInput for a missing or duplicate name, an invalid matcher or an incomplete mapping."""
    if not source.name.strip():
        raise BadInput(_("Enter a name."), field="name")
    others = AlertSource.objects.exclude(pk=source.pk)
    if others.filter(name__iexact=source.name).exists():
        raise BadInput(_("A source with this name already exists."), field="name")
    try:
        read_matchers(source.matchers)
    except BadMatcher as error:
        raise BadInput(str(error), field="matchers") from error
    if source.kind == Kind.GENERIC:
        check_mapping(source.mapping)


def check_mapping(mapping: Mapping[str, str]) -> None:
    """Raise BadInput if a pointer is invalid or a required part is missing. The error's field names the part."""
    for part in generic.REQUIRED:
        if not mapping.get(part):
            raise BadInput(_("Enter the path to this value."), field=f"at_{part}")
    for part, pointer in mapping.items():
        if pointer and (problem := generic.check_pointer(pointer)):
            raise BadInput(problem, field=f"at_{part}")


def _write(source: AlertSource, details: Mapping[str, object]) -> None:
    for name in _CHANGEABLE:
        if name in details:
            setattr(source, name, details[name])
    source.name = source.name.strip()
    lock_name("alert source")
    check_source(source)
    # Do not overwrite columns that the webhook updates.
    source.save(update_fields=(*_CHANGEABLE, "edition") if source.pk else None)


@transaction.atomic
def make_key(source: AlertSource, *, by: User, secret: str = "") -> MadeKey:
    """Add a key. PagerDuty generates its own secret, which the user must paste. Raises BadInput."""
    require_administrator(by)
    if source.kind == Kind.PAGERDUTY:
        secret = secret.strip()
        if not _LEAST_KEY <= len(secret) <= _MOST_KEY or not secret.isprintable():
            raise BadInput(_("Paste the secret exactly as PagerDuty showed it."), field="secret")
    else:
        secret = secrets.token_urlsafe(32)
    is_token = source.proof == Proof.TOKEN
    key = AlertKey.objects.create(
        source=source,
        sha256=hash_token(secret) if is_token else "",
        sealed="" if is_token else seal(secret),
        prefix=secret[:_SHOWN],
        created_by=by,
    )
    forget_wrong_secrets(source)
    record(source, "alert key created", by=by, key=("", key))
    return MadeKey(key, secret)


@transaction.atomic
def revoke_key(key: AlertKey, *, by: User) -> None:
    """Revoke the key. Raises NotAllowedNow."""
    require_administrator(by)
    if not AlertKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now()):
        raise NotAllowedNow(_("This secret is already revoked."))
    record(key.source, "alert key revoked", by=by, key=(key, ""))


@transaction.atomic
def set_paused(source: AlertSource, paused: bool, *, by: User) -> None:
    """Pause or resume the source. Requests from a paused source are rejected. Raises NotAllowedNow."""
    require_administrator(by)
    rows = AlertSource.objects.filter(pk=source.pk, paused_at__isnull=paused)
    if not rows.update(paused_at=timezone.now() if paused else None):
        raise NotAllowedNow(_("Nothing changed, because the source already has this state."))
    record(source, "alert source paused" if paused else "alert source resumed", by=by)


# --- Rules --------------------------------------------------------------------------------------------------------


@transaction.atomic
def save_rule(
    rule: AlertRule, *, by: User, seen: int | None = None, **details: object
) -> AlertRule:
    """Create or change a rule. A new rule is off.

    Raises BadInput, and Stale if the rule has changed since edition `seen`. Without `seen`, changes by other users are
    overwritten.
    """
    require_administrator(by)
    is_new = rule.pk is None
    before: dict[str, object] = {}
    if not is_new:
        locked = AlertRule.objects.select_for_update().get(pk=rule.pk)
        if seen not in (None, locked.edition):
            raise Stale(
                _("Another user has changed this rule since you opened it."), newest=locked.edition
            )
        before = {name: getattr(locked, name) for name in details}
        rule.edition = locked.edition + 1
    for name, value in details.items():
        setattr(rule, name, value)
    rule.name = rule.name.strip()
    lock_name("alert rule")
    if AlertRule.objects.exclude(pk=rule.pk).filter(name__iexact=rule.name).exists():
        raise BadInput(_("A rule with this name already exists."), field="name")
    try:
        read_matchers(rule.matchers)
    except BadMatcher as error:
        raise BadInput(str(error), field="matchers") from error
    if not is_service_account(rule.account) or not rule.account.has_perm(ASK):
        raise BadInput(_("Choose a service account with the Reviewer role."), field="account")
    if is_new:
        rule.created_by = by
    rule.save(update_fields=None if is_new else [*details, "edition"])
    changes = {
        name: (_shown(before.get(name, "")), _shown(getattr(rule, name)))
        for name in details
        if is_new or before[name] != getattr(rule, name)
    }
    if changes:
        record(rule, "alert rule created" if is_new else "alert rule changed", by=by, **changes)
    return rule


def _shown(value: object) -> object:
    """Return a value for the audit log. Replace a user with an ID, because a name would remain after anonymization."""
    if isinstance(value, User):
        return f"person-{value.pk}"
    return "" if value is None else value


@transaction.atomic
def switch_rule(rule: AlertRule, is_on: bool, *, by: User) -> None:
    """Switch the rule on or off. Raises NotAllowedNow."""
    require_administrator(by)
    if not AlertRule.objects.filter(pk=rule.pk, is_on=not is_on).update(is_on=is_on):
        raise NotAllowedNow(_("Nothing changed, because the rule already has this state."))
    record(rule, "alert rule switched", by=by, is_on=(not is_on, is_on))
