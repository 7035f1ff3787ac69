"""/metrics: what is worth an alarm, for who has a token."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.errors import BadInput
from pipeline.models import Run
from review.queue.intake import send_to_queue
from scriptsmith_site.people.services import create_account
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.make import make_run


def test_it_says_what_waits(client: Client, administrator: User, stranger: User) -> None:
    send_to_queue(make_run(by=stranger))
    waiting = make_run(by=stranger)
    Run.objects.filter(pk=waiting.pk).update(
        state=Run.State.QUEUED, created_at=timezone.now() - timedelta(minutes=5)
    )
    made = make_token(
        administrator, name="prometheus", scopes=["metrics"], days=None, by=administrator
    )
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {made.secret}"})
    lines = answer.content.decode().splitlines()
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    assert 'scriptsmith_up{part="database"} 1' in lines
    assert 'scriptsmith_runs{state="queued"} 1' in lines
    assert 'scriptsmith_runs{state="running"} 0' in lines
    assert "scriptsmith_items_waiting 1" in lines
    (waited,) = (line for line in lines if line.startswith("scriptsmith_oldest_queued_run_seconds"))
    assert 300 <= float(waited.split()[1]) < 400
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names)), "each is described once"


def ask(client: Client, secret: str) -> int:
    return client.get("/metrics", headers={"Authorization": f"Bearer {secret}"}).status_code


def test_no_other_scope_opens_it(client: Client, administrator: User) -> None:
    assert client.get("/metrics").status_code == 401
    made = make_token(
        administrator,
        name="everything",
        scopes=["read", "ask", "review", "curate", "manage"],
        days=None,
        by=administrator,
    )
    assert ask(client, made.secret) == 403


def test_a_session_does_not_open_it(client: Client, administrator: User) -> None:
    client.force_login(administrator)
    assert client.get("/metrics").status_code == 401


def test_its_scope_opens_nothing_else(client: Client, administrator: User) -> None:
    made = make_token(
        administrator, name="prometheus", scopes=["metrics"], days=None, by=administrator
    )
    answer = client.get("/api/v1/runs/", headers={"Authorization": f"Bearer {made.secret}"})
    assert answer.status_code == 403


def test_it_is_for_administrators_and_service_accounts(
    client: Client, administrator: User, reviewer: User
) -> None:
    with pytest.raises(BadInput, match="administrators and service accounts"):
        make_token(reviewer, name="spy", scopes=["metrics"], days=None, by=reviewer)
    client.force_login(reviewer)
    assert 'value="metrics"' not in client.get("/settings/").content.decode()

    bot = create_account("prometheus", service_account=True, by=administrator)
    made = make_token(bot, name="scrape", scopes=["metrics"], days=None, by=administrator)
    assert ask(client, made.secret) == 200

    own = make_token(administrator, name="mine", scopes=["metrics"], days=None, by=administrator)
    administrator.groups.clear()
    assert ask(client, own.secret) == 403, "the role has gone, and the token stays"
