"""/metrics: what is worth an alarm, for who has a token."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from pipeline.models import Run
from review.intake import send_to_queue
from scriptsmith_site.people.tokens import make_token
from tests.make import make_run


def test_it_says_what_waits(client: Client, reviewer: User, stranger: User) -> None:
    send_to_queue(make_run(by=stranger))
    waiting = make_run(by=stranger)
    Run.objects.filter(pk=waiting.pk).update(
        state=Run.State.QUEUED, created_at=timezone.now() - timedelta(minutes=5)
    )
    made = make_token(reviewer, name="prometheus", scopes=["read"], days=None, by=reviewer)
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


def test_it_wants_a_token_that_may_read(client: Client, reviewer: User) -> None:
    assert client.get("/metrics").status_code == 401
    made = make_token(reviewer, name="writer", scopes=["ask"], days=None, by=reviewer)
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {made.secret}"})
    assert answer.status_code == 403
