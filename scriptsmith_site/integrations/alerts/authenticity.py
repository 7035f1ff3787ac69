"""Authentication of alert requests: check tokens and signatures against every active key in constant time."""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from scriptsmith_site.integrations.alerts.kept_secrets import hash_token

# Reject a signed timestamp that differs from the current time by more than this duration.
MOST_SKEW = timedelta(minutes=5)
GRAFANA_HEADER = "X-Grafana-Alerting-Signature"
PAGERDUTY_HEADER = "X-PagerDuty-Signature"
_HEX = re.compile(r"[0-9a-f]{64}")
MOST_SIGNATURES = 10


class NotAuthentic(Exception):
    """An authentication failure. The message never contains data from the request."""


def sent_token(headers: Mapping[str, str], *, in_path: str = "") -> str:
    """Return a request's token, which is in the path, the bearer token or the basic authentication password."""
    scheme, _space, value = headers.get("Authorization", "").partition(" ")
    value = value.strip()
    if in_path:
        return in_path
    if scheme.lower() == "bearer":
        return value
    if scheme.lower() == "basic":
        try:
            return b64decode(value, validate=True).decode().partition(":")[2]
        except ValueError:
            return ""
    return ""


def is_known_token(token: str, hashes: Iterable[str]) -> bool:
    """Return whether the token has one of these hashes.

    Compare all hashes, so that the response time reveals nothing.
    """
    wanted = hash_token(token)
    found = [hmac.compare_digest(wanted, one) for one in hashes]
    return bool(token) and any(found)


def check_grafana(
    body: bytes,
    headers: Mapping[str, str],
    keys: Sequence[str],
    *,
    header: str,
    timestamp_header: str,
    now: datetime,
) -> None:
    """Raise NotAuthentic unless one of the keys signed the body.

    With `timestamp_header`, the signature also covers the timestamp, which must be recent.
    """
    signed = body
    if timestamp_header:
        stamp = headers.get(timestamp_header, "")
        if not stamp.isascii() or not stamp.isdecimal() or len(stamp) > 15:
            raise NotAuthentic("missing timestamp")
        if abs(now.timestamp() - int(stamp)) > MOST_SKEW.total_seconds():
            raise NotAuthentic("expired signature")
        signed = stamp.encode() + b":" + body
    _require_one([headers.get(header or GRAFANA_HEADER, "")], signed, keys)


def check_pagerduty(body: bytes, headers: Mapping[str, str], keys: Sequence[str]) -> None:
    """Raise NotAuthentic unless a signature in the header was made with one of the keys."""
    sent = headers.get(PAGERDUTY_HEADER, "").split(",")[:MOST_SIGNATURES]
    pairs = (one.strip().partition("=") for one in sent)
    _require_one([value for version, _is, value in pairs if version == "v1"], body, keys)


def sign(body: bytes, key: str) -> str:
    """Return the HMAC-SHA256 of the body in lowercase hex."""
    return hmac.new(key.encode(), body, hashlib.sha256).hexdigest()


def _require_one(sent: Sequence[str], body: bytes, keys: Sequence[str]) -> None:
    sent = [one for one in sent if _HEX.fullmatch(one)]
    if not sent:
        raise NotAuthentic("missing signature")
    fits = [hmac.compare_digest(sign(body, key), one) for key in keys for one in sent]
    if not any(fits):
        raise NotAuthentic("wrong signature")
