"""Create notifications for an event, in the transaction that distributes it."""

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
    """Create one notification for each recipient, except for the acting user and users who muted the kind."""
    kind = BY_EVENT.get(event.type)
    if kind is None or subject is None:
        return
    concerned = User.objects.filter(
        pk__in=kind.recipients(event, subject).order_by().values("pk"), is_active=True
    )
    if event.by_id is not None:
        concerned = concerned.exclude(pk=event.by_id)
    if event_types.BY_NAME[event.type].is_public and not event.leaves:
        # Only managers may see everything in an open study.
        # Events that are not public are sent to the recipients of their kind, such as the item's reviewer.
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
        # If an email cannot be sent, show the notification on the site.
        in_bell=way == Way.BOTH or not wants_mail,
        mail_at=mail_time(now, habits_of(person, choices)) if wants_mail else None,
    )


def choices_of(person: User) -> NotificationChoices:
    """Return the user's settings, or unsaved defaults."""
    found: NotificationChoices | None = getattr(person, "notification_choices", None)
    return found or NotificationChoices(person=person)


def habits_of(person: User, choices: NotificationChoices) -> Habits:
    """Return the user's email settings with the user's time zone."""
    profile = getattr(person, "profile", None)
    try:
        zone = ZoneInfo((profile and profile.time_zone) or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")  # The time zone was valid when saved but is unknown on this machine.
    return Habits(
        zone=zone,
        digest=choices.digest,
        daily_hour=choices.daily_hour,
        quiet_from=choices.quiet_from,
        quiet_until=choices.quiet_until,
    )
