"""Process stored requests into alerts and incidents.

Each group has one incident, and requests may come in any order.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.leased_jobs import Claim, JobState, LostLease, claim, dispatch_unheld
from scriptsmith_site.integrations.alerts import payloads
from scriptsmith_site.integrations.alerts.matchers import BadMatcher, all_hold, read_matchers
from scriptsmith_site.integrations.alerts.services import rule_runs, tallies
from scriptsmith_site.integrations.alerts.texts import read_json
from scriptsmith_site.integrations.alerts.types import Received, ReceivedAlert, Unreadable
from scriptsmith_site.models import Alert, AlertDelivery, AlertSource, Incident, IncidentEvent

logger = logging.getLogger(__name__)

# A resolved incident that fires again within this time is reopened.
FLAPPING = timedelta(hours=1)
MOST_KEPT = 500  # alerts stored per incident; the rest are only counted
MOST_TRIES = 10  # attempts to process a request
ERASED_RAW = "{}"
OF_ERASED = "of an erased incident"
_OPENING = 0  # the lock key for opening a source's incidents; groups have other keys


def take_in(delivery_id: int, *, is_test: bool = False) -> None:
    """Process a request unless another worker is processing it. Tests trigger no rules and do not count as success."""
    held = claim(AlertDelivery, delivery_id)
    if held is None:
        return
    delivery = AlertDelivery.objects.select_related("source").get(pk=delivery_id)
    source = delivery.source
    if held.fence > MOST_TRIES:
        _give_up(held, delivery, f"failed after {MOST_TRIES} attempts (see the workers' log)")
        return
    try:
        received = payloads.read(
            source.kind, read_json(delivery.raw.encode()), mapping=source.mapping
        )
    except Unreadable as error:  # the mapping has changed since the request was stored
        _give_up(held, delivery, str(error))
        return
    try:
        _write(held, delivery, received, is_test=is_test)
    except LostLease:
        logger.info("Another worker has taken over %s", delivery)


def _give_up(held: Claim[AlertDelivery], delivery: AlertDelivery, error: str) -> None:
    erased = Incident.objects.filter(source=delivery.source_id, erased_at__gte=delivery.created_at)
    texts = {"raw": ERASED_RAW} if erased.exists() else {}
    held.end(JobState.FAILED, error=error[:300], **texts)
    tallies.note_refusal(delivery.source_id, error)


def take_in_missed() -> int:
    """Enqueue requests that no worker is processing, and return the number of requests."""
    return dispatch_unheld(AlertDelivery, limit=500)


@transaction.atomic
def _write(
    held: Claim[AlertDelivery], delivery: AlertDelivery, received: Received, *, is_test: bool
) -> None:
    counts = apply(delivery.source, received, delivery.created_at, is_test=is_test)
    tallies.count_up(delivery.source_id, counts)
    if not is_test:
        tallies.note_success(delivery.source_id)
    # Use the same transaction, so that the request is processed completely or not at all.
    held.note()
    held.end(JobState.DONE, **({"raw": ERASED_RAW} if counts[OF_ERASED] else {}))


def passes(source: AlertSource, alert: ReceivedAlert) -> bool:
    """Return whether the source's filters accept the alert."""
    try:
        matchers = read_matchers(source.matchers)
    except BadMatcher:
        return False
    return alert.severity <= source.least_severity and all_hold(matchers, alert.labels)


@transaction.atomic
def apply(
    source: AlertSource, received: Received, at: datetime, *, is_test: bool = False
) -> Counter[str]:
    """Store the alerts and incidents of a request received at `at`, and return the number of alerts by result."""
    counts: Counter[str] = Counter(requests=1, truncated=received.truncated)
    groups: dict[str, list[ReceivedAlert]] = defaultdict(list)
    for alert in received.alerts:
        if passes(source, alert):
            groups[alert.group].append(alert)
        else:
            counts["filtered"] += 1
    for group in sorted(groups):
        lock_group(source.pk, group)
    # The group was erased while the request waited, so its text must not be stored again.
    erased = Incident.objects.filter(source=source, group__in=[*groups], erased_at__gte=at)
    for group in set(erased.values_list("group", flat=True)):
        counts[OF_ERASED] += len(groups.pop(group))
    for group in sorted(groups):
        is_whole = received.resolved_group == group
        writer = _Group(source, group, counts, at, may_ask=not is_test)
        writer.write(groups[group], truncated=received.truncated, is_over=is_whole)
    return counts


def lock_group(source_id: int, group: str) -> None:
    """Lock the group until the end of the transaction."""
    _lock(source_id, int(group[:7], 16) + 1)


def _lock(source_id: int, key: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [source_id, key])


class _Group:
    """The alerts of one group in a request, and the incident that they belong to."""

    def __init__(
        self,
        source: AlertSource,
        group: str,
        counts: Counter[str],
        at: datetime,
        *,
        may_ask: bool,
    ) -> None:
        self._source = source
        self._group = group
        self._counts = counts
        self._at = at
        self._may_ask = may_ask
        self._now = timezone.now()
        self._repeats = 0
        self._ended = 0

    def write(self, received: Sequence[ReceivedAlert], *, truncated: int, is_over: bool) -> None:
        """Store new, repeated and resolved alerts."""
        unique = {one.key: one for one in received}
        self._counts["duplicate requests"] += len(received) - len(unique)
        known = {one.key: one for one in Alert.objects.filter(source=self._source, key__in=unique)}
        fresh = []
        for key, one in unique.items():
            if key not in known:
                fresh.append(one)
            elif self._update(known[key], one):
                fresh.append(one)  # the alert fires again
        incident = self._incident_for(fresh, known, unique)
        if incident is not None:
            fresh = [one for one in fresh if not self._ends_another(one, incident)]
        self._store(fresh, known, incident)
        if incident is None:
            return
        if is_over:
            ended = self._rest_of(incident, received).update(
                state=Alert.State.RESOLVED, ends_at=self._now
            )
            self._ended += ended
            self._counts["resolved with their group"] += ended
        incident.truncated = truncated
        incident.repeats += self._repeats
        incident.last_at = self._now
        incident.firing = incident.alerts.filter(state=Alert.State.FIRING).count()
        incident.firing += incident.unkept
        if incident.is_open and not incident.firing and (self._ended or is_over):
            incident.state = Incident.State.RESOLVED
            incident.resolved_at = self._now
            self._event(incident, IncidentEvent.Kind.RESOLVED)
        incident.save(
            update_fields=[
                *("state", "resolved_at", "severity", "firing", "repeats", "truncated"),
                *("unkept", "last_at"),
            ]
        )

    def _rest_of(self, incident: Incident, received: Sequence[ReceivedAlert]) -> QuerySet[Alert]:
        """Return the firing alerts that are resolved with the group although the request does not contain them.

        A request may be late or replayed, so alerts that started after the group's end or arrived after the request
        keep firing.
        """
        end = max((one.ends_at or self._at for one in received), default=self._at)
        began_before = Q(starts_at=None) | Q(starts_at__lte=end)
        firing = incident.alerts.filter(state=Alert.State.FIRING, first_at__lt=self._at)
        return firing.filter(began_before)

    def _ends_another(self, sent: ReceivedAlert, incident: Incident) -> bool:
        """Resolve an earlier alert with the same labels, and return whether one was found.

        Grafana sets the start of a resolved alert to its end time, so its key differs from the firing alert's key.
        """
        if not sent.is_resolved or sent.starts_at is None or sent.starts_at != sent.ends_at:
            return False
        same = incident.alerts.filter(state=Alert.State.FIRING, labels=dict(sent.labels))
        ended = same.filter(starts_at__lte=sent.starts_at).update(
            state=Alert.State.RESOLVED, ends_at=sent.ends_at or self._now, last_at=self._now
        )
        self._ended += ended
        self._counts["resolved"] += ended
        return bool(ended)

    def _update(self, known: Alert, sent: ReceivedAlert) -> bool:
        """Update a known alert, and return whether it fires again."""
        said_at = self._said_at(sent)
        is_old = bool(known.said_at and said_at and said_at < known.said_at)
        was_over = known.state == Alert.State.RESOLVED
        # An alert whose start is part of its key cannot fire again.
        begins_again = was_over and not sent.is_resolved and bool(said_at) and not is_old
        known.times += 1
        known.last_at = self._now
        known.said_at = known.said_at if is_old else said_at
        if not is_old and sent.is_resolved and not was_over:
            known.state = Alert.State.RESOLVED
            known.ends_at = sent.ends_at or said_at or self._now
            self._ended += 1
            self._counts["resolved"] += 1
        elif begins_again:
            known.state, known.ends_at = Alert.State.FIRING, None
            self._counts["fired again"] += 1
        else:
            self._repeats += 1
            self._counts["repeated"] += 1
        known.save(update_fields=["times", "last_at", "said_at", "state", "ends_at"])
        return begins_again

    def _said_at(self, sent: ReceivedAlert) -> datetime | None:
        """Return the time of the sender's report, or of its arrival if the alert has no timestamps."""
        return sent.said_at if sent.says_when else self._at

    def _incident_for(
        self,
        fresh: Sequence[ReceivedAlert],
        known: dict[str, Alert],
        unique: dict[str, ReceivedAlert],
    ) -> Incident | None:
        """Return the group's open incident. Otherwise, reopen a flapping incident, or create one for firing alerts."""
        newest = (
            Incident.objects.select_for_update()
            .filter(source=self._source, group=self._group)
            .order_by("-pk")
            .first()
        )
        if newest is not None and newest.is_open:
            self._raise_severity(newest, fresh)
            return newest
        firing = [one for one in fresh if not one.is_resolved]
        # These known alerts are still firing, but their incident was never created or was erased.
        firing += [
            one
            for key, one in unique.items()
            if key in known
            and known[key].state == Alert.State.FIRING
            and not one.is_resolved
            and one not in firing
        ]
        if not firing:
            return newest if known else None
        if (
            newest is not None
            and newest.erased_at is None
            and newest.resolved_at
            and newest.resolved_at > self._now - FLAPPING
        ):
            newest.state, newest.resolved_at = Incident.State.OPEN, None
            newest.save(update_fields=["state", "resolved_at"])
            self._event(newest, IncidentEvent.Kind.FIRED_AGAIN)
            self._raise_severity(newest, fresh)
            return newest
        return self._open(firing)

    def _raise_severity(self, incident: Incident, fresh: Sequence[ReceivedAlert]) -> None:
        incident.severity = min(
            [incident.severity, *(one.severity for one in fresh if not one.is_resolved)]
        )

    def _open(self, firing: Sequence[ReceivedAlert]) -> Incident | None:
        _lock(self._source.pk, _OPENING)
        opened = Incident.objects.filter(source=self._source, state=Incident.State.OPEN)
        if opened.count() >= self._source.most_open:
            self._counts["no incident: too many open"] += len(firing)
            return None
        first = min(firing, key=lambda one: one.severity)
        shared = set.intersection(*(set(one.labels.items()) for one in firing))
        incident = Incident.objects.create(
            source=self._source,
            group=self._group,
            title=first.title,
            statement=first.text,
            severity=first.severity,
            labels={name: value for name, value in first.labels.items() if (name, value) in shared},
            annotations={**first.shared, **first.annotations},
            link=first.link,
            runbook=first.runbook,
            opened_at=self._now,
            last_at=self._now,
        )
        self._event(incident, IncidentEvent.Kind.FIRED)
        if self._may_ask:
            rule_runs.consider(incident)
        return incident

    def _store(
        self,
        fresh: Sequence[ReceivedAlert],
        known: dict[str, Alert],
        incident: Incident | None,
    ) -> None:
        room = MOST_KEPT - (incident.alerts.count() if incident else 0)
        rows: list[Alert] = []
        unkept = 0
        for one in fresh:
            if one.key in known:
                continue
            if incident is None and not one.is_resolved:
                continue  # counted above, but no incident was created
            if len(rows) >= room and incident is not None:
                unkept += not one.is_resolved
                continue
            self._counts["new" if not one.is_resolved else "already resolved"] += 1
            self._ended += one.is_resolved
            row = _row_of(self._source, incident, one, self._now, came_at=self._at)
            row.said_at = self._said_at(one)
            rows.append(row)
        Alert.objects.bulk_create(rows)
        if incident is not None:
            # Each request contains the whole group, so it replaces the count of unstored alerts.
            self._counts["counted only"] += max(0, unkept - incident.unkept)
            self._ended += max(0, incident.unkept - unkept)
            incident.unkept = unkept
            ours = [one.pk for one in known.values() if one.incident_id != incident.pk]
            Alert.objects.filter(pk__in=ours).update(incident=incident)

    def _event(self, incident: Incident, kind: IncidentEvent.Kind) -> None:
        IncidentEvent.objects.create(incident=incident, kind=kind, at=self._now)


def _row_of(
    source: AlertSource,
    incident: Incident | None,
    one: ReceivedAlert,
    now: datetime,
    *,
    came_at: datetime,
) -> Alert:
    return Alert(
        source=source,
        incident=incident,
        key=one.key,
        state=Alert.State.RESOLVED if one.is_resolved else Alert.State.FIRING,
        title=one.title,
        severity=one.severity,
        labels=dict(one.labels),
        annotations=dict(one.annotations),
        link=one.link,
        starts_at=one.starts_at,
        ends_at=(one.ends_at or now) if one.is_resolved else None,
        first_at=came_at,
        last_at=now,
    )


def preview(source: AlertSource, body: str) -> list[tuple[ReceivedAlert, bool]]:
    """Return a sample's alerts, and whether each passes the filters. Store nothing. Raises Unreadable."""
    received = payloads.read(source.kind, read_json(body.encode()), mapping=source.mapping)
    return [(one, passes(source, one)) for one in received.alerts]
