"""Authentication of slash command requests.

Slack signs the timestamp and the raw body, and Mattermost sends a token.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

# Reject a signed timestamp that differs from the current time by more than this duration.
MOST_SKEW = timedelta(minutes=5)
TIMESTAMP_HEADER = "X-Slack-Request-Timestamp"
SIGNATURE_HEADER = "X-Slack-Signature"
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")
_LONGEST_TRIGGER = 500


class NotAuthentic(Exception):
    """An authentication failure. The message never contains data from the request."""


def sign(body: bytes, stamp: str, secret: str) -> str:
    """Return Slack's version 0 signature of the timestamp and the body."""
    signed = b"v0:" + stamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def check_slack(body: bytes, headers: Mapping[str, str], secret: str, *, now: datetime) -> str:
    """Verify the signature and return a unique key for the request. Raises NotAuthentic."""
    stamp, sent = headers.get(TIMESTAMP_HEADER, ""), headers.get(SIGNATURE_HEADER, "")
    if not stamp.isascii() or not stamp.isdecimal() or len(stamp) > 15:
        raise NotAuthentic("missing timestamp")
    if not _SIGNATURE.fullmatch(sent):
        raise NotAuthentic("missing signature")
    # Check the signature before the timestamp, because anyone can send a timestamp.
    if not hmac.compare_digest(sign(body, stamp, secret), sent):
        raise NotAuthentic("wrong signature")
    if abs(now.timestamp() - int(stamp)) > MOST_SKEW.total_seconds():
        raise NotAuthentic("expired signature")
    return _hash(sent)


def check_mattermost(fields: Mapping[str, str], headers: Mapping[str, str], secret: str) -> str:
    """Verify the token in the `Authorization: Token` header or in the form. Return a unique key for the request.

    Raises NotAuthentic.
    """
    scheme, _space, value = headers.get("Authorization", "").partition(" ")
    sent = value.strip() if scheme.lower() == "token" else fields.get("token", "")
    if not hmac.compare_digest(_hash(sent), _hash(secret)) or not sent:
        raise NotAuthentic("missing or wrong token")
    trigger = fields.get("trigger_id", "")
    if not 0 < len(trigger) <= _LONGEST_TRIGGER:
        raise NotAuthentic("missing trigger_id")
    return _hash(trigger)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
