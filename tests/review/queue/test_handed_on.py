"""Who had seen a verdict may score all the same; the item goes on to somebody who had not."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from review import services
from review.models import Campaign, Exposure, Item, Score
from tests.people import make_person
from tests.review.desk.test_desk import score_next
from tests.review.maker import make_study

pytestmark = pytest.mark.django_db


def show_verdict(item: Item, person: User) -> None:
    Exposure.objects.create(person=person, run_id=item.run_id, what="run", where="run-detail")


def review(study: Campaign, person: User) -> Item:
    """Take the next item and score it right; nothing later opens."""
    assignment = services.claim_next(study, by=person)
    assert assignment is not None
    while services.open_item(Item.objects.get(pk=assignment.item_id), person).next_step is not None:
        score_next(assignment.item, person, 2)
    return Item.objects.get(pk=assignment.item_id)


@pytest.mark.slow
@pytest.mark.parametrize("overlap", [1, 2])
def test_an_item_goes_on_until_it_has_as_many_blind_scores_as_are_wanted(
    overlap: int, manager: User, reviewer: User, second_reviewer: User
) -> None:
    third = make_person("third", "reviewer")
    people = [reviewer, second_reviewer, third]
    study = make_study(by=manager, reviewers=people, items=1, overlap=overlap)
    show_verdict(study.items.get(), reviewer)
    item = review(study, reviewer)
    assert (item.state, item.done, item.places) == ("open", 0, overlap)
    assert not Score.objects.get(item=item, stage="script").blind
    for person in people[1 : overlap + 1]:
        item = review(study, person)
    assert (item.state, item.done, item.places) == ("closed", overlap, 0)
    assert services.claim_next(study, by=reviewer) is None  # not a second time


@pytest.mark.slow
def test_what_came_of_it_is_undone_with_it(
    manager: User, reviewer: User, second_reviewer: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1)
    show_verdict(study.items.get(), reviewer)
    item = review(study, reviewer)
    held = item.assignments.get()
    services.send_back(held, why="Look again.", by=manager)
    item.refresh_from_db()
    assert (item.state, item.done) == ("open", 0)
    item = review(study, second_reviewer)
    assert (item.state, item.done) == ("closed", 1)


def test_where_nothing_is_hidden_every_score_counts(
    manager: User, reviewer: User, second_reviewer: User
) -> None:
    study = make_study(
        by=manager, reviewers=[reviewer, second_reviewer], items=1, hides_verdict=False
    )
    show_verdict(study.items.get(), reviewer)
    assert review(study, reviewer).state == "closed"
