"""Two databases that differ only in hidden parts answer a blinded reviewer alike: status, headers and every byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from pipeline.models import Run
from review import services
from review.models import Item
from tests.people import make_person
from tests.review.blinding import rewriting
from tests.review.blinding.asks import asks_about, asks_of_the_rest, nearest_asks
from tests.review.blinding.twins import Ask, Differs, Side, compare
from tests.review.maker import ClientFor, add_item

pytestmark = pytest.mark.django_db


def _run_of(item: Item) -> Run:
    return item.run


@pytest.mark.slow
def test_what_is_nearest_to_an_item_of_the_live_queue(
    live: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.claim_item(live, by=reviewer)
    passed = Side("verdict", lambda: rewriting.pass_it(live))
    ran = Side("execution evidence", lambda: rewriting.run_its_cases(live))
    with_cases = Side("cases written", lambda: rewriting.write_cases_for_it(live))
    masked = Side("secrets and matches", lambda: rewriting.mask_what_left_it(live))
    compared = compare(
        monkeypatch, client_for(reviewer), nearest_asks(live), passed, ran, with_cases, masked
    )
    print(f"live queue, nearest: {compared} requests compared, 0 differences")
    assert compared >= 20


@pytest.mark.slow
def test_what_is_nearest_to_an_item_of_a_study(
    studied: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rewrite() -> None:
        rewriting.pass_it(studied)
        rewriting.play_by_others(studied)
        rewriting.make_it_gold(studied)

    services.claim_item(studied, by=reviewer)
    compared = compare(
        monkeypatch,
        client_for(reviewer),
        nearest_asks(studied),
        Side("verdict, arm, model, gold, execution", rewrite),
        Side("repeat", lambda: _repeat(studied)),
        Side("execution evidence", lambda: rewriting.run_its_cases(studied)),
        Side("cases written", lambda: rewriting.write_cases_for_it(studied)),
        Side("secrets and matches", lambda: rewriting.mask_what_left_it(studied)),
    )
    original = add_item(studied.campaign, "case-x")
    rewriting.show_again(studied, as_what="halo", original=original)
    first = Side("halo", lambda: rewriting.make_refined_first(studied))
    compared += compare(monkeypatch, client_for(reviewer), nearest_asks(studied), first)
    print(f"study, nearest: {compared} requests compared, 0 differences")
    assert compared >= 60


@pytest.mark.slow
def test_the_search_tells_a_reviewer_nothing(
    studied: Item, live: Item, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By words of the statement and of the hidden scripts, by number, by what stages are called; whole and as typed."""
    runs = [_run_of(item) for item in (studied, live)]
    statements = [run.action.statement for run in runs]
    words = [
        *statements,
        *(statement[:12] for statement in statements),
        *(f"run {run.pk}" for run in runs),
        *("-path", "find /srv", "incorrect", "flagged", "refined", "gold", "second-arm", "demo"),
        *("e", studied.campaign.name),
    ]
    asks = [
        Ask("GET", "/search/", {"q": word}, fragment=fragment)
        for word in words
        for fragment in (False, True)
    ]

    def rewrite() -> None:
        rewriting.pass_it(studied)
        rewriting.play_by_others(studied)
        rewriting.make_it_gold(studied)

    compared = compare(
        monkeypatch,
        as_reviewer,
        asks,
        Side("of the study: verdict, arm, model, gold", rewrite),
        Side("of the live queue: verdict", lambda: rewriting.pass_it(live)),
    )
    assert compared == 2 * len(asks)


@pytest.mark.slow
def test_the_live_queue_in_hand(
    live: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only all addresses of the item, asked on both sides, show a verdict that some of them tells."""
    services.claim_item(live, by=reviewer)
    passed = Side("verdict", lambda: rewriting.pass_it(live))
    compared = compare(monkeypatch, client_for(reviewer), asks_about(live), passed)
    print(f"live queue: {compared} requests compared, 0 differences")


@pytest.mark.slow
def test_every_other_address_of_the_product(
    live: Item, studied: Item, reviewer: User, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those about an item are asked by the other tests; here are all others, with an item of each kind in hand."""
    both = (live, studied)
    for item in both:
        services.claim_item(item, by=reviewer)

    def on_both(rewrite: Callable[[Item], object]) -> Callable[[], None]:
        return lambda: [rewrite(item) for item in both] and None

    compared = compare(
        monkeypatch,
        as_reviewer,
        _asks_of(both, asks_of_the_rest),
        Side("verdict", on_both(rewriting.pass_it)),
        Side("execution evidence", on_both(rewriting.run_its_cases)),
        Side("cases written", on_both(rewriting.write_cases_for_it)),
    )
    print(f"every other address: {compared} requests compared, 0 differences")


def _asks_of(items: Iterable[Item], asks_for: Callable[[Item], list[Ask]]) -> list[Ask]:
    """The requests about several items, each of them once."""
    return list({str(ask): ask for item in items for ask in asks_for(item)}.values())


@pytest.mark.slow
def test_who_curates_as_well_is_blinded_as_a_reviewer(
    live: Item, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = make_person("ren", "reviewer", "curator")
    passed = Side("verdict", lambda: rewriting.pass_it(live))
    compared = compare(monkeypatch, client_for(both), asks_about(live), passed)
    print(f"reviewer and curator: {compared} requests compared, 0 differences")


@pytest.mark.slow
def test_after_somebody_else_has_scored_and_skipped_it(
    live: Item, asker: User, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_person("olga", "reviewer")
    assignment = services.claim_item(live, by=other)
    draft = _run_of(live).drafts.get(number=1)
    services.submit_score(
        live, services.ScoreInput(stage="script", value=2, seen=draft.pk), by=other
    )
    services.give_back(assignment, state=assignment.State.SKIPPED, why="Not my field")
    services.claim_item(live, by=reviewer)
    refined = _run_of(live).drafts.get(kind="refined")
    asks = [one for one in asks_about(live) if one.method == "GET"]
    assert refined.pk != draft.pk
    passed = Side("verdict", lambda: rewriting.pass_it(live))
    compared = compare(monkeypatch, client_for(reviewer), asks, passed)
    print(f"after a skip: {compared} requests compared, 0 differences")


@pytest.mark.slow
def test_a_study_in_hand(
    studied: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.claim_item(studied, by=reviewer)
    compared = compare(
        monkeypatch,
        client_for(reviewer),
        asks_about(studied),
        Side("verdict, feedback, refined Draft, times, costs", lambda: rewriting.pass_it(studied)),
        Side("arm, model, demo, import", lambda: rewriting.play_by_others(studied)),
        Side("gold, sham, execution", lambda: rewriting.make_it_gold(studied)),
        Side("repair", lambda: rewriting.repair_first(studied)),
        Side("repeat", lambda: _repeat(studied)),
        Side("execution evidence", lambda: rewriting.run_its_cases(studied)),
        Side("cases written", lambda: rewriting.write_cases_for_it(studied)),
    )
    print(f"study in hand: {compared} requests compared, 0 differences")


def _repeat(item: Item) -> None:
    rewriting.show_again(item, as_what="repeat", original=item.campaign.items.earliest("pk"))


@pytest.mark.slow
def test_items_of_the_queue_and_of_a_study_before_they_are_taken(
    live: Item, studied: Item, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits shows on other pages than what is in hand, and only all of these together tell that none leaks."""

    def rewrite() -> None:
        rewriting.pass_it(live)
        rewriting.pass_it(studied)
        rewriting.play_by_others(studied)

    asks = _asks_of((live, studied), asks_about)
    compared = compare(monkeypatch, as_reviewer, asks, Side("verdict and arm", rewrite))
    print(f"waiting: {compared} requests compared, 0 differences")


@pytest.mark.slow
def test_a_halo_check_is_told_from_no_first_script(
    studied: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.claim_item(studied, by=reviewer)
    original = add_item(studied.campaign, "case-x")
    rewriting.show_again(studied, as_what="halo", original=original)
    first = Side("halo", lambda: rewriting.make_refined_first(studied))
    compared = compare(monkeypatch, client_for(reviewer), _reading(studied), first)
    print(f"halo: {compared} requests compared, 0 differences")


def test_the_comparison_notices_what_shows(
    live: Item, curator: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would pass for want of looking: a curator may see the verdict, and gets other answers."""
    asks = [Ask("GET", f"/api/v1/runs/{live.run_id}/"), Ask("GET", f"/runs/{live.run_id}/")]
    passed = Side("verdict", lambda: rewriting.pass_it(live))
    with pytest.raises(Differs, match="2 of 2 answers differ"):
        compare(monkeypatch, client_for(curator), asks, passed)


def _reading(item: Item) -> list[Ask]:
    return [one for one in asks_about(item) if one.method == "GET" or "/items/" in one.path]
