"""A request of a chat program: proven, new, not too many; answered and counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from urllib.parse import parse_qsl

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.sealing import CannotUnseal
from core.web.site_address import site_url
from scriptsmith_site.integrations.chat_commands import authenticity
from scriptsmith_site.integrations.chat_commands.answers import Said, answer_to
from scriptsmith_site.integrations.chat_commands.kept_secrets import unseal
from scriptsmith_site.models import ChatCommand, ChatCommandCall
from scriptsmith_site.origin import current_origin, shared_part
from scriptsmith_site.people.sign_in import guess_limits

MOST_BYTES = 16 * 1024
MOST_FIELDS = 50
UNKNOWN = "unknown command or wrong secret"
_MOST_COUNTED = 100  # commands whose wrong secrets are counted apart, for one address
# Longer than a signature is good for, and than anybody would remember a token's request.
_KEPT = timedelta(days=7)


class OfAnotherWorkspace(authenticity.NotAuthentic):
    """Proven, and sent by a workspace that this command is not for."""


class SecretUnreadable(authenticity.NotAuthentic):
    """Our own fault, whoever sent the request."""


class Refused(Exception):
    """Why a request is not answered, with the status that says so."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Request:
    """What came; `read_body` gives its bytes as they came, or raises Refused."""

    command: int
    read_body: Callable[[], bytes]
    headers: Mapping[str, str]
    link: Callable[[str], str] = partial(site_url)


def receive(request: Request) -> str:
    """The message for whoever asked, and for nobody else.

    Raises Refused, and TooManyAttempts for an address that sent too many wrong secrets. Who proves nothing is told
    nothing: not even whether there is such a command.
    """
    address = shared_part(current_origin().address)
    kind = guess_limits.Kind.COMMAND_SECRET
    guess = kind, f"{address} (command {request.command % _MOST_COUNTED})"
    body = request.read_body()
    fields = _read_fields(body)
    command = ChatCommand.objects.filter(pk=request.command).first()
    if command is None:
        guess_limits.require_room(*guess)
        guess_limits.spend(*guess)
        raise Refused(401, UNKNOWN)
    try:
        key = _prove(command, body, fields, request.headers)
    except SecretUnreadable as why:
        _note_error(command, str(why))
        raise Refused(401, UNKNOWN) from None
    except OfAnotherWorkspace as why:
        _note_refusal(command, str(why))
        raise Refused(401, UNKNOWN) from None
    except authenticity.NotAuthentic as why:
        # The right secret opens the door whatever else comes from its address: chat programs send for all their
        # customers from the same ones.
        guess_limits.require_room(*guess)
        _note_refusal(command, str(why))
        guess_limits.spend(*guess)
        raise Refused(401, UNKNOWN) from None
    return _answer(command, key, fields, request.link)


def delete_old() -> None:
    """Requests that could not come again are forgotten."""
    ChatCommandCall.objects.filter(at__lt=timezone.now() - _KEPT).delete()


def _read_fields(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise Refused(400, "the form can't be read") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Refused(400, "a field came twice")
    return fields


def _prove(
    command: ChatCommand, body: bytes, fields: Mapping[str, str], headers: Mapping[str, str]
) -> str:
    if not command.sealed:
        raise SecretUnreadable("it has no secret yet")
    try:
        secret = unseal(command.sealed)
    except CannotUnseal:
        why = "the secret can't be read, since SECRET_KEY is another one: paste it again"
        raise SecretUnreadable(why) from None
    if command.kind == ChatCommand.Kind.SLACK:
        key = authenticity.check_slack(body, headers, secret, now=timezone.now())
    else:
        key = authenticity.check_mattermost(fields, headers, secret)
    if command.team and fields.get("team_id", "") != command.team:
        raise OfAnotherWorkspace("it is of another workspace")
    return key


def _answer(
    command: ChatCommand, key: str, fields: Mapping[str, str], link: Callable[[str], str]
) -> str:
    """From here on people read it: what is wrong is said in words, in their chat."""
    if command.paused_at is not None:
        return _("An administrator has paused this command.")
    now = timezone.now()
    lately = ChatCommandCall.objects.filter(command=command, at__gt=now - timedelta(minutes=1))
    if lately.count() >= command.requests_per_minute:
        _note_error(command, "too many requests in a minute")
        return _("Too many people ask at once; try again in a minute.")
    try:
        with transaction.atomic():
            ChatCommandCall.objects.create(command=command, key=key, at=now)
    except IntegrityError:
        _note_refusal(command, "a request was sent again")
        raise Refused(409, "this request was answered already") from None
    said = answer_to(fields.get("text", ""), kind=command.kind, link=link)
    _note_answer(command, said)
    return said.text


def _note_answer(command: ChatCommand, said: Said) -> None:
    ChatCommand.objects.filter(pk=command.pk).update(last_success_at=timezone.now())
    record(
        command,
        "slash command answered",
        by=None,
        answer=("", said.note),
        entries=("", ", ".join(said.entries)),
    )


def _note_error(command: ChatCommand, reason: str) -> None:
    ChatCommand.objects.filter(pk=command.pk).update(
        last_error_at=timezone.now(), last_error=reason[:300]
    )


def _note_refusal(command: ChatCommand, reason: str) -> None:
    ChatCommand.objects.filter(pk=command.pk).update(
        refusals=F("refusals") + 1, last_refused_at=timezone.now(), last_refusal=reason[:300]
    )
