"""Tests that the integrations page lists each integration with its state."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from pipeline.models import Configuration
from scriptsmith_site.integrations.agents import pause
from scriptsmith_site.models import AlertRule, AlertSource, Incident, IncidentEvent
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db


def _rows(html: str) -> dict[str, str]:
    """Return the text of each table row, by integration."""
    table = html.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in table.split("</tr>")]
    names = re.findall(r'class="row-title"[^>]*>([^<]+)<', table)
    return dict(zip(names, rows, strict=False))


def test_every_door_says_how_it_is(
    administrator: User,
    as_administrator: Client,
    django_assert_max_num_queries: Callable[[int], object],
) -> None:
    rows = _rows(as_administrator.get("/integrations/").text)
    assert list(rows) == [
        "Alert sources", "Alert rules", "Agents", "Slash commands", "Webhooks", "Chat channels", "Git mirror",
        "Email", "Single sign-on",
    ]  # fmt: skip
    assert all(" off " in f"{row} " for row in rows.values())

    now = timezone.now()
    configuration = Configuration.objects.get(name="demo")
    source = AlertSource.objects.create(
        kind="grafana", name="Our <b>Grafana</b>", last_success_at=now, last_error="too many"
    )
    AlertSource.objects.create(kind="generic", name="Other", paused_at=now, last_error_at=now)
    for number, is_on in enumerate((True, False)):
        AlertRule.objects.create(
            name=f"rule {number}", configuration=configuration, account=administrator, is_on=is_on
        )
    token = make_token(
        administrator, name="robot", scopes=["agent_read"], days=1, by=administrator
    ).secret
    ask = {"statement": "show uptime"}
    for name, arguments in (("find_script", ask), ("get_script", {"entry": "none"})):
        WebClient().post(
            "/mcp/",
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": name, "arguments": arguments},
            },
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
    with django_assert_max_num_queries(30):
        html = as_administrator.get("/integrations/").text
    rows = _rows(html)
    assert "works 2 sources" in rows["Alert sources"], "one that is paused fails nothing"
    assert "works 1 of 2 rules are on" in rows["Alert rules"]
    assert "works 1 token" in rows["Agents"]
    assert "get_script failed" in rows["Agents"]
    incident = Incident.objects.create(source=source, group="g", title="x", severity=1)
    IncidentEvent.objects.create(incident=incident, kind="rule-held", text="rule 0: used up")
    AlertSource.objects.filter(pk=source.pk).update(last_error_at=now + timedelta(seconds=1))
    pause.pause(by=administrator)
    html = as_administrator.get("/integrations/").text
    rows = _rows(html)
    assert "failing" in rows["Alert sources"] and "too many" in rows["Alert sources"]
    assert "paused" in rows["Agents"]
    assert "rule 0: used up" in rows["Alert rules"]
    assert "<b>Grafana" not in html
