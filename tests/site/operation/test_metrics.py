"""Tests for the metrics at /metrics, which programs read with a token for alerting."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.errors import BadInput
from pipeline.models import Run
from review.queue.intake import send_to_queue
from scriptsmith_site.models import (
    AlertDelivery,
    AlertSource,
    AlertTally,
    Delivery,
    Destination,
    Event,
    Notification,
)
from scriptsmith_site.people.services import create_account
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.make import make_run


def test_it_says_what_waits(client: Client, stranger: User, prometheus: dict[str, str]) -> None:
    send_to_queue(make_run(by=stranger))
    waiting = make_run(by=stranger)
    Run.objects.filter(pk=waiting.pk).update(
        state=Run.State.QUEUED, created_at=timezone.now() - timedelta(minutes=5)
    )
    answer = client.get("/metrics", headers=prometheus)
    lines = answer.content.decode().splitlines()
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    assert 'scriptsmith_up{part="database"} 1.0' in lines
    assert 'scriptsmith_runs{state="queued"} 1.0' in lines
    assert 'scriptsmith_runs{state="running"} 0.0' in lines
    assert "scriptsmith_items_waiting 1.0" in lines
    (waited,) = (line for line in lines if line.startswith("scriptsmith_oldest_queued_run_seconds"))
    assert 300 <= float(waited.split()[1]) < 400
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names)), "each is described once"


def test_doors_to_other_systems_say_what_waits_and_what_came_of_it(
    client: Client, administrator: User, prometheus: dict[str, str]
) -> None:
    """Compare the metrics when no work is waiting with those when one item of each kind is waiting.

    Paused work and work that is not due do not count.
    """

    def scrape() -> dict[str, float]:
        answer = client.get("/metrics", headers=prometheus)
        lines = answer.content.decode().splitlines()
        return {
            name: float(value)
            for name, _space, value in (line.rpartition(" ") for line in lines if line[0] != "#")
        }

    def ages() -> list[float]:
        found = scrape()
        return [
            found[f'scriptsmith_queue_age_seconds{{queue="{name}"}}'] // 60
            for name in ("alerts", "outbox", "deliveries", "mail")
        ]

    Event.objects.update(distributed_at=timezone.now())
    assert ages() == [0, 0, 0, 0]
    now = timezone.now()
    source = AlertSource.objects.create(kind="grafana", name="Ours")
    AlertDelivery.objects.create(
        source=source, raw="{}", key="k", created_at=now - timedelta(minutes=3)
    )
    rows = {"type": "entry.verified", "model": "catalog.version", "object_id": 1}
    Event.objects.create(**rows, at=now - timedelta(minutes=5))
    old = Event.objects.create(**rows, at=now - timedelta(hours=9), distributed_at=now)
    sent = Event.objects.create(**rows, at=now - timedelta(minutes=7), distributed_at=now)
    for name, event, paused_at in (("paused", old, now), ("open", sent, None)):
        to = Destination.objects.create(
            name=name, types=[], owner=administrator, paused_at=paused_at
        )
        Delivery.objects.create(
            destination=to, event=event, subject="x", sequence=1, next_at=now + timedelta(hours=1)
        )
    for mail_at in (now - timedelta(minutes=9), now + timedelta(minutes=9)):
        Notification.objects.create(
            person=administrator, kind="k", model="m", object_id=1, mail_at=mail_at
        )
    for what, count in (("new", 2), ("refused: too many", 3), ("refused: no token", 4)):
        AlertTally.objects.create(source=source, what=what, count=count)
    assert ages() == [3, 5, 7, 9]
    found = scrape()
    assert found['scriptsmith_alerts_total{kind="grafana",result="new"}'] == 2
    assert found['scriptsmith_alerts_total{kind="grafana",result="refused"}'] == 7


@pytest.fixture
def prometheus(administrator: User) -> dict[str, str]:
    """Return the request headers of a program whose token may only read metrics."""
    return {"Authorization": f"Bearer {token_of(administrator, 'metrics')}"}


def token_of(user: User, *scopes: str) -> str:
    return make_token(user, name="token", scopes=scopes, days=None, by=user).secret


def ask(client: Client, secret: str) -> int:
    return client.get("/metrics", headers={"Authorization": f"Bearer {secret}"}).status_code


def test_metrics_need_a_token_with_their_scope_and_it_opens_nothing_else(
    client: Client, administrator: User, prometheus: dict[str, str]
) -> None:
    assert client.get("/metrics").status_code == 401
    other = token_of(administrator, "read", "ask", "review", "curate", "manage")
    assert ask(client, other) == 403
    assert client.get("/api/v1/runs/", headers=prometheus).status_code == 403
    client.force_login(administrator)
    assert client.get("/metrics").status_code == 401


def test_metrics_need_permission(as_reviewer: Client, administrator: User, reviewer: User) -> None:
    with pytest.raises(BadInput, match="administrators and service accounts"):
        make_token(reviewer, name="spy", scopes=["metrics"], days=None, by=reviewer)
    assert 'value="metrics"' not in as_reviewer.get("/settings/").content.decode()

    bot = create_account("prometheus", service_account=True, by=administrator)
    made = make_token(bot, name="scrape", scopes=["metrics"], days=None, by=administrator)
    assert ask(as_reviewer, made.secret) == 200

    own = token_of(administrator, "metrics")
    administrator.groups.clear()
    assert ask(as_reviewer, own) == 403, "the role has gone, and the token stays"
