"""Form stories for event destinations and notifications."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from scriptsmith_site.integrations.notifications.mail import make_confirmation
from scriptsmith_site.integrations.outbox import services
from scriptsmith_site.models import Delivery, Destination, Event, Notification, NotificationChoices
from tests.forms.people_stories import at
from tests.forms.story import Story, World
from tests.make import make_version


def a_destination(world: World) -> str:
    made = services.create_destination(
        Destination.Kind.WEBHOOK,
        values=services.Values(
            name="pager", address="https://hooks.example.org/in", types=["run.finished"]
        ),
        by=world.person("administrator"),
    )
    world.destination = made.destination
    return f"/integrations/destinations/{made.destination.pk}/"


def a_paused_one(world: World) -> str:
    page = a_destination(world)
    services.pause(world.destination, by=world.person("administrator"))
    return page


def a_delivery(world: World) -> str:
    a_destination(world)
    event = Event.objects.create(
        type="run.finished", model="pipeline.run", object_id=1, leaves=True, subject="run:1",
        sequence=1, distributed_at=timezone.now(),
    )  # fmt: skip
    sent = Delivery.objects.create(
        destination=world.destination,
        event=event,
        sequence=1,
        subject="run:1",
        state=Delivery.State.DELIVERED,
    )
    return f"/integrations/destinations/deliveries/{sent.pk}/"


def a_destination_with_an_event(world: World) -> str:
    a_delivery(world)
    return f"/integrations/destinations/{world.destination.pk}/"


def now(world: World) -> Destination:
    return Destination.objects.get(name="pager")


def a_notification(world: World) -> str:
    version = make_version()
    Notification.objects.create(
        person=world.person("reviewer"),
        kind="verified",
        model="catalog.version",
        object_id=version.pk,
    )
    return "/notifications/"


def an_address(world: World) -> str:
    person = world.person("reviewer")
    NotificationChoices.objects.create(person=person, mail_address="rita@example.org")
    return f"/settings/notifications/confirm/{make_confirmation(person.pk, 'rita@example.org')}/"


def is_read(_world: World) -> bool:
    return Notification.objects.get().read_at is not None


_HOURS = {
    "since": "2020-01-01T00:00",
    "until": f"{timezone.now() + timedelta(days=2):%Y-%m-%dT%H:%M}",
}
OUTBOX = {
    ("integrations/outbox/form.html", "administrator"): [
        Story(
            at("/integrations/destinations/new/webhook/"),
            "destination-new",
            "Add",
            {
                "name": "pager",
                "address": "https://hooks.example.org/in",
                "types": ["run.finished", "version.verified"],
            },
        ).then(
            lambda w: now(w).types == ["run.finished", "version.verified"] and "whsec_" in w.text
        ),
        Story(
            at("/integrations/destinations/new/slack/"),
            "destination-new",
            "Add",
            {
                "name": "pager",
                "secret": "https://hooks.slack.com/services/T0AAAAAA/B0BBBBBB/cccccccccccccccc",
                "types": ["campaign.closed"],
            },
        ).then(lambda w: now(w).kind == "slack" and "cccccccccccccccc" not in w.text),
        Story(
            lambda w: f"{a_destination(w)}edit/",
            "destination-edit",
            "Save",
            {"address": "https://hooks.example.org/other"},
        ).then(lambda w: now(w).address.endswith("/other") and now(w).edition == 2),
    ],
    ("integrations/outbox/detail.html", "administrator"): [
        Story(a_destination, "destination-test", "Test now").then(
            lambda w: Event.objects.get().type == "test"
        ),
        Story(a_destination, "destination-rotate", "Create new secret").then(
            lambda w: now(w).former_until is not None and "whsec_" in w.text
        ),
        Story(a_destination, "destination-pause", "Pause", {"why": "They move house."}).then(
            lambda w: now(w).paused_why == "They move house."
        ),
        Story(a_paused_one, "destination-resume", "Resume").then(
            lambda w: now(w).paused_at is None
        ),
        Story(a_destination_with_an_event, "destination-replay", "Send again", _HOURS).then(
            lambda w: Delivery.objects.get().state == Delivery.State.WAITING
        ),
        Story(a_destination, "destination-delete", "Delete").then(
            lambda w: not Destination.objects.exists()
        ),
    ],
    ("integrations/outbox/delivery.html", "administrator"): [
        Story(a_delivery, "delivery-replay", "Send again").then(
            lambda w: Delivery.objects.get().state == Delivery.State.WAITING
        )
    ],
    ("integrations/notifications/list.html", "reviewer"): [
        Story(a_notification, "notification-read-all", "Mark all as read").then(is_read),
        Story(a_notification, "notification-read", "Mark as read").then(is_read),
        Story(a_notification, "notification-open").then(
            lambda w: is_read(w) and "Delete old files" in w.text
        ),
    ],
    ("integrations/notifications/choices.html", "reviewer"): [
        Story(
            at("/settings/notifications/"),
            "notification-choices",
            "Save",
            {"verified": "mute", "digest": "daily", "quiet_from": "22", "quiet_until": "7"},
        ).then(lambda w: NotificationChoices.objects.get(person=w.me).ways == {"verified": "mute"})
    ],
    ("integrations/notifications/confirm.html", "reviewer"): [
        Story(an_address, "notification-confirm", "Confirm").then(
            lambda w: NotificationChoices.objects.get(person=w.me).confirmed_at is not None
        )
    ],
}
