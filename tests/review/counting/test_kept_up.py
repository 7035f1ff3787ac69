"""Tests that incrementally updated counts equal a recount after any sequence of events."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from pipeline.models import Action, Run
from review.campaigns.services import rules
from review.counting import counts, tallies
from review.counting.contributions import bring, read_kept
from review.counting.facts import read_facts
from review.models import Adjudication, Assignment, Campaign, Item, Score, Tally
from review.study import Stage, pattern_of, values_given
from tests.first_cases import first_cases
from tests.people import make_person
from tests.review.report.rows import Label, fill

pytestmark = pytest.mark.django_db
STAGES = ("script", "feedback", "refined")
ARMS = ("demo", "imported")


@pytest.fixture
def people() -> list[User]:
    return [make_person(f"expert-{number}", "reviewer") for number in range(4)]


@pytest.fixture
def campaign(manager: User, people: list[User]) -> Campaign:
    """Return twelve cases in two arms. No reviewer, one reviewer or all reviewers have scored each item."""
    chance = random.Random(7)
    campaign = rules.create_campaign("Kept up", by=manager)
    for arm in ARMS:
        # Both arms have the same script, so a score in one arm also counts in the other.
        labels = [_label(chance) for _ in range(12)]
        fill(campaign, labels, people, configuration=arm, script="echo 1\n")
    same = Action.objects.filter(cases__in=campaign.cases.order_by("pk")[:4].values("pk"))
    same.update(statement_sha256="0" * 64)
    return campaign


def _label(chance: random.Random) -> Label:
    asked = chance.randrange(5)
    given = [
        tuple(chance.choice((0, 1, 2, 2, None)) for _stage in STAGES)
        if one < asked
        else (None,) * 3
        for one in range(4)
    ]
    return Label(chance.choice(("correct", "incorrect", "unknown")), given)


def happen(item: Item, person: User, chance: random.Random) -> None:
    """Apply a random event of a study or an import to an item."""
    stage, value = chance.choice(STAGES), chance.randrange(3)
    own = item.scores.filter(reviewer=person, stage=stage, arm="model", current=True)
    what = chance.randrange(9)
    if what < 4:
        own.update(current=False)
        Score.objects.create(
            item=item,
            reviewer=person,
            stage=stage,
            value=value,
            imported=True,
            blind=chance.random() < 0.8,
            active_seconds=chance.choice((None, 12.5, 60.0)),
            visible=chance.choice(({}, {}, {"copied_from": 1})),
            assignment=item.assignments.filter(reviewer=person).first(),
        )
    elif what == 4:
        state = chance.choice(("submitted", "skipped", "cannot_judge"))
        reason = chance.choice(("queue", "tie_break"))
        item.assignments.filter(reviewer=person).delete()
        Assignment.objects.create(
            item=item, reviewer=person, state=state, reason=reason, ended_at=timezone.now()
        )
    elif what == 5:
        item.adjudications.filter(stage=stage).update(current=False)
        Adjudication.objects.create(item=item, stage=stage, value=value, by=person, why="So.")
    elif what == 6:
        state = chance.choice((Item.State.OPEN, Item.State.CLOSED, Item.State.WITHDRAWN))
        Item.objects.filter(pk=item.pk).update(state=state, overlap=5, sham=chance.random() < 0.3)
    elif what == 7:
        Item.objects.filter(pk=item.pk).update(execution=chance.choice((None, 0.0, 1.0)))
        Run.objects.filter(pk=item.run_id).update(demo=chance.random() < 0.5)
    else:
        item.scores.filter(stage="refined", arm="expert", reviewer=person).update(current=False)
        Score.objects.create(
            item=item, reviewer=person, stage="refined", arm="expert", value=value, imported=True
        )


def counted(campaign: Campaign) -> Counter[tuple[int, str, str]]:
    rows = campaign.tallies.values_list("configuration", "kind", "pattern", "count")
    return Counter({(arm, kind, pattern): n for arm, kind, pattern, n in rows if n})


@pytest.mark.parametrize("seed", first_cases(1, range(4)))
def test_kept_counts_equal_a_recount(campaign: Campaign, people: list[User], seed: int) -> None:
    chance = random.Random(seed)
    items = list(campaign.items.order_by("pk"))
    for _round in range(6):
        some = [chance.choice(items) for _time in range(chance.randrange(1, 12))]
        for item in some:
            happen(item, chance.choice(people), chance)
        tallies.note_due(campaign, [item.pk for item in some])
        if chance.random() < 0.7:
            tallies.count_due(campaign, most=chance.choice((1, 1_000)))
    tallies.count_due(campaign)
    kept_up = counted(campaign)
    tallies.recount(campaign)

    assert kept_up == counted(campaign)
    # Not every seed produces two different interpretations of a statement.
    assert {kind for _arm, kind, _pattern in kept_up} >= set(Tally.Kind.values) - {"read"}
    # Combined counts of multiple configurations are corrections and can be negative.
    assert min(n for (_arm, _kind, key), n in kept_up.items() if not key.startswith("*")) > 0


@pytest.mark.parametrize("seed", first_cases(1, range(4)))
def test_kept_item_state_follows_rules(campaign: Campaign, people: list[User], seed: int) -> None:
    chance = random.Random(100 + seed)
    items = list(campaign.items.order_by("pk"))
    for _time in range(40):
        happen(chance.choice(items), chance.choice(people), chance)
    facts = read_facts([item.pk for item in items])
    for item in items:
        judged, kept = facts.judge(item.pk), read_kept(bring(facts, item.pk).text)
        expected = pattern_of(judged)
        assert kept.pattern == (expected.to_text() if expected else "")
        for stage in Stage:
            given = [(reviewer, value) for reviewer, value in kept.given.get(stage.value, [])]
            assert given == list(values_given(judged, stage))


@pytest.mark.parametrize("where", ["tally", "item"])
def test_counts_that_another_release_wrote_are_made_anew(campaign: Campaign, where: str) -> None:
    """Delete a field, as in counts written by an older release. Every item must be counted again."""
    counts.read_counts(campaign)
    expected = counted(campaign)
    if where == "tally":
        tally = campaign.tallies.filter(kind=Tally.Kind.ITEM, count__gt=0).first()
        campaign.tallies.filter(pk=tally.pk).update(pattern=tally.pattern.rpartition("|")[0])
    else:
        item = campaign.items.exclude(pattern="").first()
        kept = json.loads(item.pattern)
        campaign.items.filter(pk=item.pk).update(pattern=json.dumps(kept[:-1]))
        tallies.note_due(campaign, [item.pk])

    found = counts.read_counts(campaign)
    assert counted(campaign) == expected
    assert found == counts.read_counts(campaign)
