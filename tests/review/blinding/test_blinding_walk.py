"""Tests that no page, API response or export reveals a secret too early to a blinded reviewer, at any stage."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from review.exchange import jobs
from review.models import Item, ReportSnapshot, Score
from tests.first_cases import first_cases
from tests.keys import shown
from tests.review.blinding.hidden_words import SECRETS, make_secret_item, pages_for, told
from tests.review.desk.test_desk import score_next
from tests.review.maker import ClientFor

pytestmark = pytest.mark.django_db

# Lists, addresses that show the item, its run, action or drafts, and files that contain every secret.
_NEAREST = re.compile(
    r"^/(api/v1/)?((items|runs|actions|drafts)/(\d+/)?|queue/|studies/(\d+/)?|scores/|transfers/\d+/file/|search/)?$"
)
# The list of configurations for a new run does not reveal which configuration made this run.
_CHOICES = {"/actions/new/": {"configuration"}, "/api/v1/configurations/": {"configuration"}}
# The secrets that the item's own page and API show, by the number of scored stages.
_OWN = {
    0: set(),
    1: {"feedback"},
    2: {"feedback", "refined"},
    3: {"feedback", "refined", "verdict", "difference", "note"},
}


@pytest.fixture
def item(manager: User, reviewer: User) -> Item:
    return make_secret_item(manager, reviewer)


@pytest.fixture
def more(item: Item, manager: User, client_for: ClientFor) -> dict[str, object]:
    """Return the keys of an export and of a report snapshot, which contain every secret."""
    export = jobs.begin_export(item.campaign, layout="jsonl", by=manager)
    jobs.carry_out(export.pk)
    client = client_for(manager)
    file = client.get(reverse("transfer-file", args=[export.pk]))
    whole = b"".join(file).decode() if file.streaming else file.text
    assert {"verdict", "feedback", "refined", "comment", "reviewer"} <= set(told(whole))
    client.post(reverse("campaign-report-snapshots", args=[item.campaign_id]), {"name": "Now"})
    snapshot = ReportSnapshot.objects.get()
    return {"transfers": export.pk, "report-snapshots": snapshot.pk, "snapshot": snapshot.pk}


def own_pages(item: Item) -> set[str]:
    return {reverse("item-review", args=[item.pk]), f"/api/v1/items/{shown(item)}/"}


@pytest.mark.parametrize(
    "is_whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["nearest", "whole"]
)
@pytest.mark.parametrize("scored", first_cases(2, [0, 2, 1, 3]))
def test_nothing_is_told_before_its_stage(
    item: Item, reviewer: User, client_for: ClientFor, more: dict[str, object], scored: int,
    is_whole: bool,
) -> None:  # fmt: skip
    for value in (0, 2, 2)[:scored]:
        score_next(item, reviewer, value)
    client, run = client_for(reviewer), item.run
    walked, telling, answered = pages_for(item, **more), {}, set()
    for address in (
        reverse("run-detail", args=[run.pk]),
        f"/api/v1/items/{shown(item)}/",
        reverse("item-hands", args=[item.pk]),
        reverse("transfer-file", args=[more["transfers"]]),
    ):
        assert address in walked
    review = reverse("item-review", args=[item.pk])
    if not is_whole:
        walked = [one for one in walked if _NEAREST.search(one)]
    extra = [
        *(f"{reverse('search')}?q={word}" for word in (run.action.statement, f"run {run.pk}")),
        *(f"{review}?show={one}&against={two}&side=1" for one, two in ((2, 1), (1, 2), (2, 0))),
        f"{review}?change=refined-model",
        f"{reverse('action-compare', args=[run.action_id])}?run={run.pk}&run={run.pk}",
        f"/api/v1/scores/?item={item.pk}",
    ]
    for address in [*walked, *extra]:
        answer = client.get(address)
        body = b"".join(answer) if answer.streaming else answer.content
        found = set(told(body.decode(errors="replace"))) - _CHOICES.get(address, set())
        if address.partition("?")[0] in own_pages(item):
            found -= _OWN[scored]
        if found:
            telling[address] = found
        if answer.status_code == 200:
            answered.add(address)
    assert telling == {}
    assert review in answered and len(answered) > (20 if is_whole else 14)
    managers = {reverse("transfer-file", args=[more["transfers"]])}
    assert not managers & answered, "what holds every secret is not theirs to read"


@pytest.mark.slow
@pytest.mark.parametrize("scored", first_cases(1, [1, 0, 2]))
def test_what_is_sent_is_answered_with_no_secret_either(
    item: Item, reviewer: User, client_for: ClientFor, more: dict[str, object], scored: int
) -> None:
    """Post invalid forms to each URL. No response may contain a secret."""
    for value in (0, 2)[:scored]:
        score_next(item, reviewer, value)
    client, telling = client_for(reviewer), {}
    nonsense = {
        **{"why": "", "value": "9", "text": ""},
        **{"stage": "refined", "arm": "model", "seen": "0"},
    }
    given = Score.objects.count()
    # Requests that open another item would end the walk.
    stays = ("claim", "give-back", "settings", "login", "logout", "undo")
    for address in pages_for(item, **more):
        if any(word in address for word in stays):
            continue
        for body in (nonsense, {**nonsense, "kind": "approve", "what": "verdict", "do": "x"}):
            answer = client.post(address, body, headers={"HX-Request": "true"})
            if answer.streaming:
                continue
            found = set(told(answer.content.decode(errors="replace"))) - _OWN[scored]
            found -= _CHOICES.get(address, set())
            if found:
                telling[address] = found
    assert telling == {}
    assert Score.objects.count() == given


@pytest.mark.slow
def test_each_secret_is_told_to_a_manager_somewhere(
    item: Item, manager: User, client_for: ClientFor, more: dict[str, object]
) -> None:
    """Without this test, the walk would also pass if the secrets appeared nowhere."""
    client, found = client_for(manager), set()
    for address in pages_for(item, **more):
        answer = client.get(address)
        body = b"".join(answer) if answer.streaming else answer.content
        found |= set(told(body.decode(errors="replace")))
    hidden = set(SECRETS) - found
    assert hidden <= {"shortening", "remark"}, (
        "these are their writer's own; a remark, the adjudicator's"
    )
