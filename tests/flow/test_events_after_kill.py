"""A worker that is killed while it sends events: each arrives, under one id, in order."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter

import pytest

from tests.site.integrations.receiver import Receiver
from tests.site_process import Site

# More by the environment, for who wants to see it with 500.
EVENTS = int(os.environ.get("SCRIPTSMITH_KILLED_EVENTS", "100"))
OBJECTS = 10
ARRIVED_WITHIN = 180.0  # seconds

_SET_UP = """
import json
from django.contrib.auth.models import Group, User
from catalog.models import Entry
from core.audit import emit
from scriptsmith_site.integrations.outbox import services
from scriptsmith_site.models import Destination, Event
owner, _made = User.objects.get_or_create(username="otto")
owner.groups.set(Group.objects.filter(name="administrator"))
values = services.Values(name="killed", address={url!r}, types=["entry.renamed"])
made = services.create_destination("webhook", values=values, by=owner)
entries = [Entry.objects.create(slug=f"killed-{{n}}", title=f"Killed {{n}}") for n in range({objects})]
for number in range({events}):
    emit(entries[number % {objects}], "entry renamed", by=None)
found = Event.objects.filter(type="entry.renamed", object_id__in=[one.pk for one in entries])
print("made", json.dumps([made.secret, [f"evt_{{one.uid.hex}}" for one in found]]))
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_event_arrives_at_least_once_and_in_order(site: Site) -> None:
    with Receiver() as receiver:
        kills = {EVENTS // 5, EVENTS * 3 // 5}

        def kill_in_flight(_document: dict[str, object]) -> int:
            # The worker dies between the request and the answer to it.
            if len(receiver.received) in kills:
                os.kill(site.child("celery"), signal.SIGKILL)
            return 204

        receiver.answer = kill_in_flight
        said = site.run(_SET_UP.format(url=receiver.url, objects=OBJECTS, events=EVENTS))
        line = next(one for one in said.splitlines() if one.startswith("made "))
        receiver.secret, ids = json.loads(line.removeprefix("made "))
        began = time.monotonic()
        while len({one.id for one in receiver.received}) < EVENTS:
            assert time.monotonic() - began < ARRIVED_WITHIN, f"{len(receiver.received)} arrived"
            time.sleep(0.2)
        site.run(
            "from scriptsmith_site.models import Destination; Destination.objects.all().delete()"
        )
        received = list(receiver.received)
    counts = Counter(one.id for one in received)
    print(f"{EVENTS} events, {len(received)} requests, {time.monotonic() - began:.0f} s, 2 kills")
    assert counts.keys() == set(ids), "each under its one id"
    assert sum(counts.values()) <= EVENTS + len(kills), (
        "again is sent what was in flight, and no more"
    )
    first: dict[str, list[int]] = {}
    for one in received:
        numbers = first.setdefault(one.document["data"]["object"], [])
        if one.document["data"]["sequence"] not in numbers:
            numbers.append(one.document["data"]["sequence"])
    assert len(first) == OBJECTS
    assert all(numbers == sorted(numbers) for numbers in first.values())
