"""Tests for the adjudication of disagreements: the complete view, filtered lists, and moving from item to item."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker

from core.errors import NotAllowedNow
from pipeline.models import Action
from review import services
from review.campaigns.item_filters import ItemFilter, place_of
from review.campaigns.services import adjudicate, call_in
from review.counting.tallies import count_due
from review.models import Adjudication, Assignment, Campaign, Case, Exposure, Item, Score
from review.queue.members import add_member
from review.queue.reassignment import assign
from tests.people import make_person
from tests.review.evidence.conftest import manager, reviewer, second_reviewer, study
from tests.review.maker import FEEDBACK, add_item, make_study
from tests.review.queue.test_studies import give

__all__ = ["manager", "reviewer", "second_reviewer", "study"]

# Two reviewers' scores of script, feedback and refined script, for each item in order of creation.
GIVEN = (
    ((0, 2, 2), (2, 2, 2)),  # disagreement only on the script, 0 and 2
    ((0, 2, 2), (0, 0, 2)),  # disagree on the feedback
    ((1, 2, 0), (1, 2, 1)),  # disagree on the refined script, 0 and 1
    ((0, 2, 2), (0, 2, 2)),  # agree on everything
)


@pytest.fixture(scope="module")
def study_key(module_rows: None, django_db_blocker: DjangoDbBlocker) -> int:
    """Create the scored study once for the module, and return its primary key."""
    with django_db_blocker.unblock():
        return make_scored_study().pk


def make_scored_study() -> Campaign:
    manager = make_person("mona", "manager")
    people = [make_person(name, "reviewer") for name in ("rita", "rolf")]
    campaign = make_study(by=manager, reviewers=people, items=0, overlap=2, is_open=False)
    for number in range(len(GIVEN)):
        add_item(campaign, f"case-{number}")
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    campaign.refresh_from_db()
    for item, scores in zip(campaign.items.order_by("pk"), GIVEN, strict=True):
        for person, values in zip(people, scores, strict=True):
            services.claim_item(item, by=person)
            give(item, person, *values)
    count_due(campaign)
    return campaign


def items_in(page: str) -> list[int]:
    return [int(one) for one in re.findall(r'data-row href="[^"]*/(\d+)/[^"]*"', page)]


def items_of(campaign: Campaign) -> list[Item]:
    return list(campaign.items.order_by("pk"))


def test_the_list_is_narrowed_by_stage_spread_and_words(boss: Client, study: Campaign) -> None:
    every, address = items_of(study), f"/campaigns/{study.pk}/adjudicate/"
    for query, wanted in (
        ("", [2, 1, 0]),
        ("?stage=script&spread=any", [0]),
        ("?spread=02", [1, 0]),
        ("?spread=01", [2]),
        ("?stage=refined&spread=02", []),
        ("?q=case-1", [1]),
        ("?arm=demo", [2, 1, 0]),
        ("?state=settled", []),
    ):
        page = boss.get(f"{address}{query}").text
        assert items_in(page) == [every[place].pk for place in wanted], query
        assert bool(wanted) or "No matches" in page, query
    page = boss.get(f"{address}?spread=9&stage=x&arm=none")
    assert page.status_code == 200 and "Select a valid choice" in page.text


def test_screen_has_all_texts_and_scores(boss: Client, study: Campaign, reviewer: User) -> None:
    item = items_of(study)[0]
    Action.objects.filter(pk=item.run.action_id).update(
        incident="zqcontext", reference="zqreference\n"
    )
    Item.objects.filter(pk=item.pk).update(execution=0.0)
    Score.objects.filter(item=item, reviewer=reviewer, stage="script").update(comment="zqcomment")
    Score.objects.filter(item=item, reviewer=reviewer, stage="refined").update(blind=False)
    page = boss.get(f"/campaigns/{study.pk}/adjudicate/{item.pk}/").text
    for text in ("zqcontext", "zqreference", "zqcomment", FEEDBACK.removeprefix("- "), "not blind"):
        assert text in page
    assert page.count("Reviewer A") == page.count("Reviewer B") == 3
    assert "Rita" not in page
    assert "0 to 2" in page
    # Only the script needs a final score, because the reviewers agree on the other stages.
    assert page.count('id="settle"') == 1 and 'value="script"' in page
    for key in ("0", "1", "2", "c", "mod+enter", ","):
        assert f'data-key="{key}"' in page


def test_settling_follows_the_open_list(boss: Client, study: Campaign, manager: User) -> None:
    first, second, *_rest = items_of(study)
    address = f"/campaigns/{study.pk}/adjudicate"
    query = "?spread=02&names=1"
    page = boss.get(f"{address}/{second.pk}/{query}").text
    assert "1 of 2" in page and f"{address}/{first.pk}/?spread=02&amp;names=1" in page
    answer = boss.post(
        f"{address}/{second.pk}/settle/{query}", {"stage": "feedback", "value": "2", "why": "So."}
    )
    assert answer["Location"] == f"{address}/{first.pk}/{query}"
    page = boss.get(answer["Location"]).text
    assert "1 of 1" in page and "Rita" in page
    answer = boss.post(
        f"{address}/{first.pk}/settle/{query}", {"stage": "script", "value": "0", "why": "So."}
    )
    assert answer["Location"] == f"{address}/{query}"
    assert Adjudication.objects.filter(by=manager).count() == 2
    settled = boss.get(f"{address}/?state=settled").text
    assert items_in(settled) == [second.pk, first.pk]
    assert "final score by" in boss.get(f"{address}/{first.pk}/?state=settled").text


def test_refused_adjudication_keeps_typed_text(boss: Client, study: Campaign) -> None:
    item = items_of(study)[0]
    address = f"/campaigns/{study.pk}/adjudicate/{item.pk}/settle/?spread=02"
    answer = boss.post(address, {"stage": "script", "value": "", "why": "A reason <b>"})
    assert answer.status_code == 422
    assert "A reason &lt;b&gt;" in answer.text and "Choose 0, 1 or 2." in answer.text
    assert f'action="{address}"' in answer.text
    answer = boss.post(address, {"stage": "script", "value": "2", "why": " "})
    assert answer.status_code == 422 and "Enter a reason" in answer.text
    assert not Adjudication.objects.exists()


def test_item_page_links_neighbors(boss: Client, study: Campaign, manager: User) -> None:
    every = items_of(study)
    listed = boss.get(f"/campaigns/{study.pk}/items/?stage=refined&spread=any").text
    assert items_in(listed) == [every[2].pk]
    page = boss.get(f"/campaigns/{study.pk}/items/{every[1].pk}/").text
    assert "3 of 4" in page and "Rita" in page and "Refined script" in page
    assert f"/items/{every[2].pk}/" in page and f"/items/{every[0].pk}/" in page
    # The feedback reveals the verdict, so the exposure is recorded.
    assert Exposure.objects.filter(person=manager, run=every[1].run).exists()


def test_an_item_without_a_script_has_a_page_too(boss: Client, study: Campaign) -> None:
    item = items_of(study)[3]
    bare = Item.objects.create(
        campaign=study,
        case=study.cases.create(external_id="bare", action=item.case.action),
        configuration=item.configuration,
    )
    page = boss.get(f"/campaigns/{study.pk}/items/{bare.pk}/")
    assert page.status_code == 200 and "no script yet" in page.text
    assert boss.get(f"/campaigns/{study.pk}/adjudicate/{bare.pk}/").status_code == 409


def test_a_place_is_counted_from_the_top_and_is_none_for_who_is_not_there(study: Campaign) -> None:
    every = [item.pk for item in items_of(study)]
    listed = ItemFilter(study, {"spread": "any"}).qs
    place = place_of(listed, every[2])
    assert (place.number, place.total, place.previous, place.next) == (1, 3, None, every[1])
    place = place_of(listed, every[0])
    assert (place.number, place.previous, place.next) == (3, every[1], None)
    place = place_of(listed, every[3])
    assert (place.number, place.previous, place.next) == (None, None, every[2])


def test_lists_ask_as_many_queries_for_many_items_as_for_few(boss: Client, study: Campaign) -> None:
    asked: list[list[int]] = []
    for more in (0, 5):
        for number in range(more):
            add_item(study, f"more-{number}")
        count_due(study)
        Item.objects.filter(campaign=study).update(disputed=True)
        asked.append([])
        for page in ("items/", "adjudicate/"):
            with CaptureQueriesContext(connection) as queries:
                rows = items_in(boss.get(f"/campaigns/{study.pk}/{page}?spread=").text)
            asked[-1].append(len(queries))
            assert len(rows) == 4 + more
    assert asked[0] == asked[1]


@pytest.mark.slow
def test_screen_queries_do_not_grow_with_reviewers(boss: Client, study: Campaign) -> None:
    item = items_of(study)[0]
    asked = []
    for more in ({}, {"anna": "rolf", "boris": "rita"}):
        for name, like in more.items():
            person = make_person(name, "reviewer")
            for score in Score.objects.filter(item=item, reviewer__username=like):
                score.pk, score.reviewer, score.comment = None, person, "A word"
                score.save()
        for page in ("items", "adjudicate"):
            boss.get(f"/campaigns/{study.pk}/{page}/{item.pk}/")
            with CaptureQueriesContext(connection) as queries:
                seen = boss.get(f"/campaigns/{study.pk}/{page}/{item.pk}/").text
            asked.append(len(queries))
    assert seen.count("A word") == 6
    assert asked[:2] == asked[2:]


def test_halo_check_and_adjudication_need_two_reviewers(study: Campaign, manager: User) -> None:
    item = items_of(study)[0]
    case = item.case
    shown_case = Case.objects.create(
        campaign=study, external_id="halo:1", action=case.action, purpose="halo", repeats=case
    )
    halo = Item.objects.create(
        campaign=study,
        case=shown_case,
        configuration=item.configuration,
        run=item.run,
        state="open",
        again="halo",
        places=1,
    )
    both = make_person("bo", "manager", "reviewer")
    add_member(study, both, by=None)
    made = Assignment.objects.create(item=halo, reviewer=both, state="submitted")
    with pytest.raises(PermissionDenied):
        adjudicate(item, stage="script", value=2, why="It is right.", by=both)
    made.delete()
    adjudicate(item, stage="script", value=2, why="It is right.", by=both)
    # From now on, no claim, assignment, API call or repeat can make the manager a rater.
    Item.objects.filter(pk__in=[item.pk, halo.pk]).update(state="open", places=1, overlap=3)
    for one in (item, halo):
        with pytest.raises(NotAllowedNow):
            services.claim_item(one, by=both)
    with pytest.raises(NotAllowedNow):
        assign(item, to=both, by=manager)
    with pytest.raises(NotAllowedNow):
        call_in(item, both, by=manager)
    claimed = services.claim_next(study, by=both)
    assert claimed is None or claimed.item.run_id != item.run_id
