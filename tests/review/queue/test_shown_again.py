"""Tests for hidden repeats, and for refined scripts that another reviewer sees as first scripts."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.errors import NotAllowedNow
from review import services
from review.campaigns.dashboard import read_progress
from review.campaigns.services import adjudication, editing, states
from review.counting.counts import read_counts
from review.models import Assignment, Campaign, Case, Item, Score
from review.queue.reviewer_checks import repeats as repeating
from review.report.threats.counts import report_threats
from review.sampling import is_in_share
from tests.keys import shown
from tests.people import make_person
from tests.review.maker import ClientFor, add_item, let_time_pass, make_study
from tests.review.queue.test_studies import give, go_through


@pytest.fixture
def third(db: None) -> User:
    return make_person("theo", "reviewer")


@pytest.fixture
def halo_study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    """Return a study in which one reviewer scores each item and the other reviewer scores its refined script."""
    people = [reviewer, second_reviewer]
    return make_study(by=manager, reviewers=people, items=4, halo_share=100)


def plain(campaign: Campaign) -> set[int]:
    return set(campaign.items.filter(again="").values_list("pk", flat=True))


def halos(campaign: Campaign) -> set[int]:
    return set(campaign.items.filter(again="halo").values_list("pk", flat=True))


def test_refined_items_get_checks(halo_study: Campaign, manager: User, reviewer: User) -> None:
    made = halo_study.items.filter(again="halo")
    assert made.count() == 4
    assert {item.case.purpose for item in made} == {"halo"}
    assert {item.case.repeats_id for item in made} == set(
        halo_study.cases.filter(purpose="real").values_list("pk", flat=True)
    )
    assert {(item.overlap, item.places, item.state) for item in made} == {(1, 1, "open")}
    assert repeating.make_halos(halo_study) == 0

    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False, halo_share=100)
    add_item(campaign, "passed", verdict="correct")  # no refined script
    states.move_campaign(campaign, "open", by=manager)
    assert not halos(campaign)


@pytest.mark.slow
def test_share_of_a_third_is_stable(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=30, halo_share=33)
    chosen = {item.pk for item in campaign.items.all() if is_in_share(item.shuffle, 33, "halo")}
    runs = set(campaign.items.filter(again="halo").values_list("run", flat=True))
    assert set(campaign.items.filter(pk__in=chosen).values_list("run", flat=True)) == runs
    assert 0 < len(runs) < 30


@pytest.mark.slow
def test_check_goes_to_others(halo_study: Campaign, reviewer: User, second_reviewer: User) -> None:
    first = go_through(halo_study, reviewer, 0, 2, 2)
    assert set(first) == plain(halo_study)
    let_time_pass()
    # The first reviewer has scored all items, so only the second reviewer receives the checks.
    assert services.claim_next(halo_study, by=reviewer) is None
    assert set(go_through(halo_study, second_reviewer, 1)) == halos(halo_study)


def test_who_made_the_check_is_not_handed_the_item(
    halo_study: Campaign, reviewer: User, second_reviewer: User, manager: User
) -> None:
    item = halo_study.items.filter(again="").first()
    services.claim_item(item, by=reviewer)
    give(item, reviewer, 0, 2, 2)
    halo = halo_study.items.get(again="halo", run=item.run)
    services.claim_item(halo, by=second_reviewer)
    give(halo, second_reviewer, 2)
    let_time_pass()
    Item.objects.filter(pk=item.pk).update(state="open", places=1, overlap=2)
    with pytest.raises(NotAllowedNow):
        services.claim_item(item, by=second_reviewer)
    with pytest.raises(NotAllowedNow):
        services.assign(item, to=second_reviewer, by=manager)
    with pytest.raises(NotAllowedNow):
        adjudication.call_in(item, second_reviewer, by=manager)


@pytest.mark.slow
def test_the_check_takes_nobody_away_from_an_item_that_still_wants_reviewers(
    manager: User, reviewer: User, second_reviewer: User
) -> None:
    people = [reviewer, second_reviewer]
    campaign = make_study(by=manager, reviewers=people, items=3, overlap=2, halo_share=100)
    for one in people:
        assert set(go_through(campaign, one, 0, 2, 2)) == plain(campaign)
    let_time_pass()
    # Both reviewers have seen every item, so neither can score the checks. The study is finished anyway.
    assert [services.claim_next(campaign, by=one) for one in people] == [None, None]
    progress = read_progress([campaign])[campaign.pk]
    assert (progress.closed, progress.total) == (3, 3)


def look(client: Client, item: Item) -> tuple[str, dict[str, object]]:
    """Return an item's page and API response, without the parts that differ between any two items and users."""
    page = client.get(f"/items/{shown(item)}/").text
    for pattern, same in (
        (r'(csrfmiddlewaretoken" value=|X-CSRFToken": ?)"[^"]*"', r"\1"),
        (r"rita|rolf|Rita|Rolf", "somebody"),
        (r"-path", "-name"),
        (r"[0-9a-f]{64}", "sha256"),
        (r"\d+", "0"),
    ):
        page = re.sub(pattern, same, page)
    told = client.get(f"/api/v1/items/{shown(item)}/").json()
    (draft,) = told["drafts"]
    same = {"id": 0, "sha256": "", "script": draft["script"].replace("-path", "-name")}
    return page, {
        **told,
        "id": 0,
        "shown": "",
        "drafts": [draft | same],
        "next": told["next"] | {"seen": 0},
    }


@pytest.mark.slow
def test_the_check_is_shown_like_any_first_script(
    halo_study: Campaign, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    item = halo_study.items.filter(again="").order_by("pk")[0]
    services.claim_item(item, by=reviewer)
    plain_page, plain_told = look(client_for(reviewer), item)
    give(item, reviewer, 0, 2, 2)
    halo = halo_study.items.get(again="halo", run=item.run)
    services.claim_item(halo, by=second_reviewer)
    page, told = look(client_for(second_reviewer), halo)
    assert "-path" in client_for(second_reviewer).get(f"/api/v1/items/{shown(halo)}/").text
    assert told == plain_told
    assert page == plain_page


@pytest.mark.slow
def test_its_score_enters_no_figure_and_the_threats_tell_the_difference(
    halo_study: Campaign, reviewer: User, second_reviewer: User
) -> None:
    go_through(halo_study, reviewer, 0, 2, 2)
    before = read_counts(halo_study)
    let_time_pass()
    while assignment := services.claim_next(halo_study, by=second_reviewer):
        give(assignment.item, second_reviewer, 2 if assignment.item_id % 2 else 1)
    assert read_counts(halo_study) == before
    halo = report_threats(halo_study)["halo"]
    assert (halo["made"], halo["scored"], halo["compared"]) == (4, 4, 4)
    worse = sum(1 for pk in halos(halo_study) if not pk % 2)
    assert halo["strict"]["value"] == pytest.approx(-worse / 4)
    assert halo["partial"]["value"] == 0


def test_pilot_and_clone_have_checks(halo_study: Campaign, manager: User, reviewer: User) -> None:
    clone = editing.clone_campaign(halo_study, "Again", by=manager, with_scripts=True)
    assert clone.cases.count() == clone.items.count() == 4
    states.move_campaign(clone, "open", by=manager)
    assert len(halos(clone)) == 4
    campaign = make_study(
        by=manager, reviewers=[reviewer], items=5, is_open=False, pilot_size=2, halo_share=100
    )
    states.move_campaign(campaign, "pilot", by=manager)
    made = campaign.items.filter(again="halo")
    assert made.filter(pilot=True, state="open").count() == 2
    assert made.filter(pilot=False, state="held").count() == 3


@pytest.mark.slow
def test_repeat_goes_to_same_user(manager: User, reviewer: User, second_reviewer: User) -> None:
    people = [reviewer, second_reviewer]
    campaign = make_study(by=manager, reviewers=people, items=2, repeat_share=100)
    assert set(go_through(campaign, reviewer, 0, 2, 2)) == plain(campaign)
    again = set(campaign.items.filter(again="repeat").values_list("pk", flat=True))
    assert len(again) == 2
    # No repeat is shown in the same session. Later, a repeat is shown despite the short distance, because no other item
    # is left.
    assert services.claim_next(campaign, by=reviewer) is None
    let_time_pass()
    assert services.claim_next(campaign, by=second_reviewer) is None
    assert set(go_through(campaign, reviewer, 1, 2, 2)) == again
    assert services.claim_next(campaign, by=reviewer) is None


def names_in(client: Client, item: Item) -> set[int]:
    """Return every number that identifies the item and its scored objects on its page and in the API."""
    page = client.get(f"/items/{shown(item)}/").text
    told = client.get(f"/api/v1/items/{shown(item)}/").json()
    fields = re.findall(r'name="(?:seen|on|draft|item)" value="(\d+)"', page)
    links = re.findall(r"/(?:items|drafts|runs)/(\d+)/", page)
    said = [told["id"], told["next"]["seen"], *(draft["id"] for draft in told["drafts"])]
    assert fields and links
    return {int(one) for one in (*fields, *links, *said)}


@pytest.mark.slow
def test_repeat_is_not_numbered(manager: User, reviewer: User, client_for: ClientFor) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1, repeat_share=100)
    item, client = campaign.items.get(again=""), client_for(reviewer)
    services.claim_item(item, by=reviewer)
    before = names_in(client, item)
    give(item, reviewer, 0, 2, 2)
    let_time_pass()
    again = services.claim_next(campaign, by=reviewer)
    assert again is not None and again.item.again == "repeat" and again.item.run == item.run
    assert not before & names_in(client, again.item)


@pytest.mark.slow
def test_a_repeat_comes_among_the_others_once_enough_lie_between(
    manager: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeating, "LATER", 3)
    campaign = make_study(by=manager, reviewers=[reviewer], items=12, repeat_share=100)
    order: list[Item] = []
    while assignment := services.claim_next(campaign, by=reviewer):
        order.append(assignment.item)
        give(assignment.item, reviewer, 0, 2, 2)
        let_time_pass()
    assert len(order) == 24
    runs = [item.run_id for item in order]
    between = {
        run: place - runs.index(run) for place, run in enumerate(runs) if place > runs.index(run)
    }
    early = [run for run, distance in between.items() if distance < 3]
    # Only the last remaining items may be repeated early.
    assert all(run in runs[-3:] for run in early)
    kinds = "".join(item.again[:1] or "." for item in order)
    # Repeats are mixed with other items instead of being at the end.
    assert "r" in kinds.rstrip("r")


@pytest.mark.slow
def test_each_reviewer_gets_repeats(manager: User, reviewer: User, second_reviewer: User) -> None:
    people = [reviewer, second_reviewer]
    campaign = make_study(by=manager, reviewers=people, items=16, overlap=2, repeat_share=100)
    for one in people:
        go_through(campaign, one, 0, 2, 2)
    let_time_pass()
    assert campaign.items.filter(again="repeat").count() == 16
    by_first = go_through(campaign, reviewer, 0, 2, 2)
    assert set(by_first) <= set(campaign.items.filter(again="repeat").values_list("pk", flat=True))


def test_repeats_give_self_agreement_only(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=4, repeat_share=100)
    go_through(campaign, reviewer, 0, 2, 2)
    before = read_counts(campaign)
    let_time_pass()
    first, *others = campaign.items.filter(again="repeat").order_by("pk")
    for item in (first, *others):
        services.claim_item(item, by=reviewer)
        give(item, reviewer, 1 if item == first else 0, 2, 2)
        let_time_pass()
    assert read_counts(campaign) == before
    repeats = report_threats(campaign)["repeats"]
    share = repeats["all"]["share"]
    assert (share["numerator"], share["denominator"]) == (11, 12)
    assert [one["reviewer"] for one in repeats["reviewers"]] == ["rita"]
    # An older score on a later line of a file changes nothing, neither here nor in the figures.
    newest = Score.objects.get(item=first, stage="script", current=True)
    Score.objects.create(
        item=first,
        reviewer=reviewer,
        stage="script",
        value=2 - newest.value,
        draft=newest.draft,
        current=False,
        at=newest.at - timedelta(minutes=1),
    )
    assert report_threats(campaign)["repeats"] == repeats


@pytest.mark.slow
def test_own_count_reveals_nothing(manager: User, reviewer: User, as_reviewer: Client) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2, repeat_share=100)
    go_through(campaign, reviewer, 0, 2, 2)
    assert "2 done by you" in as_reviewer.get(f"/studies/{campaign.pk}/").text
    let_time_pass()
    page = as_reviewer.get(f"/studies/{campaign.pk}/").text
    assert "2 items are waiting for you" in page
    go_through(campaign, reviewer, 0, 2, 2)
    page = as_reviewer.get(f"/studies/{campaign.pk}/").text
    assert "4 done by you" in page
    assert "repeat" not in page.lower()


@pytest.mark.slow
def test_a_limit_holds_for_all_that_is_handed_out(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=3, repeat_share=100, limit_each=4)
    go_through(campaign, reviewer, 0, 2, 2)
    let_time_pass()
    assert services.claim_next(campaign, by=reviewer) is not None
    Assignment.objects.filter(state="active").update(state="submitted", lease_until=None)
    with pytest.raises(NotAllowedNow):
        services.claim_next(campaign, by=reviewer)


def test_what_is_shown_again_keeps_its_purpose_and_is_withdrawn_with_its_item(
    halo_study: Campaign, manager: User, client_for: ClientFor
) -> None:
    halo = halo_study.items.filter(again="halo").select_related("case")[0]
    answer = client_for(manager).post(
        f"/campaigns/{halo_study.pk}/items/{halo.pk}/known/", {"purpose": "gold", "script": 2}
    )
    assert answer.status_code == 409
    assert Case.objects.get(pk=halo.case_id).purpose == "halo"
    editing.withdraw(halo_study.items.get(again="", run=halo.run), why="Twice.", by=manager)
    halo.refresh_from_db()
    assert halo.state == Item.State.WITHDRAWN
