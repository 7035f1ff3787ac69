"""Kinds of chat channels, with their hosts, secrets, URLs and message formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.utils.translation import gettext as _

from core.errors import BadInput
from core.network.addresses import Zone, read_address, zone_of
from scriptsmith_site.integrations.outbox.transport.addresses import check_port
from scriptsmith_site.models import Destination

_TEAMS_HOSTS = (".logic.azure.com", ".environment.api.powerplatform.com")
_HOST = re.compile(r"[a-z0-9.-]{1,200}(:[0-9]{1,5})?")


@dataclass(frozen=True)
class ChannelKind:
    """A kind of chat channel, with the format of its secret and its allowed hosts.

    `url` builds the URL from the host and the secret, and `document` builds the body from the message text and the
    link.
    """

    secret: re.Pattern[str]
    looks_like: str
    pasted: str  # the URL prefix to remove if a user pastes the whole URL
    allows: Callable[[str], bool]
    url: Callable[[str, str], str]
    document: Callable[[str, str], dict[str, object]]


def is_named(host: str) -> bool:
    """Return whether the settings name this chat server, which may then be in a private network."""
    return host in settings.SCRIPTSMITH_CHAT_HOSTS


def _slack_url(_host: str, secret: str) -> str:
    return f"https://hooks.slack.com/services/{secret}"


def _mattermost_url(host: str, secret: str) -> str:
    address = read_address(host.partition(":")[0])
    is_here = address is not None and zone_of(address) is Zone.LOOPBACK
    return f"{'http' if is_here else 'https'}://{host}/hooks/{secret}"


def _teams_url(host: str, secret: str) -> str:
    workflow, signature = secret.split("/")
    query = {
        "api-version": "2016-06-01",
        "sp": "/triggers/manual/run",
        "sv": "1.0",
        "sig": signature,
    }
    path = f"workflows/{workflow}/triggers/manual/paths/invoke"
    return f"https://{host}/{path}?{urlencode(query)}"


def _as_text(words: str, link: str) -> dict[str, object]:
    return {"text": f"{words}\n{link}"}


def _as_card(words: str, link: str) -> dict[str, object]:
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": words, "wrap": True}],
        "actions": [{"type": "Action.OpenUrl", "title": _("Open"), "url": link}],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


CHANNELS = {
    Destination.Kind.SLACK: ChannelKind(
        re.compile(r"T[A-Z0-9]{2,20}/B[A-Z0-9]{2,20}/[A-Za-z0-9]{10,40}"),
        "T0000/B0000/XXXXXXXX",
        "https://hooks.slack.com/services/",
        lambda host: host == "",
        _slack_url,
        _as_text,
    ),
    Destination.Kind.MATTERMOST: ChannelKind(
        re.compile(r"[A-Za-z0-9]{10,64}"),
        "abcdefghijklmnopqrstuvwxyz",
        "",
        is_named,
        _mattermost_url,
        _as_text,
    ),
    Destination.Kind.TEAMS: ChannelKind(
        re.compile(r"[A-Za-z0-9_-]{10,80}/[A-Za-z0-9_-]{10,80}"),
        "WORKFLOW/SIGNATURE",
        "",
        lambda host: host.partition(":")[0].endswith(_TEAMS_HOSTS) or is_named(host),
        _teams_url,
        _as_card,
    ),
}


def check_host(kind: str, host: str) -> str:
    """Validate a channel's host, and return it in its stored form.

    Raises BadInput if this kind does not allow the host.
    """
    host = host.strip().lower()
    channel = CHANNELS[Destination.Kind(kind)]
    if host and not _HOST.fullmatch(host):
        raise BadInput(
            _("Enter a host such as chat.example.org, without https://."), field="address"
        )
    if ":" in host and not is_named(host):
        check_port(int(host.rpartition(":")[2]))
    if not channel.allows(host):
        if kind == Destination.Kind.SLACK:
            raise BadInput(
                _("Leave this empty, because Slack always uses its own host."), field="address"
            )
        raise BadInput(
            _("This host is not listed in SCRIPTSMITH_CHAT_HOSTS."),
            field="address",
        )
    return host


def check_secret(kind: str, secret: str) -> str:
    """Validate a channel's secret, and return it in its stored form. Raises BadInput, which never quotes the secret."""
    channel = CHANNELS[Destination.Kind(kind)]
    secret = secret.strip()
    if channel.pasted:
        secret = secret.removeprefix(channel.pasted)
    if not channel.secret.fullmatch(secret):
        raise BadInput(_("The secret must look like %s.") % channel.looks_like, field="secret")
    return secret
