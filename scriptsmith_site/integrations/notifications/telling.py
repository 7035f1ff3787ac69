"""Makes a notification for each person whom an event concerns, once, in the transaction that distributes it."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.auth.models import User
from django.utils import timezone

from scriptsmith_site.integrations.notifications.kinds import BY_EVENT
from scriptsmith_site.integrations.notifications.mail_settings import (
    has_mail_address,
    is_mail_open,
)
from scriptsmith_site.integrations.notifications.schedule import Habits, mail_time
from scriptsmith_site.integrations.outbox.events import event_types
from scriptsmith_site.integrations.outbox.events.subjects import Subject
from scriptsmith_site.models import Event, Notification, NotificationChoices
from scriptsmith_site.people.roles import Role

Way = NotificationChoices.Way


def tell_people(event: Event, subject: Subject | None) -> None:
    """One row for each person who is to know and has not muted the kind; never for who did it themselves."""
    kind = BY_EVENT.get(event.type)
    if kind is None or subject is None:
        return
    concerned = User.objects.filter(
        pk__in=kind.recipients(event, subject).order_by().values("pk"), is_active=True
    )
    if event.by_id is not None:
        concerned = concerned.exclude(pk=event.by_id)
    if event_types.BY_NAME[event.type].is_public and not event.leaves:
        # Of a study that is not closed: managers see all of it, everybody else may be asked to review it. What is not
        # public is for whoever its kind names, such as a reviewer whose item it is: they are told of open studies too.
        concerned = concerned.filter(groups__name=Role.MANAGER)
    people = concerned.select_related("profile", "notification_choices")
    now, is_open = timezone.now(), is_mail_open()
    rows = [_make(kind.name, event, person, now, mails=is_open) for person in people]
    Notification.objects.bulk_create(
        [row for row in rows if row is not None], ignore_conflicts=True
    )


def _make(
    kind: str, event: Event, person: User, now: datetime, *, mails: bool
) -> Notification | None:
    choices = choices_of(person)
    way = choices.ways.get(kind, Way.BELL)
    if way == Way.MUTE:
        return None
    wants_mail = mails and way in (Way.BOTH, Way.MAIL) and has_mail_address(choices)
    return Notification(
        person=person,
        kind=kind,
        event=event,
        model=event.model,
        object_id=event.object_id,
        at=event.at,
        # Whoever wants e-mail alone and can't have it is told all the same.
        in_bell=way == Way.BOTH or not wants_mail,
        mail_at=mail_time(now, habits_of(person, choices)) if wants_mail else None,
    )


def choices_of(person: User) -> NotificationChoices:
    """The person's choices, or unsaved ones with the defaults."""
    found: NotificationChoices | None = getattr(person, "notification_choices", None)
    return found or NotificationChoices(person=person)


def habits_of(person: User, choices: NotificationChoices) -> Habits:
    """When the person wants e-mails, in their own time zone."""
    profile = getattr(person, "profile", None)
    try:
        zone = ZoneInfo((profile and profile.time_zone) or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")  # kept from when this machine knew it
    return Habits(
        zone=zone,
        digest=choices.digest,
        daily_hour=choices.daily_hour,
        quiet_from=choices.quiet_from,
        quiet_until=choices.quiet_until,
    )
