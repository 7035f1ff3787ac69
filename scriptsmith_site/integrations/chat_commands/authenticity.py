"""Whether a request is of its workspace: Slack's signature over time and raw body, Mattermost's token."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

# A signed time that is farther from now than this is not taken.
MOST_SKEW = timedelta(minutes=5)
TIMESTAMP_HEADER = "X-Slack-Request-Timestamp"
SIGNATURE_HEADER = "X-Slack-Signature"
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")
_LONGEST_TRIGGER = 500


class NotAuthentic(Exception):
    """Why a request is not taken for one of its workspace; never repeats what was sent."""


def sign(body: bytes, stamp: str, secret: str) -> str:
    """Slack's signature, in its version 0."""
    signed = b"v0:" + stamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def check_slack(body: bytes, headers: Mapping[str, str], secret: str, *, now: datetime) -> str:
    """What tells this request from every other. Raises NotAuthentic."""
    stamp, sent = headers.get(TIMESTAMP_HEADER, ""), headers.get(SIGNATURE_HEADER, "")
    if not stamp.isascii() or not stamp.isdecimal() or len(stamp) > 15:
        raise NotAuthentic("the signed time is missing")
    if not _SIGNATURE.fullmatch(sent):
        raise NotAuthentic("the signature is missing")
    # Before the time, which anybody can write.
    if not hmac.compare_digest(sign(body, stamp, secret), sent):
        raise NotAuthentic("the signature is another one")
    if abs(now.timestamp() - int(stamp)) > MOST_SKEW.total_seconds():
        raise NotAuthentic("the signature is too old")
    return _hash(sent)


def check_mattermost(fields: Mapping[str, str], headers: Mapping[str, str], secret: str) -> str:
    """The same by a token, in the header `Authorization: Token` or the form. Raises NotAuthentic."""
    scheme, _space, value = headers.get("Authorization", "").partition(" ")
    sent = value.strip() if scheme.lower() == "token" else fields.get("token", "")
    if not hmac.compare_digest(_hash(sent), _hash(secret)) or not sent:
        raise NotAuthentic("the token is missing or another one")
    trigger = fields.get("trigger_id", "")
    if not 0 < len(trigger) <= _LONGEST_TRIGGER:
        raise NotAuthentic("trigger_id, which is another one each time, is missing")
    return _hash(trigger)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
