"""*Test now*: process a sample like a real request, from authentication to the incident."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from core.audit import record
from core.errors import NotAllowedNow
from scriptsmith_site.integrations.alerts import authenticity, payloads
from scriptsmith_site.integrations.alerts.kept_secrets import hash_token, seal
from scriptsmith_site.integrations.alerts.samples import make_sample
from scriptsmith_site.integrations.alerts.services.intake import Refused, Request, keep
from scriptsmith_site.integrations.alerts.services.processing import passes, take_in
from scriptsmith_site.models import AlertKey, AlertSource, Incident
from scriptsmith_site.people.services import require_administrator


class Tested(NamedTuple):
    """The result of a test. `incident` is None if the filters excluded the sample or too many incidents are open."""

    incident: Incident | None
    is_filtered: bool


@transaction.atomic
def test_source(source: AlertSource, *, by: User) -> Tested:
    """Send one sample alert with a temporary key. Raises NotAllowedNow.

    The sample is processed here, before a worker can see it, and rules ignore it.
    """
    require_administrator(by)
    secret = secrets.token_urlsafe(32)
    is_token = source.proof == AlertSource.Proof.TOKEN
    key = AlertKey.objects.create(
        source=source,
        sha256=hash_token(secret) if is_token else "",
        sealed="" if is_token else seal(secret),
        prefix="test",
        created_by=by,
    )
    sample = make_sample(source.kind, source.mapping)
    body = json.dumps(sample).encode()
    headers = _headers(source, body, secret)
    try:
        delivery, _is_new = keep(Request(source.kind, source.pk, lambda: body, headers))
    except Refused as refusal:
        raise NotAllowedNow(f"{refusal.status}: {refusal.reason}") from None
    key.delete()
    record(source, "alert source tested", by=by)
    take_in(delivery.pk, is_test=True)
    (sent,) = payloads.read(source.kind, sample, mapping=source.mapping).alerts
    made = Incident.objects.filter(alerts__source=source, alerts__key=sent.key).first()
    return Tested(made, is_filtered=not passes(source, sent))


def _headers(source: AlertSource, body: bytes, secret: str) -> dict[str, str]:
    if source.proof == AlertSource.Proof.TOKEN:
        return {"Authorization": f"Bearer {secret}"}
    if source.kind == AlertSource.Kind.PAGERDUTY:
        return {authenticity.PAGERDUTY_HEADER: f"v1={authenticity.sign(body, secret)}"}
    header = source.signature_header or authenticity.GRAFANA_HEADER
    if not source.timestamp_header:
        return {header: authenticity.sign(body, secret)}
    stamp = str(int(datetime.now(UTC).timestamp()))
    signed = authenticity.sign(stamp.encode() + b":" + body, secret)
    return {header: signed, source.timestamp_header: stamp}
