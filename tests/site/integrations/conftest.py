"""A webhook receiver on loopback, which these tests allow, and a destination for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from scriptsmith_site.integrations.mirror.queue import queue_publication
from scriptsmith_site.integrations.notifications.telling import tell_people
from scriptsmith_site.integrations.outbox import delivery, services
from scriptsmith_site.integrations.outbox.events import distribution
from scriptsmith_site.integrations.outbox.events.event_types import PUBLIC
from scriptsmith_site.models import Destination
from tests.site.integrations.receiver import Receiver

MakeDestination = Callable[..., Destination]
ALL_TYPES = [one.name for one in PUBLIC]


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.SCRIPTSMITH_OUT_NETWORKS = ["127.0.0.0/8"]
    settings.SCRIPTSMITH_URL = "https://scripts.example.org"
    with Receiver() as running:
        yield running


@pytest.fixture
def make_destination(administrator: User, receiver: Receiver) -> MakeDestination:
    def make(name: str = "pager", **values: object) -> Destination:
        given = {"address": receiver.url, "types": ALL_TYPES, **values}
        made = services.create_destination(
            Destination.Kind.WEBHOOK, values=services.Values(name=name, **given), by=administrator
        )
        receiver.secret = made.secret
        return made.destination

    return make


@pytest.fixture
def webhook(make_destination: MakeDestination) -> Destination:
    return make_destination()


def work() -> None:
    """Run the worker's periodic tasks until no work is left."""
    while True:
        done = distribution.distribute(tell_people, queue_publication)
        tries = sum(delivery.deliver(pk) for pk in delivery.destinations_with_work())
        if not done and not tries:
            return
