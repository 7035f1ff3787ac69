"""Tests for the start and progress of campaigns with message batches, and for cancellation by closing the campaign."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from pipeline.models import Batch, Configuration, Endpoint, MessageBatch, Run
from review.campaigns.services import editing, rules, runs, states
from review.models import Campaign, Item
from tests.make import make_action, make_draft

# CSRF tokens differ between responses.
TOKEN = re.compile(r"\b[A-Za-z0-9]{64}\b")


@pytest.fixture
def campaign(manager: User, reviewer: User) -> Campaign:
    made = rules.create_campaign(
        "Study", by=manager, reviewers=[reviewer], rules=rules.Rules(uses_message_batches=True)
    )
    editing.add_actions(
        made, [make_action(f"Show the load of host {n}") for n in range(3)], by=manager
    )
    made.configurations.set([Configuration.objects.get(is_default=True)])
    Endpoint.objects.filter(name="demo").update(has_batches=True)
    return made


def batch_of(campaign: Campaign) -> Batch:
    return campaign.batch


def sent(campaign: Campaign, **changed: object) -> MessageBatch:
    return MessageBatch.objects.create(
        **{
            "batch": batch_of(campaign),
            "endpoint": Endpoint.objects.get(name="demo"),
            "state": "in_progress",
            "remote_id": f"msgbatch_{MessageBatch.objects.count()}",
            "requests": 3,
            "sent_at": timezone.now(),
            "expires_at": timezone.now() + timedelta(hours=24),
            **changed,
        }
    )


def test_it_is_chosen_in_setup_and_noted(manager: User, as_manager: Client) -> None:
    made = rules.create_campaign("Plain", by=manager)
    page = as_manager.get(f"/campaigns/{made.pk}/setup/arms/").text
    assert "half the price" in page
    as_manager.post(f"/campaigns/{made.pk}/setup/arms/", {"uses_message_batches": "on"})
    assert editing.rules_of(Campaign.objects.get(pk=made.pk)).uses_message_batches
    made.configurations.set([Configuration.objects.get(is_default=True)])
    assert "Message batches" in as_manager.get(f"/campaigns/{made.pk}/").text
    as_manager.post(f"/campaigns/{made.pk}/budget/", {"budget": "3"})
    found = editing.rules_of(Campaign.objects.get(pk=made.pk))
    assert (found.uses_message_batches, found.budget) == (False, 3_000_000)
    as_manager.patch(
        f"/api/v1/campaigns/{made.pk}/",
        {"uses_message_batches": True},
        content_type="application/json",
    )
    assert Campaign.objects.get(pk=made.pk).batch.uses_message_batches


def test_page_and_api_show_progress_of_batches(campaign: Campaign, as_manager: Client) -> None:
    sent(campaign)
    sent(campaign, state="done", answered=2, expired=1, ended_at=timezone.now())
    sent(campaign, state="failed", problem="<script>alert(1)</script>" + "x" * 300)
    page = as_manager.get(f"/campaigns/{campaign.pk}/").text
    assert "In progress" in page and "1 expired" in page and "<script>alert(1)" not in page
    told = as_manager.get(f"/api/v1/campaigns/{campaign.pk}/progress/").json()["message_batches"]
    assert (told["requests"], told["in_progress"], told["answered"]) == (9, 3, 2)
    assert [row["state"] for row in told["newest"]] == ["failed", "done", "in_progress"]


@pytest.mark.slow
def test_batch_queries_do_not_grow(campaign: Campaign, as_manager: Client) -> None:
    counts = []
    for more in (1, 12):
        for _ in range(more):
            sent(campaign)
        as_manager.get(f"/campaigns/{campaign.pk}/")
        with CaptureQueriesContext(connection) as queries:
            as_manager.get(f"/campaigns/{campaign.pk}/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_closing_withdraws_batches_and_pausing_does_not(campaign: Campaign, manager: User) -> None:
    runs.ask_for_runs(campaign, by=manager)
    runs.start_asked(campaign)
    Item.objects.update(state=Item.State.OPEN)
    row = sent(campaign)
    states.move_campaign(campaign, "open", by=manager)
    states.move_campaign(campaign, "paused", by=manager)
    row.refresh_from_db()
    assert row.cancel_asked_at is None
    states.move_campaign(campaign, "closed", by=manager)
    row.refresh_from_db()
    assert row.cancel_asked_at is not None


def test_a_run_that_waits_in_a_batch_is_no_stall_and_its_page_says_what_it_waits_for(
    campaign: Campaign, manager: User, as_manager: Client
) -> None:
    runs.ask_for_runs(campaign, by=manager)
    runs.start_asked(campaign)
    Item.objects.update(created_at=timezone.now() - timedelta(hours=2))
    assert "its run has not finished" in as_manager.get(f"/campaigns/{campaign.pk}/").text
    endpoint = Endpoint.objects.get(name="demo")
    Run.objects.update(not_before=timezone.now() + timedelta(hours=20))
    for run in Run.objects.all():
        run.calls.create(
            key=f"{run.pk:064}",
            stage="generate",
            endpoint=endpoint,
            model="demo-smith",
            request={},
            in_batches=True,
        )
    assert "its run has not finished" not in as_manager.get(f"/campaigns/{campaign.pk}/").text
    run = Run.objects.first()
    assert "message batch" in as_manager.get(f"/runs/{run.pk}/").text


@pytest.mark.slow
def test_reviewer_sees_no_wave(campaign: Campaign, manager: User, as_reviewer: Client) -> None:
    """Passed runs are refined after they have ended, and flagged runs are refined before they end.

    Both must look the same.
    """
    runs.ask_for_runs(campaign, by=manager)
    runs.start_asked(campaign)
    run = Run.objects.first()
    draft = make_draft(run, script="uptime\n", kind="generated", verdict="correct")
    now = timezone.now()
    worlds: list[dict[str, object]] = [
        {"state": "queued", "finished_at": None, "recommended": None, "verdict": ""},
        {"state": "running", "finished_at": None, "recommended": None, "verdict": ""},
        {"state": "queued", "finished_at": now, "recommended": draft, "verdict": "correct"},
        {"state": "done", "finished_at": now, "recommended": draft, "verdict": "correct"},
    ]
    seen = []
    for world in worlds:
        Run.objects.filter(pk=run.pk).update(
            **world, not_before=now + timedelta(hours=20) if world["state"] == "queued" else None
        )
        told = [
            as_reviewer.get(address).text
            for address in (
                f"/runs/{run.pk}/",
                f"/api/v1/runs/{run.pk}/",
                "/actions/",
                "/api/v1/runs/?state=running",
                "/api/v1/runs/?state=done",
                f"/campaigns/{campaign.pk}/",
            )
        ]
        seen.append([TOKEN.sub("", one) for one in told])
    for other in seen[1:]:
        assert [a == b for a, b in zip(seen[0], other, strict=True)] == [True] * 6
