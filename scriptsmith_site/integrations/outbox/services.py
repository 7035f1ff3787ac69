"""Administration of destinations. Each function records an audit log entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow, Stale
from core.texts import clean_text
from core.web.site_address import site_url
from scriptsmith_site.integrations.outbox.events.event_types import PUBLIC, TEST
from scriptsmith_site.integrations.outbox.transport.addresses import read_url
from scriptsmith_site.integrations.outbox.transport.channel_kinds import check_host, check_secret
from scriptsmith_site.integrations.outbox.transport.payloads import message_id
from scriptsmith_site.integrations.outbox.transport.sealing import (
    check_variable,
    make_signing_secret,
    seal,
)
from scriptsmith_site.models import Delivery, Destination, Event
from scriptsmith_site.people.services import require_administrator

LONGEST_NAME = 80
OVERLAP = timedelta(hours=24)
MOST_REPLAYED = 10_000


@dataclass(frozen=True, kw_only=True)
class Values:
    """The settings of a destination."""

    name: str
    address: str
    types: Sequence[str]
    includes_texts: bool = False
    secret_variable: str = ""


@dataclass(frozen=True)
class Made:
    """A destination and its new secret, if one was generated. The secret is shown only once."""

    destination: Destination
    secret: str = ""


@transaction.atomic
def create_destination(kind: str, *, values: Values, by: User, secret: str = "") -> Made:
    """Create a destination for future events. A webhook's secret is generated, and the user enters a channel's secret.

    Raises BadInput.
    """
    require_administrator(by)
    if kind not in Destination.Kind.values:
        raise BadInput(_("Unknown kind."), field="kind")
    judged = _judge(kind, values)
    made = ""
    if kind == Destination.Kind.WEBHOOK and not judged.secret_variable:
        made = secret = make_signing_secret()
    elif kind != Destination.Kind.WEBHOOK and not judged.secret_variable:
        secret = check_secret(kind, secret)
    destination = Destination(kind=kind, owner=by, **_as_fields(judged))
    destination.secret = b"" if judged.secret_variable else seal(secret)
    try:
        with transaction.atomic():
            destination.save()
    except IntegrityError:
        raise _name_taken() from None
    record(destination, "destination added", by=by, kind=("", kind))
    return Made(destination, made)


@transaction.atomic
def change_destination(
    destination: Destination, *, values: Values, by: User, secret: str = "", seen: int
) -> Destination:
    """Change a destination, starting with its next attempt. An empty `secret` keeps a channel's current secret.

    If a channel moves to another host, its secret must be entered again, because it is sent to that host.

    Raises BadInput, and Stale if the destination has changed since edition `seen`.
    """
    require_administrator(by)
    locked = _lock(destination)
    if seen != locked.edition:
        raise Stale(
            _("Another user has changed this destination since you opened it."),
            newest=locked.edition,
        )
    judged = _judge(locked.kind, values)
    changes = {
        name: (getattr(locked, name), value)
        for name, value in _as_fields(judged).items()
        if getattr(locked, name) != value
    }
    for name, (_old, new) in changes.items():
        setattr(locked, name, new)
    said: dict[str, tuple[object, object]] = {
        name: both for name, both in changes.items() if name != "address"
    }
    if "address" in changes:
        said["address"] = ("", _("changed"))  # the URL may contain a secret of the receiver
    if "address" in changes and not locked.is_webhook and locked.secret:
        locked.secret = b""
        said["secret"] = ("", _("changed"))
    if secret and not locked.is_webhook and not judged.secret_variable:
        locked.secret = seal(check_secret(locked.kind, secret))
        said["secret"] = ("", _("changed"))
    _require_secret(locked)
    if not said:
        return locked
    locked.edition += 1
    locked.retry_at = None  # the change may fix the problem
    try:
        with transaction.atomic():
            locked.save()
    except IntegrityError:
        raise _name_taken() from None
    record(locked, "destination changed", by=by, **said)
    return locked


@transaction.atomic
def rotate_secret(destination: Destination, *, by: User) -> Made:
    """Generate a new secret. The former secret also signs for a day.

    Raises NotAllowedNow if ScriptSmith did not generate the secret.
    """
    require_administrator(by)
    locked = _lock(destination)
    if not locked.is_webhook or locked.secret_variable:
        raise NotAllowedNow(_("ScriptSmith did not create this secret. Change it at its source."))
    fresh = make_signing_secret()
    locked.former_secret, locked.former_until = locked.secret, timezone.now() + OVERLAP
    locked.secret = seal(fresh)
    locked.retry_at = None
    locked.save(update_fields=["secret", "former_secret", "former_until", "retry_at"])
    record(locked, "secret rotated", by=by, former_until=("", locked.former_until))
    return Made(locked, fresh)


@transaction.atomic
def pause(destination: Destination, *, by: User, why: str = "") -> None:
    """Stop sending until `resume` is called. New events wait. Raises NotAllowedNow, BadInput."""
    require_administrator(by)
    why = clean_text(why, field="why", longest=300, required=False)
    waiting = Destination.objects.filter(pk=destination.pk, paused_at=None)
    if not waiting.update(paused_at=timezone.now(), paused_why=why):
        raise NotAllowedNow(_("This destination is already paused."))
    record(destination, "destination paused", by=by, why=("", why))


@transaction.atomic
def resume(destination: Destination, *, by: User) -> None:
    """Resume sending, beginning with the waiting events. Raises NotAllowedNow if the destination is not paused."""
    require_administrator(by)
    paused = Destination.objects.filter(pk=destination.pk, paused_at__isnull=False)
    if not paused.update(
        paused_at=None, paused_why="", failing_since=None, failures=0, retry_at=None
    ):
        raise NotAllowedNow(_("This destination is not paused."))
    waiting = destination.deliveries.filter(state=Delivery.State.WAITING)
    waiting.update(next_at=timezone.now(), tries=0)
    record(destination, "destination resumed", by=by)


@transaction.atomic
def send_test(destination: Destination, *, by: User) -> Delivery:
    """Queue a test event, which is sent once within seconds, even if the destination is paused."""
    require_administrator(by)
    event = Event.objects.create(
        type=TEST,
        model=destination._meta.label_lower,
        object_id=destination.pk,
        by=by,
        leaves=True,
        distributed_at=timezone.now(),
        data={"link": site_url("/")},
    )
    subject = f"test:{event.pk}"
    Event.objects.filter(pk=event.pk).update(subject=subject, sequence=1)
    record(destination, "destination tested", by=by)
    return Delivery.objects.create(
        destination=destination, event=event, subject=subject, sequence=1
    )


@transaction.atomic
def replay(delivery: Delivery, *, by: User) -> None:
    """Send a delivery again with the same ID. Raises NotAllowedNow if it is already waiting."""
    require_administrator(by)
    ended = Delivery.objects.filter(pk=delivery.pk).exclude(state=Delivery.State.WAITING)
    if not _send_again(ended):
        raise NotAllowedNow(_("This event is already waiting to be sent."))
    record(delivery.destination, "replayed", by=by, sent=("", message_id(delivery.event)))


@transaction.atomic
def replay_span(destination: Destination, *, since: datetime, until: datetime, by: User) -> int:
    """Send all events of a time span again, in order and with the same IDs, and return their number.

    This includes events from before the destination existed or selected their type. Raises BadInput.
    """
    require_administrator(by)
    if until <= since:
        raise BadInput(_("The end must be after the start."), field="until")
    found = Event.objects.filter(
        leaves=True,
        type__in=destination.types,
        at__gte=since,
        at__lte=until,
        sequence__isnull=False,  # other events are not distributed yet and will be sent anyway
    )
    events = [
        (pk, subject, sequence or 0)
        for pk, subject, sequence in found.order_by("pk").values_list("pk", "subject", "sequence")[
            : MOST_REPLAYED + 1
        ]
    ]
    if len(events) > MOST_REPLAYED:
        raise BadInput(
            _("This period has more than %s events. Choose a shorter period.")
            % f"{MOST_REPLAYED:,}",
            field="since",
        )
    known = destination.deliveries.filter(event__in=[pk for pk, *_order in events])
    _send_again(known.exclude(state=Delivery.State.WAITING))
    Delivery.objects.bulk_create(
        (
            Delivery(destination=destination, event_id=pk, subject=subject, sequence=sequence or 0)
            for pk, subject, sequence in events
        ),
        ignore_conflicts=True,
    )
    record(destination, "replayed", by=by, events=("", len(events)))
    return len(events)


@transaction.atomic
def delete_destination(destination: Destination, *, by: User) -> None:
    """Delete a destination and its deliveries. Waiting events are not sent."""
    require_administrator(by)
    locked = _lock(destination)
    record(locked, "destination deleted", by=by, name=(locked.name, ""))
    locked.delete()


def _send_again(deliveries: QuerySet[Delivery]) -> int:
    return deliveries.update(
        state=Delivery.State.WAITING, tries=0, next_at=timezone.now(), ended_at=None
    )


def _judge(kind: str, values: Values) -> Values:
    known = {one.name for one in PUBLIC}
    types = [one for one in dict.fromkeys(values.types) if one in known]
    if not types or len(types) < len(set(values.types)):
        raise BadInput(_("Choose at least one event type."), field="types")
    is_webhook = kind == Destination.Kind.WEBHOOK
    return Values(
        name=clean_text(values.name, field="name", longest=LONGEST_NAME),
        address=read_url(values.address) if is_webhook else check_host(kind, values.address),
        types=types,
        includes_texts=values.includes_texts,
        secret_variable=check_variable(values.secret_variable),
    )


def _require_secret(destination: Destination) -> None:
    if not destination.secret_variable and not destination.secret:
        if not destination.is_webhook:
            raise BadInput(_("Enter the secret or the name of a variable."), field="secret")
        raise BadInput(
            _(
                "This destination has no secret of its own. Enter the name of a variable, or create "
                "the destination again."
            ),
            field="secret_variable",
        )


def _as_fields(values: Values) -> dict[str, object]:
    return {one.name: getattr(values, one.name) for one in fields(values)}


def _lock(destination: Destination) -> Destination:
    return Destination.objects.select_for_update().get(pk=destination.pk)


def _name_taken() -> BadInput:
    return BadInput(_("A destination with this name already exists."), field="name")
