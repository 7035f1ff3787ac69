"""Tests that an item's page updates automatically while a reviewer waits for the model, but not while the reviewer uses
it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import end_run, hold_run, queue_on
from tests.browser.pictures import take
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_WAIT = """
from core.web.public_keys import ITEM, find_key
from django.contrib.auth.models import User
from review import services
from review.models import Assignment, Item
from tests.review.desk.test_desk import score_next
item, rita = Item.objects.get(pk=find_key(ITEM, {key})), User.objects.get(username='rita')
services.claim_item(item, by=rita)
score_next(item, rita, 0)
Assignment.objects.filter(item=item).update(state='waiting', lease_until=None)
"""
LATER = 10_000  # milliseconds; longer than the polling interval


def test_what_is_ready_appears_by_itself_but_not_while_one_writes(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    [address] = queue_on(site, "waits")
    key = address.split("/")[2]
    site.run(_WAIT.format(key=key))
    hold_run(site, key)
    page = sign_in("rita")
    page.clock.install()
    page.goto(address)
    waits, search = page.locator("[data-waits]"), page.get_by_role("searchbox").first
    expect(waits).to_contain_text("is writing feedback or a rewrite")
    assert problems_of(page) == []
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "waits=1" in one.url else None)

    with page.expect_response("**/items/*/?waits=1") as answer:
        page.clock.fast_forward(LATER)
    assert answer.value.status == 204
    expect(waits).to_be_visible()

    end_run(site, key)
    search.focus()
    asked.clear()
    page.clock.fast_forward(LATER)
    page.keyboard.press("?")
    assert (asked, search.input_value()) == ([], "?")
    expect(waits).to_be_visible()

    search.blur()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.clock.fast_forward(LATER)
    assert asked == []
    page.keyboard.press("Escape")
    page.locator(".steps, .desk-head h1").first.focus()

    with page.expect_response("**/items/*/?waits=1"):
        page.clock.fast_forward(LATER)
    # The item is claimed again at the new stage.
    expect(page.locator(".steps [aria-current]")).to_contain_text("Feedback")
    expect(page.locator("#value_0")).to_be_visible()
    expect(waits).to_have_count(0)
    page.clock.fast_forward(1_000)
    expect(page.locator("#live")).to_contain_text("Is the feedback correct?")
    assert problems_of(page) == []


_SLOW_MODEL = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from pipeline import services
from pipeline.models import Endpoint, Run
from tests.make import make_action
from tests.pipeline.rows import make_attempt, make_call
adam, now = User.objects.get(username='adam'), timezone.now()
ollama = Endpoint.objects.get(name='ollama')
asked = {'id': 'x', 'at': now.isoformat(), 'model': '', 'begun_at': now.isoformat(), 'step': 1}
Endpoint.objects.filter(pk=ollama.pk).update(probe={'asked': asked}, timeout_seconds=600)
runs = [services.start_run(make_action(f'Slow {n}', by=adam), by=adam, enqueue=False) for n in (1, 2)]
Run.objects.filter(pk=runs[0].pk).update(
    state='running', owner='a slow one', fence=F('fence') + 1, started_at=now,
    lease_until=now + timedelta(hours=1),
)
runs[0].stages.create(sequence=1, name='generate', started_at=now)
make_attempt(
    make_call(runs[0], 'generate', endpoint='ollama'),
    ended_at=None, outcome='', place=1, endpoint=ollama, started_at=now,
)
Run.objects.filter(pk=runs[1].pk).update(waits_for=ollama, not_before=now + timedelta(hours=1))
print(*(reverse('run-detail', args=[run.pk]) for run in runs), reverse('endpoint-detail', args=['ollama']))
"""
SECONDS = 20
LIMIT = 0.05  # maximum CPU use, as a share of one core


def test_waiting_page_uses_little_of_the_processor(
    site: Site, sign_in: Callable[..., Page], subtests: pytest.Subtests
) -> None:
    """The measurement takes 20 s per page, because a shorter one would mostly include the processor time for
    loading."""
    running, waiting, check = site.run(_SLOW_MODEL).split()
    page = sign_in("adam")
    page.emulate_media(reduced_motion="no-preference")
    for name, address in {"running": running, "waiting": waiting, "check": check}.items():
        page.goto(address)
        page.wait_for_load_state()
        page.wait_for_timeout(3_000)
        take(page, f"wait-{name}", narrow=True)
        shown = page.locator("time[data-since]").all_text_contents()
        before, started = _processor_seconds(), time.monotonic()
        page.wait_for_timeout(SECONDS * 1_000)
        share = (_processor_seconds() - before) / (time.monotonic() - started)
        print(f"{name}: {share:.1%} of a core")
        with subtests.test(name):
            assert share < LIMIT
            then = page.locator("time[data-since]").all_text_contents()
            assert len(then) == len(shown) and not set(shown) & set(then), "times count on"


def _processor_seconds() -> float:
    """Return the processor time of the browser, which is a descendant of this process."""
    children: dict[int, list[tuple[int, str, int]]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = status.read_text().rpartition(")")
        except OSError:
            continue
        fields = tail.split()
        one = (int(status.parent.name), head.partition("(")[2], int(fields[11]) + int(fields[12]))
        children.setdefault(int(fields[1]), []).append(one)
    todo, ticks = [os.getpid()], 0
    while todo:
        for process, name, used in children.get(todo.pop(), []):
            todo.append(process)
            ticks += used if "chrom" in name else 0
    return ticks / os.sysconf("SC_CLK_TCK")
