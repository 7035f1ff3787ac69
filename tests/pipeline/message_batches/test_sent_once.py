"""Tests that the worker looks up a batch before sending it again, so that no batch is submitted twice."""

from __future__ import annotations

import anthropic
import pytest
from django.utils import timezone

from pipeline.message_batches import background, sending
from pipeline.models import Batch, Endpoint, MessageBatch
from tests.pipeline.message_batches.conftest import start
from tests.pipeline.message_batches.test_waves import asked, carry_on, step, to_the_end
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db
State = MessageBatch.State


def created(standin: StandIn) -> int:
    return len({call["batch"] for call in standin.calls(task="batch_create") if call["batch"]})


def test_batch_of_lost_connection_is_found(campaign: Batch, standin: StandIn) -> None:
    standin.faults({"kind": "death", "task": "batch_create"})
    carry_on(runs := start(campaign, 1))
    background.advance_message_batches()
    row = MessageBatch.objects.get()
    assert (row.state, row.remote_id) == (State.SENDING, "")
    step()
    row.refresh_from_db()
    assert row.remote_id and created(standin) == 1
    to_the_end(runs)
    row.refresh_from_db()
    assert (row.state, row.is_certain) == (State.DONE, True)
    assert created(standin) == 3 and set(asked(standin).values()) == {1}


def test_unsent_batch_of_dead_worker_is_sent(campaign: Batch, standin: StandIn) -> None:
    carry_on(runs := start(campaign, 1))
    standin.faults({"kind": "status", "status": 429, "task": "batch_create"})
    background.advance_message_batches()
    # A killed worker leaves the batch in the sending state, without a response.
    MessageBatch.objects.update(state=State.SENDING, sent_at=timezone.now())
    to_the_end(runs)
    assert created(standin) == 3 and set(asked(standin).values()) == {1}


@pytest.mark.slow
def test_similar_foreign_batch_is_left_alone(campaign: Batch, standin: StandIn) -> None:
    client = anthropic.Anthropic(api_key="any", base_url=standin.url, max_retries=0, timeout=60)
    body = {"model": "demo-smith", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
    theirs = client.messages.batches.create(
        requests=[{"custom_id": f"theirs-{number}", "params": body} for number in range(2)]
    )
    carry_on(runs := start(campaign, 2))
    standin.faults({"kind": "status", "status": 429, "task": "batch_create"})
    background.advance_message_batches()
    MessageBatch.objects.update(state=State.SENDING, sent_at=timezone.now())
    ended = to_the_end(runs)
    assert [run.state for run in ended] == ["done"] * 2
    first = MessageBatch.objects.order_by("pk").first()
    assert first is not None and first.not_ours == [theirs.id] and first.is_certain
    ours = [count for name, count in asked(standin).items() if not str(name).startswith("theirs")]
    assert set(ours) == {1}


def test_batch_not_proved_to_be_ours_is_not_cancelled(campaign: Batch, standin: StandIn) -> None:
    standin.faults({"kind": "slow", "seconds": 60, "task": "batch_create"})
    client = anthropic.Anthropic(api_key="any", base_url=standin.url, max_retries=0, timeout=60)
    body = {"model": "demo-smith", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
    theirs = client.messages.batches.create(requests=[{"custom_id": "theirs", "params": body}])
    now = timezone.now()
    row = MessageBatch.objects.create(
        batch=campaign,
        endpoint=Endpoint.objects.get(name="demo"),
        state=State.IN_PROGRESS,
        remote_id=theirs.id,
        requests=1,
        sent_at=now,
        cancel_asked_at=now,
    )
    background.advance_message_batches()
    assert client.messages.batches.retrieve(theirs.id).processing_status == "in_progress"
    MessageBatch.objects.filter(pk=row.pk).update(is_certain=True)
    step()
    assert client.messages.batches.retrieve(theirs.id).processing_status != "in_progress"


def test_batch_is_ready_before_sending(campaign: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    carry_on(start(campaign, 1))

    def fail() -> None:
        raise RuntimeError("no client")

    monkeypatch.setattr(sending, "batches_client", fail)
    with pytest.raises(RuntimeError):
        background.advance_message_batches()
    assert MessageBatch.objects.get().state == State.PREPARED
