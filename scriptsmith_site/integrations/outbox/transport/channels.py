"""Messages to chat channels: one POST of JSON each, to an address made of fields that were checked."""

from __future__ import annotations

import json

from django.utils.translation import gettext as _

from core.errors import BadInput
from core.web.site_address import site_url
from scriptsmith_site.integrations.outbox.events.event_types import BY_NAME
from scriptsmith_site.integrations.outbox.events.subjects import find_subject
from scriptsmith_site.integrations.outbox.transport.channel_kinds import (
    CHANNELS,
    check_host,
    check_secret,
    is_named,
)
from scriptsmith_site.integrations.outbox.transport.payloads import shorten
from scriptsmith_site.integrations.outbox.transport.sending import Answer, post
from scriptsmith_site.models import Destination, Event

# What chat programs act on instead of showing it, and what is shown in its place.
_NEUTRAL = str.maketrans(
    {
        "@": "＠", "#": "＃", "<": "‹", ">": "›", "*": "∗", "_": "＿", "~": "∼", "`": "'",
        "|": "¦", "[": "(", "]": ")", "!": "ǃ", "\\": "∖", "&": "＆",
    }
)  # fmt: skip


def words_of(event: Event, *, includes_texts: bool) -> str:
    """One line; what chat programs would act on stands there as plain signs."""
    kind = BY_NAME.get(event.type)
    words = str(kind.label) if kind else _("This is a test. Nothing happened.")
    if includes_texts and (subject := find_subject(event.model, event.object_id)):
        words = f"{words}: {neutralise(shorten(subject.title))}"
    return words


def neutralise(text: str) -> str:
    """The text with no mention, mark or link in it that a chat program would act on."""
    return text.translate(_NEUTRAL).replace("://", ": //")


def send_message(destination: Destination, event: Event, *, secret: str) -> Answer:
    """Say one event in a channel. Raises nothing for what the other side does."""
    try:
        host = check_host(destination.kind, destination.address)
        checked = check_secret(destination.kind, secret)
    except BadInput as refusal:
        return Answer(error=str(refusal), is_away=True)
    channel = CHANNELS[Destination.Kind(destination.kind)]
    words = words_of(event, includes_texts=destination.includes_texts)
    link = event.data.get("link") or site_url("/")
    content = json.dumps(channel.document(words, link)).encode()
    answer = post(channel.url(host, checked), content, is_named=is_named(host))
    # A server may say the address that it was asked at.
    return answer._replace(text=answer.text.replace(checked, "…"))
