"""Two databases that differ only in what is hidden answer a blinded reviewer alike: status, headers and every byte."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from pipeline.models import Run
from review import services
from review.models import Item
from tests.make import make_run
from tests.people import make_person
from tests.review.blinding import rewriting
from tests.review.blinding.asks import asks_about, every_ask
from tests.review.blinding.twins import Ask, Differs, compare
from tests.review.maker import add_configuration, add_item, make_study

ClientFor = Callable[[User], Client]
Step = Callable[[Item], None]

pytestmark = pytest.mark.django_db


@pytest.fixture
def asker(db: None) -> User:
    return make_person("sven", "reviewer")


@pytest.fixture
def live(asker: User) -> Item:
    """A flagged script in the live queue that nobody has scored, asked for by somebody else, between two others."""
    items = [
        _queued(asker, name, flagged=flagged)
        for name, flagged in (("a", False), ("b", True), ("c", True))
    ]
    return items[1]


def _queued(asker: User, name: str, *, flagged: bool) -> Item:
    run = make_run(
        statement=f"List the files of {name}",
        by=asker,
        script=f"find /srv/{name} -name '*X*'\n",
        verdict="incorrect" if flagged else "correct",
        feedback="- Use -path, not -name." if flagged else "",
        refined=f"find /srv/{name} -path '*X*'\n" if flagged else "",
    )
    rewriting.add_work(run)
    item = services.take_in(run.pk)
    assert item is not None
    return item


@pytest.fixture
def studied(manager: User, reviewer: User) -> Item:
    """A flagged script of a study with two reviewers, three other items and a second arm that can be run."""
    other = make_person("olga", "reviewer")
    add_configuration("second-arm")
    campaign = make_study(by=manager, reviewers=[reviewer, other], items=3, overlap=2)
    item = campaign.items.order_by("pk")[1]
    rewriting.add_work(_run_of(item))
    return item


def _run_of(item: Item) -> Run:
    assert item.run is not None
    return item.run


def test_the_live_queue_before_it_is_taken_and_in_hand(
    live: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_for(reviewer)
    compared = compare(monkeypatch, client, lambda: rewriting.pass_it(live), asks_about(live))
    services.claim_item(live, by=reviewer)
    compared += compare(monkeypatch, client, lambda: rewriting.pass_it(live), asks_about(live))
    print(f"live queue: {compared} requests compared, 0 differences")


@pytest.mark.slow
@pytest.mark.parametrize("where", ["live", "studied"])
def test_every_address_of_the_product(
    where: str, request: pytest.FixtureRequest, reviewer: User, client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    item: Item = request.getfixturevalue(where)
    services.claim_item(item, by=reviewer)
    compared = compare(
        monkeypatch, client_for(reviewer), lambda: rewriting.pass_it(item), every_ask(item)
    )
    print(f"every address, {where}: {compared} requests compared, 0 differences")


def test_who_curates_as_well_is_blinded_as_a_reviewer(
    live: Item, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = make_person("ren", "reviewer", "curator")
    compared = compare(
        monkeypatch, client_for(both), lambda: rewriting.pass_it(live), asks_about(live)
    )
    print(f"reviewer and curator: {compared} requests compared, 0 differences")


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
    compared = compare(monkeypatch, client_for(reviewer), lambda: rewriting.pass_it(live), asks)
    print(f"after a skip: {compared} requests compared, 0 differences")


@pytest.mark.parametrize(
    "rewrite",
    [
        pytest.param(rewriting.pass_it, id="verdict, feedback, refined Draft, times, costs"),
        pytest.param(rewriting.play_by_others, id="arm, model, demo, import"),
        pytest.param(rewriting.make_it_gold, id="gold, sham, execution"),
        pytest.param(rewriting.repair_first, id="repair"),
    ],
)
def test_a_study_in_hand(
    studied: Item,
    reviewer: User,
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
    rewrite: Step,
) -> None:
    services.claim_item(studied, by=reviewer)
    compared = compare(
        monkeypatch, client_for(reviewer), lambda: rewrite(studied), asks_about(studied)
    )
    print(f"study, {rewrite.__name__}: {compared} requests compared, 0 differences")


def test_a_study_before_it_is_taken(
    studied: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rewrite() -> None:
        rewriting.pass_it(studied)
        rewriting.play_by_others(studied)

    compared = compare(monkeypatch, client_for(reviewer), rewrite, asks_about(studied))
    print(f"study, waiting: {compared} requests compared, 0 differences")


def test_a_repeat_is_told_from_no_other_item(
    studied: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = add_item(studied.campaign, "case-x")
    services.claim_item(studied, by=reviewer)
    compared = compare(
        monkeypatch,
        client_for(reviewer),
        lambda: rewriting.show_again(studied, as_what="repeat", original=original),
        _reading(studied),
    )
    print(f"repeat: {compared} requests compared, 0 differences")


def test_a_halo_check_is_told_from_no_first_script(
    studied: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.claim_item(studied, by=reviewer)
    original = add_item(studied.campaign, "case-x")
    rewriting.show_again(studied, as_what="halo", original=original)
    compared = compare(
        monkeypatch,
        client_for(reviewer),
        lambda: rewriting.make_refined_first(studied),
        _reading(studied),
    )
    print(f"halo: {compared} requests compared, 0 differences")


def test_the_comparison_notices_what_shows(
    live: Item, curator: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would pass for want of looking: a curator may see the verdict, and gets other answers."""
    asks = [Ask("GET", f"/api/v1/runs/{live.run_id}/"), Ask("GET", "/actions/")]
    with pytest.raises(Differs, match="2 of 2 answers differ"):
        compare(monkeypatch, client_for(curator), lambda: rewriting.pass_it(live), asks)


def _reading(item: Item) -> list[Ask]:
    return [one for one in asks_about(item) if one.method == "GET" or "/items/" in one.path]
