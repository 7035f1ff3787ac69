"""Receive a webhook request: authenticate it, detect retries, store it and enqueue it for a worker."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from core.sealing import CannotUnseal
from scriptsmith_site.integrations.alerts import authenticity, payloads
from scriptsmith_site.integrations.alerts.kept_secrets import unseal
from scriptsmith_site.integrations.alerts.payloads import pagerduty
from scriptsmith_site.integrations.alerts.services import tallies
from scriptsmith_site.integrations.alerts.texts import hash_of, read_json
from scriptsmith_site.integrations.alerts.types import Received, Unreadable
from scriptsmith_site.models import AlertDelivery, AlertKey, AlertSource, GuessCount
from scriptsmith_site.origin import current_origin, shared_part
from scriptsmith_site.people.sign_in import guess_limits

MOST_BYTES = 1024 * 1024
# An identical body within this many seconds is a retry. A later identical body is a reminder.
RETRY_WINDOW = 600
MOST_COUNTED = (
    100  # number of buckets, by source, in which an address's failed attempts are counted
)
UNKNOWN = "unknown source or wrong secret"
_MINUTE = timedelta(minutes=1)
# Alertmanager and Grafana drop an alert after any 4xx response, even 429, so return 503.
# Only authenticated requests get this response.
_TOO_FAST = {AlertSource.Kind.ALERTMANAGER.value: 503, AlertSource.Kind.GRAFANA.value: 503}


class KeysUnreadable(authenticity.NotAuthentic):
    """The stored keys can't be decrypted. The fault is on this site, not with the sender."""


class Refused(Exception):
    """The reason for rejecting a request, and the HTTP status. All statuses except 429 and 503 are final."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Request:
    """A request from a source. `read_body` returns the raw bytes or raises Refused."""

    kind: str
    source: int
    read_body: Callable[[], bytes]
    headers: Mapping[str, str]
    token_in_path: str = ""


def receive(request: Request) -> AlertDelivery:
    """Store the request and enqueue it. A retry is only counted.

    Raises Refused, and TooManyAttempts for an address with too many failed attempts. Unauthenticated senders can't find
    out whether a source exists.
    """
    delivery, is_new = keep(request)
    return delivery.enqueue() if is_new else delivery


def keep(request: Request) -> tuple[AlertDelivery, bool]:
    """Store the request without enqueuing it.

    Return the stored request, and whether it is new. Raises the errors of `receive`.
    """
    source = AlertSource.objects.filter(pk=request.source, kind=request.kind).first()
    # Count per source, so that failed attempts for one source do not block the others.
    # Unknown sources use the same buckets, because otherwise the responses would reveal which sources exist.
    address = shared_part(current_origin().address)
    guess = guess_limits.Kind.ALERT_SECRET, f"{address} {_counted_as(request.source)}"
    if source is None:
        guess_limits.spend(*guess)
        raise Refused(401, UNKNOWN)
    try:
        body = _read_proven(source, request, guess)
    except KeysUnreadable as why:
        tallies.note_refusal(source.pk, str(why))
        raise Refused(401, UNKNOWN) from None
    except authenticity.NotAuthentic as why:
        # Anyone may have sent the request, so count it but do not record an error for the source.
        guess_limits.spend(*guess)
        tallies.count_up(source.pk, {f"{tallies.REFUSED}{why}": 1})
        raise Refused(401, UNKNOWN) from None
    try:
        return _keep(source, request, body)
    except Refused as refusal:
        tallies.note_refusal(source.pk, refusal.reason)
        raise


def forget_wrong_secrets(source: AlertSource) -> None:
    """Reset the count of failed attempts for a source."""
    GuessCount.objects.filter(
        kind=guess_limits.Kind.ALERT_SECRET, key__endswith=_counted_as(source.pk)
    ).delete()


def _counted_as(source_id: int) -> str:
    return f"(source {source_id % MOST_COUNTED})"


def _keep(source: AlertSource, request: Request, body: bytes) -> tuple[AlertDelivery, bool]:
    if source.paused_at is not None:
        raise Refused(403, "the source is paused")
    try:
        document = read_json(body)
        received = payloads.read(source.kind, document, mapping=source.mapping)
    except Unreadable as error:
        raise Refused(422, str(error)) from None
    key, window = _key_of(source, document, request.headers, body, received)
    if _is_too_fast(source):
        raise Refused(_TOO_FAST.get(source.kind, 429), "too many requests per minute")
    delivery = AlertDelivery(source=source, raw=body.decode("utf-8"), key=key, window=window)
    try:
        with transaction.atomic():
            delivery.save(force_insert=True)
    except IntegrityError:
        AlertDelivery.objects.filter(source=source, key=key, window=window).update(
            times=F("times") + 1
        )
        tallies.count_up(source.pk, {"repeated requests": 1})
        return AlertDelivery.objects.get(source=source, key=key, window=window), False
    return delivery, True


def _key_of(
    source: AlertSource,
    document: dict[str, Any] | list[Any],
    headers: Mapping[str, str],
    body: bytes,
    received: Received,
) -> tuple[str, int]:
    """Return the key and the window that are equal for a request and its retries.

    The key is a hash of the sender's event ID, or of the body if the request has no ID. A body without a timestamp can
    be sent twice with different meanings, for example firing, resolved, firing. It counts as a retry only if the source
    sent nothing in between.
    """
    named = ""
    if source.kind == AlertSource.Kind.PAGERDUTY and isinstance(document, dict):
        named = pagerduty.event_id(document)
    elif headers.get("Ce-Id"):  # the source and ID of a CloudEvent identify it
        named = f"{headers.get('Ce-Source', '')} {headers['Ce-Id']}"
    if named:
        return hash_of("event", named), 0
    digest = hashlib.sha256(body).hexdigest()
    if all(one.says_when for one in received.alerts):
        return digest, int(time.time()) // RETRY_WINDOW
    newest = AlertDelivery.objects.filter(source=source).order_by("-created_at").first()
    if newest is None:
        return digest, -1
    is_recent = newest.created_at > timezone.now() - timedelta(seconds=RETRY_WINDOW)
    # A time window is never negative. If two identical requests arrive at the same moment, only one is stored.
    return digest, newest.window if newest.key == digest and is_recent else -1 - newest.pk


def _is_too_fast(source: AlertSource) -> bool:
    recent = AlertDelivery.objects.filter(
        source=source, created_at__gte=timezone.now() - _MINUTE
    ).order_by()
    limit = source.requests_per_minute
    return recent[: limit + 1].count() >= limit


def _read_proven(
    source: AlertSource, request: Request, guess: tuple[GuessCount.Kind, str]
) -> bytes:
    """Return the body of an authenticated request. Raises NotAuthentic, Refused, TooManyAttempts."""
    keys = AlertKey.objects.filter(source=source, revoked_at=None)
    if source.proof == AlertSource.Proof.TOKEN:
        # Check the token before reading the body. A correct token is accepted even if its address is blocked.
        token = authenticity.sent_token(request.headers, in_path=request.token_in_path)
        if not authenticity.is_known_token(token, keys.values_list("sha256", flat=True)):
            raise authenticity.NotAuthentic("missing or wrong token")
        return request.read_body()
    guess_limits.require_room(*guess)
    body = request.read_body()
    secrets = _unseal_all(keys.values_list("sealed", flat=True))
    if source.kind == AlertSource.Kind.PAGERDUTY:
        authenticity.check_pagerduty(body, request.headers, secrets)
    else:
        authenticity.check_grafana(
            body,
            request.headers,
            secrets,
            header=source.signature_header,
            timestamp_header=source.timestamp_header,
            now=timezone.now(),
        )
    return body


def _unseal_all(sealed: Iterable[str]) -> list[str]:
    """Decrypt all readable secrets. Raises KeysUnreadable if the source has secrets but none is readable."""
    secrets, unreadable = [], False
    for one in sealed:
        try:
            secrets.append(unseal(one))
        except CannotUnseal:
            unreadable = True
    if unreadable and not secrets:
        raise KeysUnreadable(
            "the secret can't be decrypted, because SCRIPTSMITH_SECRET_KEY has changed. Create a "
            "new secret"
        )
    return secrets
