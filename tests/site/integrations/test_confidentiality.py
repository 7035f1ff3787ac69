"""Tests that events do not depend on what an open study hides, by comparing databases that differ only in hidden
data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from pytest_django import Settings

from catalog.entries import services as entries
from catalog.models import Version
from core.audit import emit
from review.campaigns.services import states
from review.models import Item
from scriptsmith_site.integrations.notifications import mail
from scriptsmith_site.integrations.notifications.titles import show
from scriptsmith_site.integrations.outbox import services
from scriptsmith_site.models import Delivery, Event, Notification
from tests.catalog.shelf import shelve
from tests.first_cases import first_cases
from tests.people import make_person
from tests.review.blinding import rewriting
from tests.review.blinding.conftest import asker, live, studied
from tests.review.maker import publish_of_study
from tests.site.integrations.conftest import MakeDestination, work
from tests.site.integrations.receiver import Receiver
from tests.site.integrations.test_notifications import wants_mail

__all__ = ["asker", "live", "studied"]

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

_AT = datetime(2030, 1, 1, tzinfo=UTC)
SCRIPT = "echo 'of a study'\n"
_REWRITINGS = [
    rewriting.pass_it,
    rewriting.pass_and_explain_it,
    rewriting.say_otherwise,
    rewriting.explain_otherwise,
    rewriting.refine_otherwise,
    rewriting.score_by_others,
]


def happenings(item: Item, curator: User) -> None:
    """Trigger every event about a study's script, including those in the catalogue."""
    run = item.run
    emit(run, "finished")
    for words in ("approved", "edited and approved", "rejected", "decision taken back"):
        emit(item, words, by=curator)
    version = publish_of_study(item, SCRIPT, by=curator)
    emit(version, "made it worse", by=curator)
    made_of_it = edit_and_verify(version, "echo 'better, in both worlds'\n", by=curator)
    emit(edit_and_verify(made_of_it, "echo 'still better'\n", by=curator), "made it worse")
    emit(version.entry, "entry suspended", by=curator)


def edit_and_verify(version: Version, script: str, *, by: User) -> Version:
    """Create a new version from this one, let a second curator verify it, and return it."""
    made = entries.edit_version(version, script=script, details=entries.details_of(version), by=by)
    entries.verify(made, by=User.objects.get(username="cleo"))
    return made


def forget_the_beginning() -> None:
    """Delete the messages about the start of the study, which the tests do not compare."""
    work()
    Delivery.objects.all().delete()
    Notification.objects.all().delete()


def sent_in_a_world(
    item: Item, receiver: Receiver, curator: User, change: Callable[[Item], None] | None
) -> tuple[list[bytes], int, list[tuple[int, str, str]]]:
    """Return the sent bodies, the number of deliveries, and the notifications."""
    receiver.received.clear()
    with transaction.atomic():
        if change is not None:
            change(item)
        item = Item.objects.get(pk=item.pk)
        happenings(item, curator)
        Event.objects.update(at=_AT)
        work()
        # Primary keys differ between runs.
        bodies = [
            re.sub(rb'(entry:|"entry":|entries/)\d+', rb"\1N", one.body)
            for one in receiver.received
        ]
        told = Notification.objects.exclude(person__groups__name="manager").order_by("pk")
        lines = [
            (one.notification.person_id, str(one.kind.words), one.title) for one in show(list(told))
        ]
        deliveries = Delivery.objects.count()
        transaction.set_rollback(True)
    return bodies, deliveries, lines


@pytest.mark.parametrize("change", first_cases(2, _REWRITINGS))
def test_worlds_that_differ_in_what_a_study_hides_send_the_same(
    studied: Item,
    make_destination: MakeDestination,
    receiver: Receiver,
    change: Callable[[Item], None],
) -> None:
    make_destination(includes_texts=True)
    forget_the_beginning()
    curator = make_person("cora", "curator", "reviewer")
    make_person("cleo", "curator", "reviewer")
    one = sent_in_a_world(studied, receiver, curator, None)
    other = sent_in_a_world(studied, receiver, curator, change)
    assert one == other
    assert one == ([], 0, []), "nothing of it leaves at all"


def test_what_was_made_from_a_version_of_a_study_leaves_once_the_study_is_closed(
    studied: Item,
    make_destination: MakeDestination,
    receiver: Receiver,
    manager: User,
    settings: Settings,
) -> None:
    """The versions are sent by webhook, notification and email, as by the mirror."""
    settings.EMAIL_HOST = "mail.example.org"
    curator = make_person("cora", "curator", "reviewer")
    make_person("cleo", "curator", "reviewer")
    wants_mail(curator)
    known = shelve("Print the uptime", author=curator)
    of_study = publish_of_study(studied, SCRIPT, by=curator, entry=known.entry)
    make_destination(types=["version.verified"])
    forget_the_beginning()
    receiver.received.clear()
    made = edit_and_verify(of_study, "uptime -p\n", by=curator)
    work()
    assert receiver.types == [], "nor is what was made from it"
    assert not curator.notifications.exists() and mail.send_due_mail() == 0
    states.move_campaign(studied.campaign, "closed", by=manager)
    edit_and_verify(made, "uptime -s\n", by=curator)
    work()
    assert receiver.types == ["version.verified"]
    told = curator.notifications.filter(kind="verified", in_bell=True)
    assert told.count() == 1 and mail.send_due_mail() == 1


@pytest.mark.parametrize("is_known", [True, False])
def test_that_a_known_entry_is_suspended_leaves_at_once_and_nothing_else_of_it(
    studied: Item, make_destination: MakeDestination, receiver: Receiver, is_known: bool
) -> None:
    """The four databases differ in the verdict and in whether the study's script is in the catalogue."""
    make_destination(includes_texts=True)
    curator = make_person("cora", "curator", "reviewer")
    known = shelve("Print the uptime") if is_known else None
    forget_the_beginning()

    def happen(item: Item, differs: bool, is_published: bool) -> list[tuple[str, int]]:
        receiver.received.clear()
        with transaction.atomic():
            if differs:
                rewriting.pass_it(item)
                item = Item.objects.get(pk=item.pk)
            version = known
            if is_published or version is None:
                version = publish_of_study(
                    item, SCRIPT, by=curator, entry=known.entry if known else None
                )
            entries.suspend(version.entry, by=curator, reason="INC-7")
            work()
            entries.lift_suspension(version.entry, by=curator, note="It was the disk.")
            work()
            transaction.set_rollback(True)
        bodies = [json.loads(one.body) for one in receiver.received]
        # The keys of events and links always differ.
        return [(one["type"], one["data"]["sequence"]) for one in bodies]

    worlds = [
        happen(studied, differs, is_published)
        for differs, is_published in ((False, False), (True, False), (False, True), (True, True))
    ]
    # The first event about the entry was its verification.
    told = [("entry.suspended", 2), ("entry.reinstated", 3)] if is_known else []
    assert worlds == [told] * 4


@pytest.mark.parametrize("change", first_cases(2, _REWRITINGS[:5]))
def test_worlds_that_differ_in_what_the_queue_hides_send_the_same(
    live: Item,
    make_destination: MakeDestination,
    receiver: Receiver,
    change: Callable[[Item], None],
) -> None:
    """Items of the review queue are blinded until they are scored.

    Their events are sent but must not reveal the verdict.
    """
    make_destination(includes_texts=True)
    forget_the_beginning()
    curator = make_person("cora", "curator")
    make_person("cleo", "curator")
    one = sent_in_a_world(live, receiver, curator, None)
    other = sent_in_a_world(live, receiver, curator, change)
    assert len(one[0]) >= 8, "the test sees something"
    assert one == other


def test_what_waits_is_withheld_once_a_study_begins_with_it_and_a_closed_one_hides_nothing(
    studied: Item,
    make_destination: MakeDestination,
    receiver: Receiver,
    manager: User,
    administrator: User,
) -> None:
    webhook = make_destination()
    campaign = studied.campaign
    states.move_campaign(campaign, "closed", by=manager)
    emit(studied.run, "finished")
    services.pause(webhook, by=administrator)
    work()
    states.move_campaign(campaign, "paused", by=manager)
    services.resume(webhook, by=administrator)
    work()
    delivery = Delivery.objects.get(event__type="run.finished")
    assert delivery.state == Delivery.State.WITHHELD
    assert receiver.types == [], "neither that it was opened nor what was waiting"
    states.move_campaign(campaign, "closed", by=manager)
    services.replay(delivery, by=administrator)
    work()
    assert receiver.types == ["run.finished", "campaign.closed"]
