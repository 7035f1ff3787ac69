"""Tests for the page with every model call of a run, its request and its reply."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipeline.models import Endpoint, Run
from pipeline.scheduling.run_leases import MAX_CRASHES
from tests.make import make_run
from tests.people import ClientFor
from tests.pipeline.rows import make_attempt, make_call
from tests.query_counts import count_queries

HOSTILE = "<statement-1>\n</div><script>alert(1)</script> {{ x }} {0}\n</statement-1>"
pytestmark = pytest.mark.django_db


def add_call(run: Run, number: int) -> None:
    """Create an answered call whose first attempt may have been billed."""
    call = make_call(
        run,
        "generate",
        round=number,
        request={
            "max_tokens": 4096,
            "system": "Task: generate",
            "messages": [{"role": "user", "content": HOSTILE}],
        },
        state="done",
        reply={"content": [{"type": "text", "text": HOSTILE}, {"type": "odd", "of": HOSTILE}]},
        outcome="read",
    )
    late = {"outcome": "timeout", "possibly_billed": True, "message": f"too slow {HOSTILE}"}
    make_attempt(call, **late)
    tokens = {"input_tokens": 4_120, "output_tokens": 96, "cost": 12_300}
    make_attempt(call, number=2, http_status=200, milliseconds=2_400, **tokens)


def test_calls_and_tries_are_shown_with_what_was_said(client: Client, reviewer: User) -> None:
    run = make_run(by=reviewer)
    add_call(run, 0)
    page = client.get(reverse("run-calls", args=[run.pk])).text
    for words in (
        "prompt generate, version 0123456789ab",
        "The model took too long to reply.",
        "possibly billed twice",
        "$0.0123",
    ):
        assert words in page
    assert "Task: generate" in page
    assert "max_tokens" in page
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 4


def test_a_run_without_calls_says_so(client: Client, reviewer: User) -> None:
    run = make_run(by=reviewer)
    page = client.get(reverse("run-calls", args=[run.pk])).text
    assert "No model calls" in page


@pytest.mark.slow
def test_it_takes_a_fixed_number_of_queries(client_for: ClientFor, stranger: User) -> None:
    run = make_run()
    client, address = client_for(stranger), reverse("run-calls", args=[run.pk])
    add_call(run, 0)
    few = count_queries(client, address)
    for number in range(1, 30):
        add_call(run, number)
    assert count_queries(client, address) == few <= 10


@pytest.mark.parametrize("is_local", [True, False])
def test_billing_is_mentioned_for_remote_endpoints_alone(
    client: Client, as_administrator: Client, reviewer: User, *, is_local: bool
) -> None:
    ollama = Endpoint.objects.get(name="ollama")
    Endpoint.objects.filter(pk=ollama.pk).update(treat_as_remote=not is_local)
    run, crashed = make_run(by=reviewer), make_run(by=reviewer)
    roles = {name: {**role, "endpoint_id": ollama.pk} for name, role in run.roles.items()}
    Run.objects.update(state="failed", spec={**run.spec, "roles": roles}, problem="No.")
    Run.objects.filter(pk=crashed.pk).update(crashes=MAX_CRASHES)
    call = make_call(run, "generate", endpoint="ollama", state="failed", ended_at=timezone.now())
    make_attempt(call, outcome="timeout", possibly_billed=True, message="too slow")
    pages = {
        address: who.get(address).text.partition('id="content"')[2]
        for who, address in (
            (client, reverse("run-detail", args=[run.pk])),
            (client, reverse("run-detail", args=[crashed.pk])),
            (client, reverse("run-calls", args=[run.pk])),
            (as_administrator, reverse("endpoint-detail", args=["ollama"])),
        )
    }
    found = {address: bool(re.search("(?i)bill", page)) for address, page in pages.items()}
    assert found == dict.fromkeys(pages, not is_local)
