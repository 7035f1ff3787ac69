"""Tests for the demo model's Message Batches through the real SDK, from creation to cancellation and errors."""

from __future__ import annotations

import time
from typing import Any

import anthropic
import pytest

from tests.pipeline.standin.asking import Client
from tests.standin_process import StandIn

PARAMS = {"model": "demo-smith", "max_tokens": 50, "messages": [{"role": "user", "content": "?"}]}


def requests(*names: str, **params: object) -> Any:
    return [{"custom_id": name, "params": PARAMS | params} for name in names]


def until_ended(client: Client, name: str) -> Any:
    deadline = time.monotonic() + 60
    while (batch := client.messages.batches.retrieve(name)).processing_status != "ended":
        assert time.monotonic() < deadline
    return batch


@pytest.mark.slow
def test_a_batch_is_made_worked_off_and_read_by_custom_id(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "slow", "seconds": 3, "task": "batch_create"})
    batch = client.messages.batches.create(requests=requests("a", "b", "c"))
    assert (batch.processing_status, batch.request_counts.processing) == ("in_progress", 3)
    assert (batch.expires_at - batch.created_at).total_seconds() == 24 * 3600
    with pytest.raises(anthropic.AnthropicError):
        client.messages.batches.results(batch.id)
    ended = until_ended(client, batch.id)
    assert (ended.request_counts.succeeded, ended.request_counts.processing) == (3, 0)
    results = {line.custom_id: line.result for line in client.messages.batches.results(batch.id)}
    assert set(results) == {"a", "b", "c"}
    assert results["a"].message.usage.service_tier == "batch"
    assert sorted(call["custom_id"] for call in standin.calls(billed=True)) == ["a", "b", "c"]


def test_one_request_may_fail_and_the_others_expire(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "expire", "task": "batch_create", "answered": 2})
    sent = [*requests("a"), *requests("b", temperature=1), *requests("c")]
    batch = client.messages.batches.create(requests=sent)
    until_ended(client, batch.id)
    results = {line.custom_id: line.result for line in client.messages.batches.results(batch.id)}
    assert {name: one.type for name, one in results.items()} == {
        "a": "succeeded",
        "b": "errored",
        "c": "expired",
    }
    assert results["b"].error.error.type == "invalid_request_error"
    assert standin.totals()["billed"] == 1


def test_canceled_batch_withdraws_unanswered_requests(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "slow", "seconds": 60, "task": "batch_create"})
    batch = client.messages.batches.create(requests=requests("a", "b"))
    assert client.messages.batches.cancel(batch.id).processing_status == "canceling"
    assert until_ended(client, batch.id).request_counts.canceled == 2
    with pytest.raises(anthropic.BadRequestError):
        client.messages.batches.cancel(batch.id)


def test_the_list_has_the_newest_first_in_pages(client: Client) -> None:
    made = [client.messages.batches.create(requests=requests("a")).id for _ in range(3)]
    first = client.messages.batches.list(limit=2)
    assert ([one.id for one in first.data], first.has_more) == (made[:0:-1], True)
    assert [one.id for one in first.get_next_page().data] == made[:1]


def test_what_is_no_list_of_requests_is_refused(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "none": [],
        "a space": [{"custom_id": "a b", "params": PARAMS}],
        "twice": [{"custom_id": "a", "params": PARAMS}] * 2,
        "no parameters": [{"custom_id": "a"}],
        "too long": [{"custom_id": "x" * 65, "params": PARAMS}],
    }
    for name, sent in cases.items():
        with subtests.test(name), pytest.raises(anthropic.BadRequestError):
            client.messages.batches.create(requests=sent)


def test_an_unknown_batch_is_not_found(client: Client) -> None:
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.retrieve("msgbatch_none")
