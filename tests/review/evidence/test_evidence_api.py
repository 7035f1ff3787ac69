"""Tests for an item's sandbox tests through the API, which shows and allows the same as the review page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog.models import CaseRun
from review import services as review
from review.models import Campaign, CaseRevision, ExecutionLabel, Exposure, Item
from tests import people
from tests.keys import shown
from tests.review.desk.test_desk import score_next
from tests.review.evidence.conftest import CASE, run_scripts

client = people.as_reviewer

pytestmark = pytest.mark.django_db


def address(item: Item, what: str = "") -> str:
    return f"/api/v1/items/{shown(item)}/evidence/{what}"


def read(client: Client, item: Item) -> dict[str, Any]:
    answer = client.get(address(item))
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def send(client: Client, item: Item, what: str, sent: Mapping[str, object]) -> Any:
    return client.post(address(item, f"{what}/"), sent, content_type="application/json")


def test_api_shows_results_and_notes_it(item: Item, client: Client, reviewer: User) -> None:
    found = read(client, item)
    assert [one["state"] for one in found["scripts"]] == ["failed", "passed"]
    drafts = client.get(f"/api/v1/items/{shown(item)}/").json()["drafts"]
    assert [one["draft"] for one in found["scripts"]] == [one["id"] for one in drafts]
    assert {one["set"] for one in found["scripts"]} == {found["sets"][0]["set"]}
    bad = next(one for one in found["scripts"][0]["checks"] if one["state"] == "failed")
    assert (bad["case"], bad["check_number"], bad["got"]) == (1, 3, "something else")
    assert len(found["sets"][0]["content"]["cases"]) == 2
    assert found["differs"] == [{"stage": "script", "value": 2, "outcome": "failed", "reason": ""}]
    assert found["changes"] == []
    assert Exposure.objects.filter(person=reviewer, run=item.run).exists()


def test_a_reason_is_given_and_taken_back(item: Item, client: Client) -> None:
    reason = {"stage": "script", "reason": "interpretation"}
    assert send(client, item, "label", reason).json()["reason"] == "interpretation"
    assert read(client, item)["differs"][0]["reason"] == "interpretation"
    assert send(client, item, "label", reason).json()["reason"] == ""
    assert ExecutionLabel.objects.filter(current=True).get().reason == ""
    assert (
        send(client, item, "label", {"stage": "refined", "reason": "case_wrong"}).status_code == 409
    )


def test_cases_are_struck_corrected_and_added(item: Item, client: Client) -> None:
    sent: dict[str, object] = {"set": read(client, item)["sets"][0]["set"], "reason": "No."}
    struck = send(client, item, "strike", sent | {"what": "1.3"})
    assert (struck.status_code, struck.json()["kind"]) == (201, "struck")
    assert struck.json()["former"] == sent["set"]
    # The earlier hash can no longer be used for changes.
    assert send(client, item, "strike", sent | {"what": "1"}).status_code == 409
    sent["set"] = struck.json()["set"]
    corrected = send(client, item, "cases", sent | {"number": 2, "case": CASE})
    assert corrected.json()["kind"] == "corrected"
    sent["set"] = corrected.json()["set"]
    added = send(client, item, "cases", sent | {"case": CASE | {"title": "one more"}}).json()
    assert (added["kind"], added["what"]) == ("added", "one more")
    found = read(client, item)
    assert [one["kind"] for one in found["changes"]] == ["struck", "corrected", "added"]
    assert [one["title"] for one in found["sets"][0]["content"]["cases"]] == [
        *("a world", "a quiet world", "one more"),
    ]  # fmt: skip
    assert found["sets"][0]["is_under_way"] and CaseRun.objects.filter(state="waiting").exists()


def test_what_makes_no_sense_is_refused_at_its_field(item: Item, client: Client) -> None:
    right: dict[str, dict[str, object]] = {
        "strike": {"what": "1.2", "reason": "No."},
        "cases": {"case": CASE, "reason": "No."},
        "label": {"stage": "script", "reason": "case_wrong"},
    }
    current = read(client, item)["sets"][0]["set"]
    for what, field, value, said in (
        ("strike", "reason", " ", "This field can't be empty."),
        ("strike", "what", "1; rm", "Choose a test or a check."),
        ("strike", "what", "9", "This test no longer exists."),
        ("cases", "reason", "", "This field can't be empty."),
        ("cases", "case", {"title": "x"}, "about: Field required."),
        ("cases", "case", "text", "dictionary"),
        ("cases", "number", 0, "greater than or equal to 1"),
        ("label", "reason", "because", "valid choice"),
        ("label", "stage", "feedback", "valid choice"),
    ):
        answer = send(client, item, what, {"set": current} | right[what] | {field: value})
        assert answer.status_code == 422, (what, field, value)
        assert said in answer.text.replace("’", "'") and f'"{field}"' in answer.text
    assert not CaseRevision.objects.exists() and not ExecutionLabel.objects.exists()


def test_results_wait_for_score(held_flagged: Any, reviewer: User, client: Client) -> None:
    item: Item = held_flagged.item
    run_scripts(item, {"script": "pppp", "refined": "fppp"})
    for value in (0, 2, 2):
        assert client.get(address(item)).status_code == 204
        refused = send(client, item, "label", {"stage": "script", "reason": "case_wrong"})
        assert refused.status_code == 409
        score_next(item, reviewer, value)
    assert {one["outcome"] for one in read(client, item)["differs"]} == {"passed", "failed"}


def test_hidden_execution_stays_hidden(study: Campaign, item: Item, client: Client) -> None:
    Campaign.objects.filter(pk=study.pk).update(hides_execution=True)
    assert client.get(address(item)).status_code == 204
    assert send(client, item, "strike", {"set": "0", "what": "1", "reason": "x"}).status_code == 409


def test_a_manager_looks_and_changes_nothing(item: Item, manager: User, as_manager: Client) -> None:
    assert as_manager.get(address(item)).status_code == 204  # the manager has not scored the item
    assert (
        send(as_manager, item, "label", {"stage": "script", "reason": "case_wrong"}).status_code
        == 403
    )
    assert review.open_item(item, manager).scores == {}
