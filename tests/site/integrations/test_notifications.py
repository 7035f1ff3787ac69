"""Tests that each recipient gets one notification, on the page and by email, at the hours that the user chose."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core import mail as outbox
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from catalog import services as catalog
from catalog.entries.services import record_outcome, send_back, submit_for_review
from catalog.models import Entry
from core.errors import BadInput, NotAllowedNow
from pipeline.ledger import model_calls
from pipeline.ledger.capacity import RunMustWait
from pipeline.models import Batch
from review import services as review
from review.campaigns.services import states
from review.models import Assignment, Item
from review.queue import reassignment
from scriptsmith_site.integrations.notifications import mail, services, sweeps, titles
from scriptsmith_site.integrations.notifications.kinds import kinds_for
from scriptsmith_site.integrations.notifications.schedule import Habits, mail_time
from scriptsmith_site.integrations.notifications.services import Choices
from scriptsmith_site.models import Door, Event, Notification, NotificationChoices
from tests.make import make_run, make_version
from tests.people import make_person
from tests.review.maker import make_study, publish_of_study, shown_to
from tests.site.browsing import ClientFor
from tests.site.integrations.conftest import work

pytestmark = pytest.mark.django_db
Ways = NotificationChoices.Way
SITE, ADDRESS = "https://scripts.example.org", "a@example.org"


def told(person: User) -> list[str]:
    return list(person.notifications.order_by("pk").values_list("kind", flat=True))


@pytest.fixture
def mailed(settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    settings.SCRIPTSMITH_URL = "https://scripts.example.org"


def wants_mail(person: User, **choices: object) -> None:
    ways = {one.name: Ways.BOTH.value for one in kinds_for(person)}
    services.choose(person, Choices(ways=ways, mail_address="a@example.org", **choices))
    services.confirm_address(person, mail.make_confirmation(person.pk, "a@example.org"))


def test_whom_the_catalogues_events_concern(
    curator: User, second_curator: User, reviewer: User, second_reviewer: User
) -> None:
    version = make_version(by=curator)
    for person in (reviewer, second_reviewer):
        use = catalog.record_use(version, by=person, values={}).use
    record_outcome(use, outcome="worse", by=second_reviewer, incident="INC-7")
    work()
    assert (told(reviewer), told(curator)) == (["made_worse"], ["made_worse"])
    assert told(second_reviewer) == [], "who did it themselves knows"
    written = catalog.create_entry("Show the uptime", script="uptime\n", by=curator)
    submit_for_review(written, by=curator)
    work()
    assert told(second_curator) == ["second_eyes"] and told(curator) == ["made_worse"]
    send_back(written, by=second_curator, reason="Say of which host.")
    submit_for_review(written, by=curator)
    work()
    catalog.verify(written, by=second_curator)
    work()
    work()
    assert told(curator) == ["made_worse", "came_back", "verified"]


def test_whom_events_of_study_concern(manager: User, reviewer: User, second_reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1)
    item = campaign.items.get()
    assignment = reassignment.assign(item, to=reviewer, by=manager)
    work()
    assert told(reviewer) == ["assigned"] and told(second_reviewer) == []
    Assignment.objects.filter(pk=assignment.pk).update(state=Assignment.State.SUBMITTED)
    Item.objects.filter(pk=item.pk).update(done=1)
    assignment.refresh_from_db()
    reassignment.send_back(assignment, why="Look at the paths.", by=manager)
    work()
    assert told(reviewer) == ["assigned", "came_back"]
    Item.objects.filter(pk=item.pk).update(state=Item.State.CLOSED)
    assert sweeps.note_reviewed_campaigns() == 1 and sweeps.note_reviewed_campaigns() == 0
    work()
    assert told(manager) == ["campaign_done"] and told(second_reviewer) == []
    Event.objects.filter(type="campaign.reviewed").delete()
    assert sweeps.note_reviewed_campaigns() == 0, "once, though its event is deleted after a time"
    states.move_campaign(campaign, "closed", by=manager)
    work()
    assert told(second_reviewer) == ["campaign_done"]
    assert told(manager) == ["campaign_done"], "who closed it knows"


def test_notified_user_can_open_undone_item(reviewer: User, client_for: ClientFor) -> None:
    asker = make_person("asker")
    run = make_run(by=asker)
    item = review.take_in(run.pk)
    review.claim_item(item, by=reviewer)
    review.decide(
        item,
        kind="reject",
        draft_sha256=run.drafts.get().sha256,
        shown=shown_to(reviewer, item),
        reason="It deletes too much.",
        by=reviewer,
    )
    work()
    assert told(asker) == ["rejected"]

    def path() -> str:
        (shown,) = titles.show(list(Notification.objects.filter(person=asker)))
        return shown.path

    assert client_for(asker).get(path()).status_code == 200
    review.undo_last(item.campaign, by=reviewer)
    assert client_for(asker).get(path()).status_code == 200


def test_an_item_that_goes_back_soon_is_told_of_once(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    item = campaign.items.get()
    Assignment.objects.create(
        item=item, reviewer=reviewer, lease_until=timezone.now() + timedelta(minutes=20)
    )
    assert sweeps.note_due_items() == 0
    Assignment.objects.update(lease_until=timezone.now() + timedelta(minutes=4))
    assert sweeps.note_due_items() == 1 and sweeps.note_due_items() == 0
    work()
    assert told(reviewer) == ["due_soon"]


def test_managers_are_told_that_a_budget_is_used(
    manager: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    batch = campaign.batch or Batch.objects.create()
    campaign.batch = batch
    campaign.save(update_fields=["batch"])
    monkeypatch.setattr(model_calls, "is_used_up", lambda _batch: True)
    for _again in range(2):
        with pytest.raises(RunMustWait):
            model_calls._require_budget(batch.pk)
    work()
    assert told(manager) == ["budget_used"] and told(reviewer) == []


def test_the_bell_its_page_and_what_was_read(
    reviewer: User,
    second_reviewer: User,
    client_for: ClientFor,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    client = client_for(reviewer)
    assert 'id="bell"' in client.get("/").text
    assert "hidden>" in client.get("/notifications/bell/").text, "no bell where there is nothing"
    version = make_version("<b>Delete</b> old files")
    run = make_run()
    few = 0
    for number in range(60):
        if number == 2:
            with CaptureQueriesContext(connection) as asked:
                client.get("/notifications/")
            few = len(asked)
        Notification.objects.create(
            person=reviewer,
            kind="verified" if number % 2 else "came_back",
            model="catalog.version" if number % 2 else "review.item",
            object_id=version.pk if number % 2 else run.pk,
        )
    # The queries are for the session, the user with unread notifications, and the preferences.
    with django_assert_num_queries(3):
        bell = client.get("/notifications/bell/").text
    assert ">60</span>" in bell and "hidden>" not in bell
    with django_assert_num_queries(few):
        page = client.get("/notifications/")
    assert (
        "&lt;b&gt;Delete&lt;/b&gt; old files, version 1" in page.text
        and "<b>Delete" not in page.text
    )
    assert page.text.count('class="note note-unread"') == 50
    older = client.get(f"/notifications/{page.context['page'].older}")
    assert older.text.count('class="note note-unread"') == 10
    newest = Notification.objects.latest("pk")
    late = Notification.objects.create(
        person=reviewer, kind="verified", model="catalog.version", object_id=version.pk
    )
    client.post("/notifications/read/", {"newest": newest.pk})
    unread = Notification.objects.filter(read_at=None)
    assert [one.pk for one in unread] == [late.pk], "what came since stays unread"
    theirs = Notification.objects.create(
        person=second_reviewer, kind="verified", model="catalog.version", object_id=version.pk
    )
    assert client.post(f"/notifications/{theirs.pk}/open/").status_code == 404
    opened = client.post(f"/notifications/{late.pk}/open/")
    assert opened.headers["location"] == f"/catalogue/{version.entry.slug}/"
    assert not Notification.objects.filter(person=reviewer, read_at=None).exists()


def test_what_is_muted_is_not_told_and_bad_choices_change_nothing(
    curator: User, second_curator: User, as_second_curator: Client
) -> None:
    services.choose(second_curator, Choices(ways={"second_eyes": "mute"}))
    version = catalog.create_entry("Show uptime", script="uptime\n", by=curator)
    submit_for_review(version, by=curator)
    work()
    assert told(second_curator) == []
    for bad in (
        {"ways": {"second_eyes": "shout"}},
        {"ways": {"unknown": "bell"}},
        {"ways": {}, "mail_address": "a@example.org\r\nBcc: b@example.org"},
        {"ways": {}, "digest": "weekly"},
        {"ways": {}, "daily_hour": 24},
        {"ways": {}, "quiet_from": 22},
    ):
        with pytest.raises(BadInput):
            services.choose(second_curator, Choices(**bad))
    kept = NotificationChoices.objects.get(person=second_curator)
    assert kept.ways == {"second_eyes": "mute"} and not kept.mail_address
    page = as_second_curator.get("/settings/notifications/").text
    assert 'value="mute" selected' in page
    typed = {one.name: "bell" for one in kinds_for(second_curator)} | {
        "digest": "daily",
        "daily_hour": "9",
    }
    refused = as_second_curator.post("/settings/notifications/", {**typed, "quiet_from": "22"})
    assert refused.status_code == 422 and "Set both hours" in refused.text
    assert 'value="22" selected' in refused.text, "what was typed is still there"


def test_e_mails_have_links_and_no_scripts_and_go_to_confirmed_addresses_alone(
    curator: User, second_curator: User, mailed: None, settings: Settings
) -> None:
    services.choose(
        second_curator, Choices(ways={"second_eyes": "mail"}, mail_address="c@example.org")
    )
    title = "Show\r\nBcc: b@example.org\u202e uptime"
    first = catalog.create_entry("Show uptime", script="uptime --pretty\n", by=curator)
    submit_for_review(first, by=curator)
    work()
    assert mail.send_due_mail() == 0
    assert second_curator.notifications.get().in_bell, "told under the bell until it is confirmed"
    mail.send_confirmation(second_curator.pk)
    letter = outbox.outbox[-1]
    secret = letter.body.split("/confirm/")[1].split("/")[0]
    with pytest.raises(BadInput):
        services.confirm_address(curator, secret)
    with pytest.raises(BadInput):
        services.confirm_address(second_curator, f"{secret}x")
    services.confirm_address(second_curator, secret)
    second = catalog.create_entry("Show the uptime of hosts", script="uptime --since\n", by=curator)
    Entry.objects.filter(pk=second.entry_id).update(title=title)
    submit_for_review(second, by=curator)
    work()
    assert not second_curator.notifications.latest("pk").in_bell, "by email alone"
    assert mail.send_due_mail() == 1 and mail.send_due_mail() == 0
    sent = outbox.outbox[-1]
    assert sent.to == ["c@example.org"] and "\n" not in sent.subject
    assert "uptime --" not in sent.body
    assert f"https://scripts.example.org/catalogue/{second.entry.slug}/" in sent.body
    assert "Waiting for a second reviewer: Show Bcc: b@example.org uptime, version 1" in sent.body
    assert Door.objects.get(name="mail").last_success_at
    mail.send_test(second_curator.pk)
    assert outbox.outbox[-1].subject == "ScriptSmith: Test email"
    services.ask_test(User.objects.get(pk=second_curator.pk))
    asked = LogEntry.objects.filter(additional_data__event="test email requested")
    assert asked.get().actor == second_curator
    with pytest.raises(NotAllowedNow):
        services.ask_test(curator)


def test_test_emails_are_limited(curator: User, mailed: None, client_for: ClientFor) -> None:
    client = client_for(curator)
    typed = {one.name: "bell" for one in kinds_for(curator)} | {
        "digest": "daily",
        "daily_hour": "9",
    }
    for number in range(services.MOST_LETTERS_A_DAY):
        saved = client.post(
            "/settings/notifications/", {**typed, "mail_address": f"a{number}@example.org"}
        )
        assert saved.status_code == 302
    refused = client.post("/settings/notifications/", {**typed, "mail_address": "b@example.org"})
    assert refused.status_code == 422 and "today" in refused.text
    assert 'value="b@example.org"' in refused.text, "what was typed is still there"
    kept = NotificationChoices.objects.get(person=curator)
    assert kept.mail_address == f"a{services.MOST_LETTERS_A_DAY - 1}@example.org"
    services.confirm_address(curator, mail.make_confirmation(curator.pk, kept.mail_address))
    with pytest.raises(NotAllowedNow):
        services.ask_test(curator)
    NotificationChoices.objects.update(letters_since=timezone.now() - timedelta(days=1))
    services.ask_test(curator)


def test_a_mail_server_that_is_away_loses_nothing(
    curator: User, second_curator: User, mailed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wants_mail(second_curator)
    for title in ("Show uptime", "Show load"):
        made = catalog.create_entry(title, script=f"echo {title}\n", by=curator)
        submit_for_review(made, by=curator)
    work()

    def refuse(_message: object, **_given: object) -> int:
        raise ConnectionRefusedError

    with monkeypatch.context() as away:
        away.setattr("django.core.mail.EmailMessage.send", refuse)
        assert mail.send_due_mail() == 0
    assert "ConnectionRefusedError" in Door.objects.get(name="mail").last_error
    assert mail.send_due_mail() == 0, "held for some minutes"
    Notification.objects.update(mail_at=timezone.now())
    assert mail.send_due_mail() == 1
    assert outbox.outbox[-1].subject == "ScriptSmith: 2 notifications"


def test_what_is_due_for_an_address_that_was_changed_stands_under_the_bell(
    curator: User, second_curator: User, mailed: None
) -> None:
    wants_mail(second_curator)
    services.choose(second_curator, Choices(ways={"second_eyes": "mail"}, mail_address=ADDRESS))
    submit_for_review(
        catalog.create_entry("Show uptime", script="uptime\n", by=curator), by=curator
    )
    work()
    row = second_curator.notifications.get()
    assert (row.in_bell, row.mail_at is None) == (False, False)
    services.choose(second_curator, Choices(ways={}, mail_address="b@example.org"))
    assert mail.send_due_mail() == 0 and not outbox.outbox
    row.refresh_from_db()
    assert (row.in_bell, row.mail_at, row.mailed_at) == (True, None, None)


def test_an_administrator_pauses_e_mails_and_all_of_them_stand_under_the_bell(
    administrator: User, curator: User, second_curator: User, mailed: None, client_for: ClientFor
) -> None:
    wants_mail(second_curator)
    services.choose(second_curator, Choices(ways={"second_eyes": "mail"}, mail_address=ADDRESS))
    client = client_for(administrator)
    assert client.get("/integrations/mail/").context["state"] == "works"
    for title in ("Show uptime", "Show load"):
        made = catalog.create_entry(title, script=f"echo {title}\n", by=curator)
        submit_for_review(made, by=curator)
        work()
        if title == "Show uptime":
            assert client.post("/integrations/mail/pause/").status_code == 302
    waiting, later = second_curator.notifications.order_by("pk")
    assert (waiting.in_bell, later.in_bell, later.mail_at) == (False, True, None)
    assert mail.send_due_mail() == 0 and not outbox.outbox
    waiting.refresh_from_db()
    assert waiting.in_bell and waiting.mail_at is None
    page = client.get("/integrations/mail/").text
    assert "Emails are paused." in page and 'action="/integrations/mail/resume/"' in page
    assert "has paused emails" in client_for(second_curator).get("/settings/notifications/").text
    with pytest.raises(NotAllowedNow, match="paused"):
        services.ask_test(second_curator)
    assert client.post("/integrations/mail/pause/").status_code == 409
    assert client.post("/integrations/mail/resume/").status_code == 302
    events = LogEntry.objects.filter(
        actor=administrator, additional_data__event__startswith="email"
    )
    assert [one.additional_data["event"] for one in events.order_by("pk")] == [
        "email paused",
        "email resumed",
    ]
    services.ask_test(User.objects.get(pk=second_curator.pk))


def test_retry_waits_for_quiet_hours(curator: User, second_curator: User, mailed: None) -> None:
    now = timezone.now()
    wants_mail(second_curator)
    version = catalog.create_entry("Show uptime", script="uptime\n", by=curator)
    submit_for_review(version, by=curator)
    work()
    quiet = {"quiet_from": now.hour, "quiet_until": (now.hour + 2) % 24}
    wants_mail(second_curator, **quiet)
    assert mail.send_due_mail() == 0 and not outbox.outbox
    due = second_curator.notifications.get().mail_at
    assert due is not None and due.hour == quiet["quiet_until"] and due > now
    wants_mail(second_curator)
    Notification.objects.update(mail_at=now)
    assert mail.send_due_mail() == 1


def test_of_a_study_letters_have_the_kind_and_the_link_alone(
    manager: User, reviewer: User, second_reviewer: User, mailed: None
) -> None:
    for person in (manager, reviewer):
        wants_mail(person)
    campaign = make_study(
        by=manager, reviewers=[reviewer, second_reviewer], items=1, name="A blinded study"
    )
    item = campaign.items.get()
    statement = item.run.action.statement
    reassignment.assign(item, to=reviewer, by=manager)
    curator = make_person("cora", "curator")
    publish_of_study(item, "echo hidden\n", by=curator, author=manager)
    work()
    assert mail.send_due_mail() == 2
    said = "".join(f"{one.subject} {one.body}" for one in outbox.outbox)
    entry = Entry.objects.latest("pk")
    path = reverse("item-review", args=[item.pk])
    assert f"Assigned to you: A study item\n{SITE}{path}" in said
    assert f"{SITE}/catalogue/entries/{entry.pk}/" in said
    assert statement not in said and entry.slug not in said and campaign.name not in said
    states.move_campaign(campaign, "closed", by=manager)
    Notification.objects.filter(person=manager).update(mail_at=timezone.now())
    assert mail.send_due_mail() == 1 and entry.title in outbox.outbox[-1].body


def test_email_goes_out_by_the_habits_of_its_user() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    table = [
        ("2026-06-01 12:34", Habits(berlin), "2026-06-01 12:34"),
        ("2026-06-01 12:34", Habits(berlin, "hourly"), "2026-06-01 13:00"),
        ("2026-06-01 05:00", Habits(berlin, "daily", 8), "2026-06-01 06:00"),
        ("2026-06-01 06:00", Habits(berlin, "daily", 8), "2026-06-02 06:00"),
        # Daylight saving time ends, so 8 o'clock on the next day is an hour later in UTC.
        ("2026-10-24 07:00", Habits(berlin, "daily", 8), "2026-10-25 07:00"),
        ("2026-06-01 21:00", Habits(berlin, "at-once", 8, 22, 7), "2026-06-02 05:00"),
        ("2026-06-01 04:59", Habits(berlin, "at-once", 8, 22, 7), "2026-06-01 05:00"),
        ("2026-06-01 05:00", Habits(berlin, "at-once", 8, 22, 7), "2026-06-01 05:00"),
        ("2026-06-01 12:00", Habits(berlin, "at-once", 8, 13, 15), "2026-06-01 13:00"),
        ("2026-06-01 20:30", Habits(berlin, "hourly", 8, 22, 7), "2026-06-02 05:00"),
        ("2026-06-01 12:00", Habits(berlin, "daily", 23, 22, 7), "2026-06-02 05:00"),
        ("2026-06-01 12:34", Habits(berlin, "at-once", 8, 9, 9), "2026-06-01 12:34"),
    ]
    wrong = [
        (now, habits, due, got)
        for now, habits, due in table
        if (got := mail_time(datetime.fromisoformat(f"{now}+00:00"), habits))
        != datetime.fromisoformat(f"{due}+00:00")
    ]
    assert not wrong


def test_kinds_follow_roles(client_for: ClientFor, reviewer: User, administrator: User) -> None:
    own = {"paused", "gave_up", "set_aside", "mirror_stopped"}
    for person, is_offered in ((reviewer, False), (administrator, True)):
        page = client_for(person).get("/settings/notifications/").text
        assert {name for name in own if f'name="{name}"' in page} == (own if is_offered else set())
        assert 'name="assigned"' in page
    services.choose(administrator, Choices(ways={"paused": "mute"}))
    services.choose(administrator, Choices(ways={"assigned": "mute"}))
    kept = NotificationChoices.objects.get(person=administrator)
    assert kept.ways == {"paused": "mute", "assigned": "mute"}, (
        "what is not offered stays as it was"
    )
    with pytest.raises(BadInput):
        services.choose(reviewer, Choices(ways={"paused": "mute"}))
