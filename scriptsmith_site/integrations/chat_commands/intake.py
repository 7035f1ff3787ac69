"""Handle a request from a chat program: authenticate it, detect replays, apply the rate limit and reply."""

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
_MOST_COUNTED = (
    100  # number of buckets, by command, in which an address's failed attempts are counted
)
# Signatures expire earlier, and a replay of a request with a token is unlikely after this time.
_KEPT = timedelta(days=7)


class OfAnotherWorkspace(authenticity.NotAuthentic):
    """The request is authentic, but its workspace may not use this command."""


class SecretUnreadable(authenticity.NotAuthentic):
    """The stored secret can't be decrypted. The fault is on this site, not with the sender."""


class Refused(Exception):
    """The reason for rejecting a request, and the HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Request:
    """A request from a chat program. `read_body` returns the raw bytes or raises Refused."""

    command: int
    read_body: Callable[[], bytes]
    headers: Mapping[str, str]
    link: Callable[[str], str] = partial(site_url)


def receive(request: Request) -> str:
    """Return the reply to a request. Only the sender sees the reply.

    Raises Refused, and TooManyAttempts for an address with too many failed attempts. Unauthenticated senders can't find
    out whether a command exists.
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
        # Check the limit only after a failure, because a correct secret must always be accepted.
        # Chat programs send the requests of all customers from the same addresses.
        guess_limits.require_room(*guess)
        _note_refusal(command, str(why))
        guess_limits.spend(*guess)
        raise Refused(401, UNKNOWN) from None
    return _answer(command, key, fields, request.link)


def delete_old() -> None:
    """Delete requests that are too old to be replayed."""
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
        raise Refused(400, "a field is repeated")
    return fields


def _prove(
    command: ChatCommand, body: bytes, fields: Mapping[str, str], headers: Mapping[str, str]
) -> str:
    if not command.sealed:
        raise SecretUnreadable("the command has no secret yet")
    try:
        secret = unseal(command.sealed)
    except CannotUnseal:
        why = (
            "the secret can't be decrypted, because SCRIPTSMITH_SECRET_KEY has changed. Paste the "
            "secret again"
        )
        raise SecretUnreadable(why) from None
    if command.kind == ChatCommand.Kind.SLACK:
        key = authenticity.check_slack(body, headers, secret, now=timezone.now())
    else:
        key = authenticity.check_mattermost(fields, headers, secret)
    if command.team and fields.get("team_id", "") != command.team:
        raise OfAnotherWorkspace("wrong workspace")
    return key


def _answer(
    command: ChatCommand, key: str, fields: Mapping[str, str], link: Callable[[str], str]
) -> str:
    """Return the reply. After authentication, explain problems in the reply, because users read it."""
    if command.paused_at is not None:
        return _("An administrator has paused this command.")
    now = timezone.now()
    lately = ChatCommandCall.objects.filter(command=command, at__gt=now - timedelta(minutes=1))
    if lately.count() >= command.requests_per_minute:
        _note_error(command, "too many requests per minute")
        return _("Too many requests. Try again in a minute.")
    try:
        with transaction.atomic():
            ChatCommandCall.objects.create(command=command, key=key, at=now)
    except IntegrityError:
        _note_refusal(command, "repeated request")
        raise Refused(409, "this request was already answered") from None
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
