"""Tests that a blinded reviewer's responses are equal byte by byte in two databases that differ only in hidden
parts."""

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
    compared = compare(
        monkeypatch,
        client_for(reviewer),
        nearest_asks(live),
        Side("verdict, sandbox tests", lambda: _pass_with_tests(live)),
        Side("secrets and matches", lambda: rewriting.mask_what_left_it(live)),
    )
    print(f"review queue, nearest: {compared} requests compared, 0 differences")
    assert compared >= 10


@pytest.mark.slow
def test_what_is_nearest_to_an_item_of_a_study(
    studied: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.claim_item(studied, by=reviewer)
    compared = compare(
        monkeypatch,
        client_for(reviewer),
        nearest_asks(studied),
        *_sides_of_study(studied),
        Side("secrets and matches", lambda: rewriting.mask_what_left_it(studied)),
    )
    original = add_item(studied.campaign, "case-x")
    rewriting.show_again(studied, as_what="halo", original=original)
    first = Side("halo", lambda: rewriting.make_refined_first(studied))
    compared += compare(monkeypatch, client_for(reviewer), nearest_asks(studied), first)
    print(f"study, nearest: {compared} requests compared, 0 differences")
    assert compared >= 40


@pytest.mark.slow
def test_the_search_tells_a_reviewer_nothing(
    studied: Item, live: Item, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search for words of the request and of hidden scripts, for numbers and for stage names, complete and as typed."""
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
        for item in (studied, live):
            rewriting.pass_it(item)
        rewriting.play_by_others(studied)
        rewriting.make_it_gold(studied)

    compared = compare(monkeypatch, as_reviewer, asks, Side("verdict, arm, model, gold", rewrite))
    assert compared == len(asks)


@pytest.mark.slow
def test_the_live_queue_in_hand(
    live: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a comparison of all the item's addresses finds one that reveals the verdict."""
    services.claim_item(live, by=reviewer)
    passed = Side("verdict", lambda: rewriting.pass_it(live))
    compared = compare(monkeypatch, client_for(reviewer), asks_about(live), passed)
    print(f"review queue: {compared} requests compared, 0 differences")


@pytest.mark.slow
def test_every_other_address_of_the_product(
    live: Item, studied: Item, reviewer: User, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other tests cover the addresses about items. This test covers all others, with an item of each kind
    claimed."""
    both = (live, studied)
    for item in both:
        services.claim_item(item, by=reviewer)

    def rewrite() -> None:
        for item in both:
            _pass_with_tests(item)

    asks = _asks_of(both, asks_of_the_rest)
    compared = compare(monkeypatch, as_reviewer, asks, Side("verdict, sandbox tests", rewrite))
    print(f"every other address: {compared} requests compared, 0 differences")


def _asks_of(items: Iterable[Item], asks_for: Callable[[Item], list[Ask]]) -> list[Ask]:
    """Return the requests about these items, without duplicates."""
    return list({str(ask): ask for item in items for ask in asks_for(item)}.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "asks", [nearest_asks, pytest.param(asks_about, marks=pytest.mark.nightly)]
)
def test_reviewer_who_is_also_curator_is_blinded(
    live: Item,
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
    asks: Callable[[Item], list[Ask]],
) -> None:
    both = make_person("ren", "reviewer", "curator")
    passed = Side("verdict", lambda: rewriting.pass_it(live))
    compared = compare(monkeypatch, client_for(both), asks(live), passed)
    print(f"reviewer and curator: {compared} requests compared, 0 differences")


@pytest.mark.nightly
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
        monkeypatch, client_for(reviewer), asks_about(studied), *_sides_of_study(studied)
    )
    print(f"study in hand: {compared} requests compared, 0 differences")


def _pass_with_tests(item: Item) -> None:
    rewriting.pass_it(item)
    rewriting.write_cases_for_it(item)


def _sides_of_study(item: Item) -> tuple[Side, Side]:
    """Return two databases that differ in everything a study hides. Each walk over all addresses takes 15 s."""

    def replace_run() -> None:
        rewriting.pass_it(item)
        rewriting.play_by_others(item)
        rewriting.make_it_gold(item)
        rewriting.repair_first(item)

    def repeat_with_tests() -> None:
        rewriting.show_again(item, as_what="repeat", original=item.campaign.items.earliest("pk"))
        rewriting.write_cases_for_it(item)

    return (
        Side("verdict, feedback, costs, arm, model, gold, execution, repair", replace_run),
        Side("repeat, sandbox tests", repeat_with_tests),
    )


@pytest.mark.slow
def test_items_of_the_queue_and_of_a_study_before_they_are_taken(
    live: Item, studied: Item, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unclaimed and claimed items are shown on different pages, so all addresses of unclaimed items are compared."""

    def rewrite() -> None:
        rewriting.pass_it(live)
        rewriting.pass_it(studied)
        rewriting.play_by_others(studied)

    asks = _asks_of((live, studied), asks_about)
    compared = compare(monkeypatch, as_reviewer, asks, Side("verdict and arm", rewrite))
    print(f"waiting: {compared} requests compared, 0 differences")


@pytest.mark.nightly
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
    """A curator may see the verdict, so the comparison must report differences."""
    asks = [Ask("GET", f"/api/v1/runs/{live.run_id}/"), Ask("GET", f"/runs/{live.run_id}/")]
    passed = Side("verdict", lambda: rewriting.pass_it(live))
    with pytest.raises(Differs, match="2 of 2 answers differ"):
        compare(monkeypatch, client_for(curator), asks, passed)


def _reading(item: Item) -> list[Ask]:
    return [one for one in asks_about(item) if one.method == "GET" or "/items/" in one.path]
