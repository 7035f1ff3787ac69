"""Tests for a reviewer's next item, and for the review queue with its filters, sort orders and counts."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import SavedView, Version
from pipeline import services as pipeline
from pipeline.execution.draft_checks import recheck_draft
from pipeline.models import Action, Assessment, Configuration, Feedback, Run
from pipeline.runs.services import use_unreviewed
from review import services
from review.models import Assignment, Campaign, Case, Item, Member
from review.queue.eligibility import Rule, _first_item, eligible_items
from tests.first_cases import first_cases
from tests.locks import wait_for_lock
from tests.make import make_run
from tests.people import make_person
from tests.query_counts import count_queries
from tests.review.maker import ClientFor, make_study

SITUATIONS: dict[str, Callable[[Item, User], object]] = {
    "nothing in the way": lambda item, by: None,
    "skipped": lambda item, by: _deal(item, by, "skipped"),
    "scored": lambda item, by: _deal(item, by, "submitted"),
    "let go of": lambda item, by: _deal(item, by, "released"),
    "full": lambda item, by: Item.objects.filter(pk=item.pk).update(places=0),
    "closed": lambda item, by: Item.objects.filter(pk=item.pk).update(state="closed"),
    "their own script": lambda item, by: _write(item, by),
    "their own feedback": lambda item, by: _explain(item, by),
    "another arm of it in this sitting": lambda item, by: _have_arm(item, by, minutes=5),
    "another arm of it in an earlier one": lambda item, by: _have_arm(item, by, minutes=45),
    "of the training round": lambda item, by: Case.objects.filter(pk=item.case_id).update(
        purpose="training"
    ),
}


@pytest.mark.parametrize("order", first_cases(1, ["random", "priority", "oldest"]))
def test_first_in_order_is_found_as_rules_say(order: str, manager: User, reviewer: User) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=4, order=order)
    member = Member.objects.get(campaign=study, user=reviewer)
    first = _in_order(study, reviewer, member)[0]
    for situation, happen in SITUATIONS.items():
        with transaction.atomic():
            cache.clear()  # The cache stores whether the study has a training round.
            happen(first, reviewer)
            expected = _in_order(study, reviewer, member)
            assert services.count_waiting_for(study, reviewer) == len(expected), situation
            claimed = services.claim_next(study, by=reviewer)
            assert claimed is not None and claimed.item_id == expected[0].pk, situation
            transaction.set_rollback(True)


def test_waiting_count_has_limit(manager: User, reviewer: User, stranger: User) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=4)
    assert services.count_waiting_for(study, reviewer, most=3) == 3
    assert services.count_waiting_for(study, stranger) == 0
    Member.objects.filter(campaign=study, user=reviewer).update(paused_at=timezone.now())
    assert services.count_waiting_for(study, reviewer) == 0


@pytest.mark.parametrize(
    ("order", "is_bounded", "index"),
    [("random", True, "item_claim_random"), ("priority", False, "item_claim_priority")],
)
def test_an_index_on_what_waits_leads_to_it(
    order: str, is_bounded: bool, index: str, manager: User, reviewer: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=2, order=order)
    rule = Rule(in_study=True, in_training=False)
    query = _first_item(order=order, is_bounded=is_bounded, rule=rule)
    numbers = {"campaign": study.pk, "by": reviewer.pk, "seed": 1, "low": 0, "high": 1 << 30}
    with connection.cursor() as cursor, transaction.atomic():
        # With so few rows, PostgreSQL would choose a sequential scan or either of two indexes.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indrelid = 'review_item'::regclass"
            " AND indkey[0] = (SELECT attnum FROM pg_attribute WHERE attrelid = indrelid"
            " AND attname = 'campaign_id') AND indexrelid <> %s::regclass",
            [index],
        )
        cursor.execute(f"EXPLAIN {query.sql}", numbers)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert re.search(rf"Index Scan using {index}\b", plan), plan


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_who_expires_a_lease_holds_nothing_that_who_scores_waits_for() -> None:
    """Lock the item before the assignment, as scoring does. The reverse order could cause a deadlock."""
    manager, reviewer = make_person("mona", "manager"), make_person("rita", "reviewer")
    study = make_study(by=manager, reviewers=[reviewer], items=1)
    held = services.claim_next(study, by=reviewer)
    Assignment.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    expiring = threading.Thread(target=_expire)
    with transaction.atomic():
        Item.objects.select_for_update().get(pk=held.item_id)
        expiring.start()
        wait_for_lock()
        Assignment.objects.select_for_update(nowait=True).get(pk=held.pk)
    expiring.join()
    assert Assignment.objects.get(pk=held.pk).state == "expired"


def _in_order(study: Campaign, by: User, member: Member) -> list[Item]:
    waiting = list(eligible_items(study, by, member, has_training=_has_training(study)))
    by_order: dict[str, Callable[[Item], tuple[int, ...]]] = {
        "random": lambda item: (item.shuffle ^ member.seed, item.pk),
        "priority": lambda item: (-item.priority, item.pk),
        "oldest": lambda item: (item.pk,),
    }
    return sorted(waiting, key=by_order[study.order])


def _has_training(study: Campaign) -> bool:
    return study.cases.filter(purpose="training").exists()


def _deal(item: Item, by: User, state: str) -> None:
    ended = timezone.now() - timedelta(hours=2)
    Assignment.objects.create(item=item, reviewer=by, state=state, created_at=ended, ended_at=ended)


def _write(item: Item, by: User) -> None:
    pipeline.add_edited_draft(item.run.drafts.order_by("number")[0], script="ls\n", by=by)


def _explain(item: Item, by: User) -> None:
    draft = item.run.drafts.order_by("number")[0]
    Feedback.objects.create(
        draft=draft, arm="expert", author=by, text="- Use -path.", words=2, points=1
    )


def _have_arm(item: Item, by: User, *, minutes: int) -> None:
    """Assign the user an item with the same statement in another arm."""
    other = Item.objects.exclude(pk=item.pk).filter(campaign=item.campaign_id).last()
    Item.objects.filter(pk=other.pk).update(case=item.case_id, configuration=_another_arm(item))
    at = timezone.now() - timedelta(minutes=minutes)
    Assignment.objects.create(
        item=other, reviewer=by, state="submitted", created_at=at, ended_at=at
    )


def _another_arm(item: Item) -> int:
    found = Configuration.objects.exclude(pk=item.configuration_id).first()
    return found.pk


def _expire() -> None:
    try:
        services.expire_leases()
    finally:
        connection.close()


def queued(statement: str, script: str, *, by: User, severity: int = 3, refined: str = "") -> Run:
    run = make_run(
        by=by,
        statement=statement,
        script=script,
        verdict="incorrect" if refined else "correct",
        feedback="- Do less." if refined else "",
        refined=refined,
    )
    for draft in run.drafts.all():
        recheck_draft(draft, by=by)
    Action.objects.filter(pk=run.action_id).update(severity=severity)
    services.take_in(run.pk)
    return run


@pytest.fixture
def waiting(reviewer: User, second_reviewer: User) -> None:
    queued("Count files", "ls /srv | wc -l\n", by=second_reviewer, severity=4)
    queued("Delete exports", "rm -rf /srv/exports\n", by=second_reviewer, severity=2)
    # The refined script would reveal the verdict, so the first script counts.
    queued("Show disks", "df -h\n", by=second_reviewer, severity=1, refined="rm -rf /srv\n")
    used = queued("Fetch a page", "curl -s http://10.0.0.1/x\n", by=second_reviewer)
    use_unreviewed(used.recommended, reason="Disk full in ten minutes", by=second_reviewer)
    services.raise_priority(used.pk)


def test_the_list_is_narrowed_and_sorted(waiting: None, as_reviewer: Client) -> None:
    queries: list[tuple[dict[str, str], list[str]]] = [
        ({}, ["Fetch", "Show", "Delete", "Count"]),  # used scripts first, then by severity
        ({"risk": "high"}, ["Delete"]),
        ({"sort": "risk"}, ["Delete", "Fetch", "Show", "Count"]),
        ({"q": "EXPORTS"}, ["Delete"]),
        ({"severity": "1"}, ["Show"]),
        ({"used": "1"}, ["Fetch"]),
        ({"sort": "newest"}, ["Fetch", "Show", "Delete", "Count"]),
        ({"sort": "oldest"}, ["Count", "Delete", "Show", "Fetch"]),
        ({"q": "100%"}, []),  # not a wildcard
    ]
    for query, names in queries:
        rows = as_reviewer.get(reverse("queue"), query).context["rows"]
        assert [row.item.run.action.statement.split()[0] for row in rows] == names, query
    page = as_reviewer.get(reverse("queue"), {"q": "no such words"}).text
    assert "No matches" in page and "Clear filters" in page
    wrong = as_reviewer.get(reverse("queue"), {"risk": "enormous"})
    assert wrong.status_code == 422
    assert "a filter value is unknown" in wrong.text and "Delete exports" not in wrong.text


@pytest.mark.slow
def test_the_list_takes_a_fixed_number_of_queries(
    waiting: None, client_for: ClientFor, reviewer: User, second_reviewer: User
) -> None:
    client, addresses = client_for(reviewer), ["/queue/", "/queue/?sort=risk"]
    few = [count_queries(client, address) for address in addresses]
    for number in range(20):
        queued(f"Statement {number}", f"ls {number}\n", by=second_reviewer)

    assert [count_queries(client, address) for address in addresses] == few


def counts(client: Client, **query: str) -> dict[str, dict[str, str]]:
    groups = client.get(reverse("queue"), query).context["groups"]
    return {one.name: {chip.label: chip.count for chip in one.chips} for one in groups}


@pytest.mark.slow
def test_each_count_is_what_the_list_has_when_one_follows_it(
    waiting: None, as_reviewer: Client
) -> None:
    queries: list[dict[str, str]] = [
        *({}, {"severity": "1"}, {"used": "1"}, {"q": "e"}, {"sort": "risk"})
    ]
    for query in queries:
        page = as_reviewer.get(reverse("queue"), query)
        assert page.context["said"] == f"{len(page.context['rows'])} waiting"
        for group in page.context["groups"]:
            for chip in [one for one in group.chips if not one.current]:
                after = as_reviewer.get(reverse("queue") + chip.url).context["rows"]
                assert str(len(after)) == chip.count, (query, group.name, chip.label)
    found = counts(as_reviewer, risk="high")
    assert found["risk"] == {"High": "1", "Medium": "0", "Low": "3"}
    assert found["severity"] == {"High": "1"}


@pytest.mark.slow
def test_of_a_long_queue_the_counts_say_at_least(
    waiting: None, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "review.queue.overview.waiting_list"
    monkeypatch.setattr(f"{where}.MOST_BY_RISK", 2)
    monkeypatch.setattr(f"{where}.MOST_COUNTED", 2)
    monkeypatch.setattr("review.queue.views.queue.MOST_COUNTED", 2)
    monkeypatch.setattr("review.queue.views.queue.PAGE_SIZE", 3)

    page = as_reviewer.get(reverse("queue"))
    assert page.context["said"] == "2+ waiting"
    assert counts(as_reviewer)["risk"] == {"High": "", "Medium": "", "Low": "2+"}
    # The risk filter did not check older items, but they are listed.
    assert len(page.context["rows"]) == 3 and page.context["page"].older == "?start=3"
    (last,) = as_reviewer.get(reverse("queue"), {"start": "3"}).context["rows"]
    assert last.item.run.action.statement == "Count files"


@pytest.mark.slow
def test_hidden_parts_do_not_change_counts(waiting: None, as_reviewer: Client) -> None:
    queries = [{}, {"risk": "low"}, {"risk": "high"}, {"severity": "1"}, {"sort": "risk"}]
    before = [counts(as_reviewer, **one) for one in queries]
    run = Run.objects.get(action__statement="Show disks")
    Assessment.objects.update(verdict="correct")
    Run.objects.update(verdict="correct")
    run.drafts.filter(kind="refined").update(script="df -i\n", sha256=Version.hash_of("df -i\n"))

    assert [counts(as_reviewer, **one) for one in queries] == before
    assert before[0]["risk"] == {"High": "1", "Medium": "0", "Low": "3"}


def test_a_head_sorts_and_the_place_is_kept_for_views(waiting: None, as_reviewer: Client) -> None:
    page = as_reviewer.get(reverse("queue"), {"sort": "oldest", "severity": "1"}).text
    assert 'aria-sort="ascending"' in page and "?sort=newest&amp;severity=1" in page

    data = {"listing": "queue", "name": "Critical", "query": "severity=1&sort=oldest"}
    assert as_reviewer.post("/views/save/", data)["Location"] == "/queue/?severity=1&sort=oldest"
    assert "Critical</a>" in as_reviewer.get(reverse("queue")).text
    assert not SavedView.objects.exclude(listing="queue").exists()
