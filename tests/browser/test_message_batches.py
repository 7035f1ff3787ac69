"""A manager views a campaign that uses message batches, and the endpoint that supports them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.pictures import take
from tests.site_process import Site

_MAKE = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from pipeline import services
from pipeline.models import Configuration, Endpoint, MessageBatch, Run
from review.campaigns.services import editing, rules
boss = User.objects.get(username="mona")
endpoint = Endpoint.objects.get(name="claude")
made = rules.create_campaign(
    "Restart scripts, autumn", by=boss, rules=rules.Rules(uses_message_batches=True, budget=5_000_000)
)
actions = [services.ask(f"Restart the service web-{n}", by=boss) for n in range(3)]
editing.add_actions(made, actions, by=boss)
made.configurations.set([Configuration.objects.get(is_default=True)])
now = timezone.now()
run = services.start_run(actions[0], by=boss, batch=made.batch, origin=Run.Origin.CAMPAIGN, enqueue=False)
Run.objects.filter(pk=run.pk).update(not_before=now + timedelta(hours=20))
run.calls.create(key="b" * 64, stage="generate", endpoint=endpoint, model="m", request={}, in_batches=True)
for state, answered, expired, hours, problem in (
    ("done", 200, 0, 30, ""), ("done", 160, 40, 28, ""), ("in_progress", 0, 0, 2, ""),
    ("failed", 0, 0, 1, "claude: This key may not create message batches. (HTTP 403)"),
):
    MessageBatch.objects.create(
        batch=made.batch, endpoint=endpoint, state=state, remote_id=f"r{hours}", requests=200, answered=answered,
        expired=expired, sent_at=now - timedelta(hours=hours), expires_at=now + timedelta(hours=24 - hours),
        ended_at=now - timedelta(hours=hours - 1) if state == "done" else None, problem=problem,
    )
print(made.pk)
"""


@pytest.mark.nightly
def test_what_was_sent_and_when_it_expires_is_on_the_page(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    campaign = site.run(_MAKE).strip()
    page = sign_in("mona")
    page.goto(f"/campaigns/{campaign}/")
    expect(page.get_by_role("heading", name="Message batches")).to_be_visible()
    expect(page.get_by_text("40 expired")).to_be_visible()
    assert problems_of(page) == []
    take(page, "batches-campaign", whole=True, narrow=True)
    page.goto(f"/campaigns/{campaign}/setup/arms/")
    expect(page.get_by_label("Use message batches")).to_be_checked()
    assert problems_of(page) == []
    take(page, "batches-arms", whole=True, narrow=True)
    page = sign_in("adam")
    page.goto("/endpoints/claude/")
    expect(page.get_by_text("200 requests in progress")).to_be_visible()
    assert problems_of(page) == []
    take(page, "batches-endpoint", whole=True)
