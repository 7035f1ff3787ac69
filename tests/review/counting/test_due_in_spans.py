"""Items that an import notes as due all at once are counted slice by slice, and none is forgotten."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from review.campaigns.services import rules
from review.counting import tallies
from review.counting.counts import read_counts
from review.models import Campaign, TallyDue
from tests.review.maker import add_item, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(manager: User, reviewer: User) -> Campaign:
    """Five items, with one of another campaign among their keys; nothing of them is due."""
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    add_item(rules.create_campaign("Other", by=manager), "x")
    for number in range(2, 5):
        add_item(campaign, f"case-{number}")
    tallies.recount(campaign)
    return campaign


def keys(campaign: Campaign) -> list[int]:
    return list(campaign.items.order_by("pk").values_list("pk", flat=True))


def count(campaign: Campaign) -> int:
    """How many items the campaign's counts are about."""
    return sum(sum(one.items.values()) for one in read_counts(campaign).values())


def test_keys_that_follow_each_other_are_one_row(study: Campaign) -> None:
    tallies.note_due(study, reversed(keys(study)))
    due = TallyDue.objects.filter(campaign=study).order_by("pk")
    first, second, *others = keys(study)
    assert sorted((row.first, row.last) for row in due) == [
        (first, second),
        (others[0], others[-1]),
    ]
    assert tallies.estimate_due(study) == 5
    tallies.note_due(study, [second])
    assert TallyDue.objects.get(item=second).first is None
    assert tallies.estimate_due(study) == 6


def test_all_of_them_are_counted_in_slices(
    study: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "SLICE", 2)
    study.tallies.all().delete()
    study.items.update(pattern="")
    # One span over all keys, though one of them is another campaign's; and one item by itself.
    own = keys(study)
    TallyDue.objects.create(campaign=study, first=own[0], last=own[-1])
    tallies.note_due(study, own[:1])
    other = TallyDue.objects.exclude(campaign=study).count()
    assert tallies.count_due(study, most=3) == 3
    assert tallies.estimate_due(study) > 0
    tallies.count_due(study)
    assert count(study) == 5
    assert not TallyDue.objects.filter(campaign=study).exists()
    assert TallyDue.objects.exclude(campaign=study).count() == other


def test_what_is_gone_meanwhile_holds_up_nothing(study: Campaign) -> None:
    last = keys(study)[-1]
    TallyDue.objects.create(campaign=study, first=last + 10, last=last + 20)
    tallies.note_due(study, keys(study))
    assert tallies.count_due(study) == 5
    assert not TallyDue.objects.filter(campaign=study).exists()


def test_a_row_names_an_item_or_a_span(study: Campaign) -> None:
    for wrong in ({}, {"first": 1}, {"item_id": keys(study)[0], "first": 1, "last": 2}):
        with pytest.raises(IntegrityError), transaction.atomic():
            TallyDue.objects.create(campaign=study, **wrong)
