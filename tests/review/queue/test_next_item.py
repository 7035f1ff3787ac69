"""The next item of a person: the prepared query finds what the rules say, by the index, and waits for nobody."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from pipeline import services as pipeline
from pipeline.models import Configuration, Feedback
from review import services
from review.models import Assignment, Campaign, Case, Item, Member
from review.queue.eligibility import Rule, _first_item, eligible_items
from review.queue.reviewer_order import BITS
from tests.first_cases import first_cases
from tests.people import make_person
from tests.review.maker import make_study

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


@pytest.mark.parametrize("order", first_cases(1, Campaign.Order.values))
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_first_in_order_is_found_as_the_rules_say(
    situation: str, order: str, manager: User, reviewer: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=4, order=order)
    member = Member.objects.get(campaign=study, user=reviewer)
    first = _in_order(study, reviewer, member)[0]
    SITUATIONS[situation](first, reviewer)
    expected = _in_order(study, reviewer, member)
    assert services.count_waiting_for(study, reviewer) == len(expected)
    claimed = services.claim_next(study, by=reviewer)
    assert claimed is not None and claimed.item_id == expected[0].pk


@pytest.mark.slow
def test_what_waits_is_counted_up_to_a_limit_and_not_for_who_may_not_take_it(
    manager: User, reviewer: User, stranger: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=4)
    assert services.count_waiting_for(study, reviewer, most=3) == 3
    assert services.count_waiting_for(study, stranger) == 0
    Member.objects.filter(campaign=study, user=reviewer).update(paused_at=timezone.now())
    assert services.count_waiting_for(study, reviewer) == 0


@pytest.mark.slow
def test_one_goes_through_all_of_a_campaign_in_ones_own_order(
    manager: User, reviewer: User, second_reviewer: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=6, overlap=2)
    orders = []
    # With every bit of the seed turned, the order is the other way round; by chance it might be the same.
    for person, seed in ((reviewer, 0), (second_reviewer, (1 << BITS) - 1)):
        Member.objects.filter(campaign=study, user=person).update(seed=seed)
        member = Member.objects.get(campaign=study, user=person)
        expected = [item.pk for item in _in_order(study, person, member)]
        met = []
        while assignment := services.claim_next(study, by=person):
            met.append(assignment.item_id)
            services.give_back(assignment, state=Assignment.State.SKIPPED, why="Not mine")
        assert met == expected
        orders.append(met)
    assert orders[0] == orders[1][::-1]


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
        # So few rows are read faster than an index is, and by one index as fast as by another.
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
    """First the item, then the assignment, as scoring does it; the other way round both would wait for ever."""
    manager, reviewer = make_person("mona", "manager"), make_person("rita", "reviewer")
    study = make_study(by=manager, reviewers=[reviewer], items=1)
    held = services.claim_next(study, by=reviewer)
    assert held is not None
    Assignment.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    expiring = threading.Thread(target=_expire)
    with transaction.atomic():
        Item.objects.select_for_update().get(pk=held.item_id)
        expiring.start()
        _wait_for_a_lock()
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
    assert item.run is not None
    pipeline.add_edited_draft(item.run.drafts.order_by("number")[0], script="ls\n", by=by)


def _explain(item: Item, by: User) -> None:
    assert item.run is not None
    draft = item.run.drafts.order_by("number")[0]
    Feedback.objects.create(
        draft=draft, arm="expert", author=by, text="- Use -path.", words=2, points=1
    )


def _have_arm(item: Item, by: User, *, minutes: int) -> None:
    """Somebody's item of the same statement, from another study's arm put beside this one."""
    other = Item.objects.exclude(pk=item.pk).filter(campaign=item.campaign_id).last()
    assert other is not None
    Item.objects.filter(pk=other.pk).update(case=item.case_id, configuration=_another_arm(item))
    at = timezone.now() - timedelta(minutes=minutes)
    Assignment.objects.create(
        item=other, reviewer=by, state="submitted", created_at=at, ended_at=at
    )


def _another_arm(item: Item) -> int:
    found = Configuration.objects.exclude(pk=item.configuration_id).first()
    assert found is not None
    return found.pk


def _expire() -> None:
    try:
        services.expire_leases()
    finally:
        connection.close()


def _wait_for_a_lock() -> None:
    deadline = time.monotonic() + 20
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)
    raise AssertionError("nobody waits for the item")
