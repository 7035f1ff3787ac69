"""Administration of slash commands."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import BadInput, NotAllowedNow, Stale
from core.sealing import CannotUnseal
from scriptsmith_site.integrations.chat_commands import authenticity
from scriptsmith_site.integrations.chat_commands.intake import Refused, Request, receive
from scriptsmith_site.integrations.chat_commands.kept_secrets import seal, unseal
from scriptsmith_site.models import ChatCommand
from scriptsmith_site.people.services import require_administrator

_CHANGEABLE = ("name", "team", "requests_per_minute")
_LEAST_SECRET, _MOST_SECRET = 16, 200


@transaction.atomic
def add_command(
    kind: str, *, by: User, details: Mapping[str, object], secret: str = ""
) -> ChatCommand:
    """Create a command. Without a secret, it rejects all requests. Raises BadInput."""
    require_administrator(by)
    if kind not in ChatCommand.Kind.values:
        raise BadInput(_("Unknown kind."), field="kind")
    command = ChatCommand(kind=kind, created_by=by)
    _write(command, details, secret)
    record(command, "slash command added", by=by, kind=("", kind))
    return command


@transaction.atomic
def change_command(
    command: ChatCommand, *, by: User, details: Mapping[str, object], secret: str = "", seen: int
) -> None:
    """Change a command. An empty secret keeps the current one.

    Raises BadInput, and Stale if the command has changed since edition `seen`.
    """
    require_administrator(by)
    locked = ChatCommand.objects.select_for_update().get(pk=command.pk)
    if seen != locked.edition:
        raise Stale(
            _("Another user has changed this command since you opened it."), newest=locked.edition
        )
    before = {name: getattr(locked, name) for name in _CHANGEABLE}
    locked.edition += 1
    _write(locked, details, secret)
    changes: dict[str, tuple[object, object]] = {
        name: (old, getattr(locked, name))
        for name, old in before.items()
        if old != getattr(locked, name)
    }
    if secret.strip():
        changes["secret"] = ("", "another one")
    if changes:
        record(locked, "slash command changed", by=by, **changes)


@transaction.atomic
def set_paused(command: ChatCommand, paused: bool, *, by: User) -> None:
    """Pause or resume a command. A paused command replies that it is paused. Raises NotAllowedNow."""
    require_administrator(by)
    rows = ChatCommand.objects.filter(pk=command.pk, paused_at__isnull=paused)
    if not rows.update(paused_at=timezone.now() if paused else None):
        raise NotAllowedNow(_("Nothing changed, because the command already has this state."))
    record(command, "slash command paused" if paused else "slash command resumed", by=by)


@transaction.atomic
def remove_command(command: ChatCommand, *, by: User) -> None:
    """Delete a command and its secret."""
    require_administrator(by)
    record(command, "slash command removed", by=by, name=(command.name, ""))
    command.delete()


def test_command(command: ChatCommand, *, by: User, statement: str) -> str:
    """Send a signed test request through the webhook's code, and return the reply. Raises NotAllowedNow."""
    require_administrator(by)
    record(command, "slash command tested", by=by)
    try:
        secret = unseal(command.sealed) if command.sealed else ""
    except CannotUnseal:
        secret = ""
    fields = {"text": statement, "team_id": command.team, "trigger_id": secrets.token_hex(16)}
    if command.kind == ChatCommand.Kind.MATTERMOST:
        fields["token"] = secret
    body, stamp = urlencode(fields).encode(), str(int(time.time()))
    headers = {
        authenticity.TIMESTAMP_HEADER: stamp,
        authenticity.SIGNATURE_HEADER: authenticity.sign(body, stamp, secret),
    }
    try:
        return receive(Request(command.pk, lambda: body, headers))
    except Refused as refusal:
        raise NotAllowedNow(f"{refusal.status}: {_why(command, refusal)}") from None


def _why(command: ChatCommand, refusal: Refused) -> str:
    """Return the reason for a rejection. Only administrators see it, because it would help attackers."""
    command.refresh_from_db()
    said = [
        (command.last_error_at, command.last_error),
        (command.last_refused_at, command.last_refusal),
    ]
    newest = max((one for one in said if one[0]), default=(None, ""))
    return newest[1] if refusal.status == 401 and newest[1] else refusal.reason


def _write(command: ChatCommand, details: Mapping[str, object], secret: str) -> None:
    for name in _CHANGEABLE:
        if name in details:
            setattr(command, name, details[name])
    command.name, command.team = command.name.strip(), command.team.strip()
    if not command.name:
        raise BadInput(_("Enter a name."), field="name")
    lock_name("chat command")
    others = ChatCommand.objects.exclude(pk=command.pk)
    if others.filter(name__iexact=command.name).exists():
        raise BadInput(_("A command with this name already exists."), field="name")
    if secret := secret.strip():
        if not _LEAST_SECRET <= len(secret) <= _MOST_SECRET or not secret.isprintable():
            raise BadInput(
                _("Paste the secret exactly as the chat program shows it."), field="secret"
            )
        command.sealed = seal(secret)
    # Do not overwrite columns that the webhook updates.
    command.save(update_fields=(*_CHANGEABLE, "sealed", "edition") if command.pk else None)
