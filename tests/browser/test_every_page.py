"""Tests that every page is accessible in both themes, at 200% zoom and on a phone.

The addresses come from the product itself, so new pages are checked without being listed here.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from django.urls import resolve
from playwright.sync_api import Page

from tests.browser.axe import problems_of
from tests.browser.desk import make_on, queue_on
from tests.page_forms import JUDGMENTS
from tests.site_process import PASSWORD, Site

# Pages of libraries, downloads, files that browsers request automatically, and redirects.
NOT_OURS = (
    "/admin/",
    "/api/",
    "/static/",
    "/logout/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/jsi18n",
)
# Additional addresses for routes whose parameter has multiple kinds of values.
BESIDES = [
    *("/search/?q=files", "/help/reviewing/", "/endpoints/demo/", "/configurations/demo/"),
    *("/configurations/default/", "/campaigns/flags/?answered=yes"),
]
# A home page, a list, a form, a detail page and a report, and at least one page for each template folder.
KINDS = (
    *(
        "/",
        "/queue/",
        r"/runs/\d+/",
        "/actions/new/",
        r"/campaigns/\d+/",
        r"/campaigns/\d+/report/",
    ),
    *("/catalogue/", "/settings/", "/endpoints/demo/", "/integrations/", "/audit/"),
)
_EVERYBODY = """
from django.contrib.auth.models import Group, User
user, _made = User.objects.get_or_create(username='eve', first_name='Eve')
user.set_password({password!r})
user.save()
user.groups.set(Group.objects.all())
"""
# The addresses with the keys of existing rows, by folder.
_ADDRESSES = """
import json
from django.urls import get_resolver
from catalog.models import Entry, Version
from pipeline.models import Action, Configuration, Draft, Endpoint, ModelCall, Run
from review.models import Campaign, Item, ReportSnapshot, Transfer
from tests.review.blinding.hidden_words import addresses
study = Campaign.objects.filter(kind='study').order_by('-pk').first()
item = study.items.order_by('pk').first()
entry = Entry.objects.filter(versions__state='verified').first()
run = Run.objects.filter(calls__isnull=False).first() or item.run
keys = {
    'campaigns': study.pk, 'studies': study.pk, 'items': item.pk, '<item>': item.pk, 'runs': run.pk,
    'actions': run.action_id, 'drafts': run.drafts.first().pk, '<step>': 'rules', '<stage>': 'script',
    '<slug>': entry.slug if entry else 'none', '<name>': 'describe', '<number>': 1,
}
print(json.dumps(sorted(addresses(keys, get_resolver().url_patterns))))
"""

# Pages with a script that eve has copied, and with two scripts that she has to decide on.
_WITH_JUDGMENTS = """
from django.contrib.auth.models import User
from django.urls import reverse
from catalog.models import Use
from review import services
from scriptsmith_site.models import AlertSource, Incident, IncidentEvent
from tests.catalog.shelf import shelve
from tests.make import make_run
from tests.review.desk.test_desk import score_next
eve = User.objects.get(username='eve')
version = shelve('Show how long a machine has been up')
use = Use.objects.create(version=version, by=eve)
source = AlertSource.objects.create(name='Enter', kind='generic', proof='token')
incident = Incident.objects.create(source=source, group='g', title='Slow', statement='Show the uptime')
IncidentEvent.objects.create(incident=incident, kind='copied', by=eve, use=use)
run = make_run(statement='List /srv', verdict='incorrect', feedback='- All.', refined='ls -a /srv\\n')
item = services.take_in(run.pk)
services.claim_item(item, by=eve)
for value in (0, 2, 2):
    score_next(item, eve, value)
print(reverse('incident-detail', args=[incident.pk]), reverse('entry-detail', args=[version.entry.slug]))
print(f"{reverse('incident-detail', args=[incident.pk])}?copied={use.pk}", reverse('item-review', args=[item.pk]))
"""
_AT_REST = """
from pipeline.models import Run
mine = Run.objects.filter(action__asked_by__username='eve', action__statement='list the files in /var/tmp')
print(not mine.filter(state__in=['queued', 'running']).exists())
"""


@pytest.fixture(scope="module")
def everything(site: Site) -> list[str]:
    """Create a finished run, a study with items and the review queue, and return the URL of every page."""
    site.run(_EVERYBODY.format(password=PASSWORD))
    make_on(site, "Every page", items=3, people=["eve"])
    queue_on(site, "every-page", items=2)
    site.run(
        "from pipeline import services; from django.contrib.auth.models import User; "
        "services.ask_and_run('list the files in /var/tmp', by=User.objects.get(username='eve'))"
    )
    deadline = time.monotonic() + 120
    while "True" not in site.run(_AT_REST):
        assert time.monotonic() < deadline, "no worker finished the run"
        time.sleep(0.2)
    every: list[str] = json.loads(site.run(_ADDRESSES))
    return [one for one in [*every, *BESIDES] if not one.startswith(NOT_OURS)]


def is_page(page: Page, address: str) -> bool:
    """Return whether a GET request returns a full page, not a file, a fragment, a redirect or an error."""
    answer = page.request.get(address, max_redirects=0)
    kind = answer.headers.get("content-type", "")
    return (
        answer.status == 200 and "html" in kind and "<!doctype html>" in answer.text()[:200].lower()
    )


def faults_of(page: Page, address: str) -> list[str]:
    """Open the page and return its accessibility and layout problems."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(address)
    found = problems_of(page)
    # 1280 pixels at 200% zoom, and a phone
    for width in (640, 390):
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"scrolls sideways at {width} pixels")
    if not page.evaluate("document.querySelectorAll('[aria-live], [role=status]').length"):
        found.append("has no live region")
    return [f"{address} {fault}" for fault in found]


def test_one_page_of_each_kind_is_accessible(
    everything: list[str], sign_in: Callable[..., Page]
) -> None:
    """Only a browser knows the contrast, accessible names and widths of a rendered page."""
    page, found = sign_in("eve"), list[str]()
    for kind in KINDS:
        address = next(one for one in everything if re.fullmatch(kind, one))
        assert is_page(page, address), address
        found += faults_of(page, address)
    page.goto("/admin/")
    assert found + problems_of(page) == []


@pytest.mark.nightly
def test_every_page_can_be_read_by_everybody(
    everything: list[str], sign_in: Callable[..., Page]
) -> None:
    page = sign_in("eve")
    looked = [address for address in everything if is_page(page, address)]
    assert [fault for address in looked for fault in faults_of(page, address)] == []
    assert len(looked) > 40, looked
    assert {urlsplit(one).path for one in looked} >= {
        "/",
        "/queue/",
        "/settings/keys/",
        "/campaigns/",
    }


@pytest.mark.nightly
def test_whoever_wants_no_motion_sees_none(
    everything: list[str], sign_in: Callable[..., Page]
) -> None:
    """These tests request reduced motion, so no animation may last longer than a blink."""
    page = sign_in("eve")
    longest = """Math.max(0, ...document.getAnimations({subtree: true}).map(one => {
        const timing = one.effect.getComputedTiming();
        return timing.activeDuration === Infinity ? Infinity : timing.activeDuration;
    }))"""
    for address in ("/queue/", "/campaigns/", "/_gallery/"):
        page.goto(address)
        assert page.evaluate(longest) < 50, address


_NOTE_SUBMITS = """
window.sent = [];
const note = (form, button) => window.sent.push([
    button?.formAction || form?.action || button?.getAttribute('hx-post') || '',
    button?.name ?? '', button?.value ?? '', button?.innerText ?? '',
]);
document.addEventListener('submit', (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    note(event.target, event.submitter);
}, true);
document.addEventListener('htmx:beforeRequest', (event) => {
    if (event.detail.requestConfig.verb === 'get') return;
    event.preventDefault();
    note(event.target.form ?? event.target, event.target.matches('button') ? event.target : null);
}, true);
for (const one of document.querySelectorAll('details')) one.open = true;
for (const one of document.querySelectorAll('dialog')) one.show();
"""
_FIELDS = "form input:not([type=hidden], [type=submit]), form select, input[form], select[form]"


@pytest.mark.nightly
def test_enter_in_any_field_records_no_judgment(
    site: Site, everything: list[str], sign_in: Callable[..., Page]
) -> None:
    """Only a browser can show which button Enter presses. Chromium has its own rules for lists and radio buttons."""
    page, judged, pressed = sign_in("eve"), set[str](), 0
    opened = site.run(_WITH_JUDGMENTS).split()
    for address in [*opened, *(one for one in everything if is_page(page, one))]:
        page.goto(address)
        page.evaluate(_NOTE_SUBMITS)
        fields = page.locator(_FIELDS)
        for number in range(fields.count()):
            field = fields.nth(number)
            if field.is_visible() and field.is_enabled():
                field.focus()
                field.press("Enter")
                pressed += 1
        for url, name, value, text in page.evaluate("window.sent"):
            is_judgment = resolve(urlsplit(url).path).view_name in JUDGMENTS
            if is_judgment and (name or text.strip()):
                judged.add(f"{address}: {text or value} of {url}")
    assert not judged, judged
    assert pressed > 100, pressed
