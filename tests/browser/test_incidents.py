"""Tests for incidents with the keyboard, from an alert to a copied script, and for sources and rules."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.pictures import take
from tests.site.alerts.payloads import alertmanager, prometheus_alert
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_MAKE = """
from django.contrib.auth.models import User
from scriptsmith_site.integrations.alerts.services import sources
from catalog.models import Entry
from scriptsmith_site.people.services import create_account
from tests.catalog.shelf import shelve
adam = User.objects.get(username="adam")
if not User.objects.filter(username="night-shift").exists():
    create_account("night-shift", roles=["reviewer"], service_account=True, by=adam)
if not Entry.objects.filter(title="Restart a service on a host").exists():
    shelve(
        "Restart a service on a host",
        script='''#!/usr/bin/env bash
set -euo pipefail
: "${HOST:?where it runs}"
: "${SERVICE:?what is restarted}"
ssh "$HOST" systemctl is-active --quiet "$SERVICE" || ssh "$HOST" systemctl restart "$SERVICE"
ssh "$HOST" systemctl status --no-pager "$SERVICE"
''',
        parameters=[
            {"name": "HOST", "type": "text", "description": "where it runs", "required": True},
            {"name": "SERVICE", "type": "text", "description": "what is restarted", "required": True},
        ],
        side_effect="mutating",
        phrasings=["Restart nginx on a host where it does not answer"],
    )
    shelve("Show the state of a service on a host", script="#!/usr/bin/env bash\\nsystemctl status nginx\\n")
source = sources.add_source("alertmanager", by=adam, details={"name": "Production"})
print(source.pk, sources.make_key(source, by=adam).secret)
"""
TITLE = "Restart nginx on web-1: it does not answer"


@pytest.fixture(scope="module")
def incident(site: Site) -> str:
    """Return the address of an incident that a worker created from alerts sent over HTTP."""
    source, secret = site.run(_MAKE).split()
    for number in range(3):
        # Send the alerts one by one. Otherwise the worker's threads decide which alert comes first.
        wait_for(site, "Incident.objects.count()", number)
        alerts = [
            prometheus_alert(f"{number}-{one}", service="nginx", instance=f"web-{one}:9100")
            for one in range(1, 3 + number)
        ]
        for alert in alerts:
            alert["annotations"] |= {"summary": TITLE if number == 2 else f"Disk {number} is full"}
        body = json.dumps(alertmanager(*alerts, group=f"{number}", truncatedAlerts=number)).encode()
        request = urllib.request.Request(
            f"{site.url}/hooks/alertmanager/{source}",
            body,
            {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.status == 202
    wait_for(site, "Incident.objects.count()", 3)
    return f"/incidents/{ask(site, f'Incident.objects.get(title={TITLE!r}).pk')}/"


def ask(site: Site, value: str) -> int:
    """Evaluate this expression on the site, and return the number of incidents or alerts."""
    return int(site.run(f"from scriptsmith_site.models import Incident; print({value})"))


def wait_for(site: Site, value: str, wanted: int) -> None:
    """Wait until the worker has processed at least `wanted` alerts or incidents."""
    deadline = time.monotonic() + 60
    while ask(site, value) < wanted:
        assert time.monotonic() < deadline, "no worker took the alert in"
        time.sleep(0.2)


def test_from_the_alert_to_the_copied_script_with_keys_only(
    incident: str, sign_in: Callable[..., Page]
) -> None:
    page = sign_in("rita")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/")
    expect(page.get_by_role("heading", name="Open incidents")).to_be_visible()
    pressed: list[str] = []
    began = time.monotonic()

    def press(*keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)
            pressed.append(key)

    press("g", "i")
    expect(page.locator("h1")).to_have_text("Incidents")
    take(page, "incidents", narrow=True)
    press("j", "Enter")
    expect(page.locator("h1")).to_have_text(TITLE)
    assert page.url.endswith(incident)
    expect(page.get_by_text("Suggested values from the alert")).to_be_visible()
    press("a")
    expect(page.locator("[name=value-SERVICE]")).to_have_value("nginx")
    press("c")
    expect(page.get_by_text("Copied script")).to_be_visible()
    expect(page.locator("[data-copy-now] [data-done]")).to_be_visible()
    seconds = time.monotonic() - began
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "systemctl restart" in copied and "nginx" in copied
    press("1")
    expect(page.get_by_text("Saved.")).to_be_visible()
    print(f"{len(pressed)} keys, {seconds:.1f} s from Home to the clipboard: {' '.join(pressed)}")
    assert len(pressed) <= 8


def test_the_page_at_every_width_and_for_everybody(
    incident: str, sign_in: Callable[..., Page]
) -> None:
    page = sign_in("rolf")
    for address in ("/incidents/", incident, f"{incident}ask/"):
        page.goto(address)
        assert problems_of(page) == [], address
        for width in (1440, 1366, 390):
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{address} is {wide} wide at {width}"
        page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(incident)
    take(page, "incident", narrow=True)
    page.keyboard.press("t")
    expect(page.get_by_role("button", name="Unassign")).to_be_visible()
    page.goto(f"{incident}ask/")


def test_an_administrator_adds_a_source_previews_a_sample_and_tests_it(
    incident: str, sign_in: Callable[..., Page]
) -> None:
    page = sign_in("adam")
    page.goto("/alert-sources/")
    assert problems_of(page) == []
    take(page, "alert-sources")
    page.goto("/alert-sources/new/generic/")
    page.get_by_label("Name").fill("Batch system")
    for part, pointer in (("title", "/job"), ("key", "/id"), ("done", "/over")):
        page.locator(f"[name=at_{part}]").fill(pointer)
    page.get_by_label("Sample").fill('{"job": "Nightly failed", "id": 7}')
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("Nightly failed")
    assert problems_of(page) == []
    take(page, "alert-source-preview", whole=True)
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("shown only once")).to_be_visible()
    assert problems_of(page) == []
    page.keyboard.press("t")
    expect(page.get_by_text("The sample opened incident")).to_be_visible()
    page.goto("/alert-rules/")
    expect(page.get_by_text("No rules")).to_be_visible()
    page.goto("/alert-rules/new/")
    page.get_by_label("Name").fill("Services that do not answer")
    page.get_by_label("Source", exact=True).select_option("Production")
    page.get_by_label("Label matchers").fill('service=~"nginx|haproxy"\nalertname="Down"')
    page.get_by_label("Configuration").select_option(index=1)
    page.get_by_label("Service account").select_option("night-shift")
    assert problems_of(page) == []
    take(page, "alert-rule-new", whole=True)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Services that do not answer").first).to_be_visible()
    page.goto("/alert-rules/")
    assert problems_of(page) == []
