"""Messages to chat channels, each sent as one JSON POST to a URL built from validated fields."""

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

# Characters that chat programs interpret, and similar characters that they only display.
_NEUTRAL = str.maketrans(
    {
        "@": "＠", "#": "＃", "<": "‹", ">": "›", "*": "∗", "_": "＿", "~": "∼", "`": "'",
        "|": "¦", "[": "(", "]": ")", "!": "ǃ", "\\": "∖", "&": "＆",
    }
)  # fmt: skip


def words_of(event: Event, *, includes_texts: bool) -> str:
    """Return the message as one line, in which a title contains no active markup."""
    kind = BY_NAME.get(event.type)
    words = str(kind.label) if kind else _("This is a test message.")
    if includes_texts and (subject := find_subject(event.model, event.object_id)):
        words = f"{words}: {neutralise(shorten(subject.title))}"
    return words


def neutralise(text: str) -> str:
    """Return the text without mentions, markup and links that a chat program would interpret."""
    return text.translate(_NEUTRAL).replace("://", ": //")


def send_message(destination: Destination, event: Event, *, secret: str) -> Answer:
    """Send one event to a channel. Errors of the receiver are returned and not raised."""
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
    # The response may contain the URL, which includes the secret.
    return answer._replace(text=answer.text.replace(checked, "…"))
