"""Tests that a decision saves score, comment and decision together or not at all, and that undo reverts all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Version
from core.errors import BadInput, NotAllowedNow, Stale
from pipeline.models import Draft, Feedback
from review import services
from review.models import Assignment, Decision, Item, Score, Scratch
from tests.keys import shown as key_of
from tests.make import make_draft, make_finding
from tests.review.desk.test_decide import decide as decide_on
from tests.review.desk.test_desk import score_next
from tests.review.maker import ClientFor, shown_to

WHY = "It is to delete what is old."
HTMX = {"HX-Request": "true"}


@dataclass
class Sent:
    """The result of a decision: 201, or the status and message of the error."""

    status: int
    words: str


@pytest.fixture(params=["htmx", "api"])
def decide(
    request: pytest.FixtureRequest, reviewer: User, client_for: ClientFor
) -> Callable[..., Sent]:
    """Return a function that submits a decision with these fields, on the page or through the API."""
    client = client_for(reviewer)

    def by_page(item: Item, kind: str, **fields: object) -> Sent:
        page = client.get(reverse("item-review", args=[item.pk])).text
        sent = fields_of(page) | {
            "kind": kind,
            **{name: str(value) for name, value in fields.items()},
        }
        if kind != "reject":
            sent["risk_reason"] = str(fields.get("reason", WHY))
        answer = client.post(reverse("item-decide", args=[item.pk]), sent, headers=HTMX)
        done = answer.status_code in (200, 204, 302)
        return Sent(201 if done else answer.status_code, answer.text)

    def by_api(item: Item, kind: str, **fields: object) -> Sent:
        shown = client.get(f"/api/v1/items/{key_of(item)}/").json()
        sent = {
            "kind": kind,
            "shown": shown["shown"],
            "draft_sha256": shown["drafts"][-1]["sha256"],
            "reason": WHY,
            **fields,
        }
        answer = client.post(
            f"/api/v1/items/{key_of(item)}/decide/", sent, content_type="application/json"
        )
        return Sent(answer.status_code, answer.text)

    return by_api if request.param == "api" else by_page


def fields_of(page: str) -> dict[str, str]:
    """Return the fields of the page's score and decision forms, with the selected options."""
    found: dict[str, str] = {}
    for tag in re.findall(r"<input\b[^>]*>", page):
        said = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if said.get("type") == "radio" and " checked" not in tag:
            continue
        if said.get("form") in ("stage", "decide") or said.get("name") in (
            *("stage", "arm", "seen", "view", "value"),
        ):
            found[said["name"]] = said.get("value", "")
    comment = re.search(r'<textarea id="comment"[^>]*>([^<]*)<', page)
    return found | ({"comment": comment[1]} if comment else {})


def given() -> list[tuple[str, int, str]]:
    counting = Score.objects.filter(current=True).order_by("pk")
    return [(score.stage, score.value, score.comment) for score in counting]


def test_refused_decision_stores_nothing(held: Assignment, decide: Callable[..., Sent]) -> None:
    for kind, fields, said in (
        ("approve", {"value": 0, "comment": "it keeps the newest"}, "You scored this script 0"),
        ("approve", {"value": 1, "comment": "it keeps the newest"}, "You scored this script 1"),
        ("approve", {"value": 3}, ""),
        ("approve", {"comment": "x" * 10_001}, ""),
        ("edit", {"script": " ", "value": 1, "comment": "nearly"}, ""),
    ):
        sent = decide(held.item, kind, **fields)
        assert sent.status == 422 and said in sent.words, fields
        if said and "<form" in sent.words:
            value = fields["value"]
            assert "it keeps the newest" in sent.words
            assert re.search(rf'value="{value}" id="value_{value}" checked', sent.words)
        assert not Decision.objects.exists() and not Score.objects.exists(), fields
    assert not Version.objects.exists()


def test_the_page_approves_one_script_and_stores_the_feedbacks_score(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    score_next(item, reviewer, 2)
    fields = fields_of(client.get(reverse("item-review", args=[item.pk])).text)
    assert fields["stage"] == "feedback"
    fields |= {"kind": "approve", "value": "0", "comment": "not so"}
    assert client.post(reverse("item-decide", args=[item.pk]), fields).status_code == 302
    assert given() == [("script", 2, ""), ("feedback", 0, "not so")]


def keep(item: Item, by: User, revision: int = 0, **fields: object) -> Scratch:
    return services.save_scratch(item, by=by, fields=fields, revision=revision)


def test_other_tab_is_respected(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    item, client = held.item, client_for(reviewer)
    older = fields_of(client.get(reverse("item-review", args=[item.pk])).text)
    keep(item, reviewer, **{"value-script-model": "0", "comment-script-model": "of the other tab"})
    decide = reverse("item-decide", args=[item.pk])
    sent = older | {"kind": "approve", "risk_reason": WHY}
    answer = client.post(decide, sent, headers=HTMX)
    assert answer.status_code == 409 and "Score: 0." in answer.text
    assert answer.text.count("of the other tab") == 2, "in the refusal and in its field"
    assert not Decision.objects.exists()
    # The new page shows the newer score. Choosing 2 anyway is a separate decision.
    newer = fields_of(answer.text) | {
        "kind": "approve",
        "value": "2",
        "comment": "",
        "risk_reason": WHY,
    }
    assert client.post(decide, newer).status_code == 302
    assert given() == [("script", 2, "")]


def test_kept_score_counts_as_pick(held: Assignment, reviewer: User, as_reviewer: Client) -> None:
    item = held.item
    keep(item, reviewer, **{"value-script-model": "0", "comment-script-model": "wrong path"})
    decision = {
        "kind": "approve",
        "draft_sha256": item.run.drafts.get().sha256,
        "shown": shown_to(reviewer, item),
        "reason": WHY,
    }
    url = f"/api/v1/items/{key_of(item)}/decide/"
    assert as_reviewer.post(url, decision, content_type="application/json").status_code == 422
    rejection = decision | {"kind": "reject"}
    assert as_reviewer.post(url, rejection, content_type="application/json").status_code == 201
    assert given() == [("script", 0, "wrong path")]


def test_kept_hidden_stage_stops_decision(held_flagged: Assignment, reviewer: User) -> None:
    item = held_flagged.item
    score_next(item, reviewer, 2)
    keep(item, reviewer, **{"comment-feedback-model": "half a thought"})
    with pytest.raises(NotAllowedNow, match="half a thought"):
        decide_on(item, by=reviewer, reason="")


@pytest.mark.parametrize(
    ("kind", "fields", "kept"),
    [
        ("approve", {"value": 2}, [("script", 2, "as typed")]),
        ("approve", {}, [("script", 2, "as typed")]),
        ("reject", {"value": 0, "reason": "No."}, [("script", 0, "as typed")]),
        ("reject", {"reason": "No."}, []),
        ("edit", {"value": 1, "script": "true\n"}, [("script", 1, "as typed")]),
    ],
)
def test_decision_stores_what_is_on_the_screen_and_undo_brings_it_back(
    held: Assignment,
    reviewer: User,
    as_reviewer: Client,
    decide: Callable[..., Sent],
    kind: str,
    fields: dict[str, object],
    kept: list[object],
) -> None:
    assert decide(held.item, kind, comment="as typed", **fields).status == 201
    assert given() == kept
    decision, value = Decision.objects.get(), fields.get("value")
    if kind == "approve":
        score = Score.objects.get()
        assert score.rubric_id and score.blind and decision.scores == [score.pk]
        assert score.visible.get("by_approval", False) is (value is None)
    if kind == "reject":
        assert decision.picked == {"step": "script-model", "value": value, "comment": "as typed"}

    undone = as_reviewer.post(f"/api/v1/items/{key_of(held.item)}/undo/")
    assert undone.status_code == 200 and undone.json()["yours"] is True
    assert not Score.objects.filter(current=True).exists()
    for row in (decision, held, held.item):
        row.refresh_from_db()
    assert (decision.undone_by, held.state, held.item.state) == (reviewer, "active", "open")
    if kind != "reject":
        assert decision.publication.version.state == "deprecated"
    shown = fields_of(as_reviewer.get(reverse("item-review", args=[held.item_id])).text)
    assert shown["comment"] == "as typed"
    assert shown.get("value") == (None if value is None else str(value))
    scratch = Scratch.objects.get().fields
    assert scratch.get("reason") == ("No." if kind == "reject" else None)
    assert scratch.get("script") == ("true\n" if kind == "edit" else None)


def test_undone_decision_restores_earlier_score(held: Assignment, reviewer: User) -> None:
    score_next(held.item, reviewer, 0)
    picked = services.ScoreForm(value=2, comment="on second thoughts")
    decide_on(held.item, by=reviewer, picked=picked)
    assert given() == [("script", 2, "on second thoughts")]
    services.undo_last(held.item.campaign, by=reviewer)
    assert given() == [("script", 0, "")]


def test_typed_text_is_deleted_after_undo_period(held: Assignment, reviewer: User) -> None:
    keep(held.item, reviewer, **{"comment-script-model": "as it was typed"})
    decide_on(held.item, by=reviewer, kind="reject", reason="No.")
    services.forget_scratches()
    assert Scratch.objects.exists()
    window = timedelta(minutes=held.item.campaign.edit_minutes + 1)
    Item.objects.update(closed_at=timezone.now() - window)
    services.forget_scratches()
    assert not Scratch.objects.exists()


def send(client: Client, item: Item, draft: Draft, **fields: object) -> int:
    sent = {"kind": "approve", "draft_sha256": draft.sha256, "reason": WHY, **fields}
    url = f"/api/v1/items/{key_of(item)}/decide/"
    return client.post(url, sent, content_type="application/json").status_code


def test_only_a_script_that_this_persons_screen_has_shown_is_decided_on(
    held_flagged: Assignment,
    put_in_queue: Callable[..., Item],
    reviewer: User,
    second_reviewer: User,
    client_for: ClientFor,
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    first, refined = item.run.drafts.order_by("number")
    token = shown_to(reviewer, item)
    another = shown_to(reviewer, put_in_queue(statement="Show the uptime", script="uptime\n"))
    assert send(client, item, refined, shown=token) == 409, "it was never shown"
    for wrong in ({}, {"shown": ""}, {"shown": 2**31}, {"shown": token[:-1] + "x"}):
        assert send(client, item, first, **wrong) in (409, 422), wrong
    for others in (shown_to(second_reviewer, item), another, "", "x"):
        assert send(client, item, first, shown=others) == 422, "of another screen"
    assert not Decision.objects.exists()
    assert send(client, item, first, shown=token) == 201


def test_an_older_screen_decides_nothing_once_more_may_be_seen(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item = held_flagged.item
    first, token = item.run.drafts.get(number=1), shown_to(reviewer, item)
    for value in (0, 2):
        score_next(item, reviewer, value)
    with pytest.raises(Stale) as stale:
        services.decide(
            item, kind="reject", reason="No.", draft_sha256=first.sha256, shown=token, by=reviewer
        )
    assert stale.value.newest == 2


def test_what_is_hidden_changes_neither_the_token_nor_the_answer(
    held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held.item, client_for(reviewer)
    token, body = shown_to(reviewer, item), client.get(f"/api/v1/items/{key_of(item)}/").content
    sent = {"kind": "approve", "shown": token, "reason": WHY}
    url = f"/api/v1/items/{key_of(item)}/decide/"

    def answer(sha256: str) -> bytes:
        said = client.post(url, {**sent, "draft_sha256": sha256}, content_type="application/json")
        assert said.status_code == 409
        return said.content

    unknown = answer("f" * 64)
    first = item.run.drafts.get()
    feedback = Feedback.objects.create(draft=first, text="- No.", words=2, points=1)
    hidden = make_draft(
        item.run, script="echo hidden\n", kind="refined", parent=first, feedback=feedback
    )
    assert shown_to(reviewer, item) == token
    assert client.get(f"/api/v1/items/{key_of(item)}/").content == body
    assert b"newest" not in body
    assert "newest" not in client.get(reverse("item-review", args=[item.pk])).text
    assert answer(hidden.sha256) == unknown


def test_approving_a_high_risk_takes_a_reason_that_is_kept(
    put_in_queue: Callable[..., Item],
    reviewer: User,
    decide: Callable[..., Sent],
    client_for: ClientFor,
) -> None:
    item = put_in_queue(statement="Empty $TMPX", script="rm -rf $TMPX/*\n")
    draft = item.run.drafts.get()
    whole = "If TMPX is empty, this is the whole system."
    make_finding(draft, level="error", code="unsafe_variable", message=whole)
    services.claim_item(item, by=reviewer)
    page = client_for(reviewer).get(reverse("item-review", args=[item.pk])).text
    assert "high risk" in page and 'name="risk_reason"' in page
    sent = decide(item, "approve", value=2, reason="")
    assert sent.status == 422 and "high risk" in sent.words and not Score.objects.exists()
    assert decide(item, "approve", value=2, reason="TMPX is set before.").status == 201
    version = Version.objects.get()
    assert (version.state, version.risk) == ("verified", "high")
    assert version.events.latest("pk").note == "TMPX is set before."
    assert Decision.objects.get().reason == "TMPX is set before."


def test_unlisted_risk_is_found_on_publication(held: Assignment, reviewer: User) -> None:
    with pytest.raises(BadInput, match="high risk") as refused:
        decide_on(held.item, by=reviewer, reason="")
    assert refused.value.field == "reason" and not Decision.objects.exists()
