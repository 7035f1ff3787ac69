"""Tests for the pages about agents and programs, used with the keyboard. They also take screenshots for the guide."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import pictures
from tests.browser.axe import problems_of
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_ROWS = """
from django.contrib.auth.models import User
from django.test import Client
from catalog.programs.services import report_outcome
from scriptsmith_site.people.services import create_account
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.catalog.shelf import shelve
adam = User.objects.get(username='adam')
carla = User.objects.get(username='carla')
version = shelve('Show how long the machine has been up', verified_by=carla)
robot = create_account('incident-agent', roles=['reviewer'], service_account=True, by=adam)
scopes = ['agent_read', 'report_outcome', 'request_script']
made = make_token(robot, name='Agent of the on-call', scopes=scopes, days=90, by=adam)
client = Client(headers={'Authorization': f'Bearer {made.secret}'})
def call(name, **given):
    message = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': name, 'arguments': given}}
    return client.post('/mcp/', message, content_type='application/json', headers={'Host': 'localhost'})
slug = version.entry.slug
assert call('find_script', statement='Show how long the machine has been up').status_code == 200
call('get_script', entry=slug)
call('get_script', entry='none')
call('report_outcome', entry=slug, version=1, outcome='worse', incident='INC-4711',
     note='Load went from 2 to 40 \\u202eafter it' + 'w' * 200)
print(slug)
"""


def test_the_pages_of_agents_can_be_read_and_used_by_keys(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    slug = site.run(_ROWS).strip()
    page = sign_in("adam")
    page.goto("/integrations/agents/")
    assert problems_of(page) == []
    expect(page.get_by_text("Agent of the on-call").first).to_be_visible()
    pictures.take(page, "agents", narrow=True, whole=True)
    page.get_by_label("Task to search for").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("show how long the machine has been up")
    page.keyboard.press("Enter")
    expect(page.locator("#test")).to_contain_text(slug)
    assert problems_of(page) == []

    curator = sign_in("carla")
    curator.goto("/catalogue/outcome-reports/")
    assert problems_of(curator) == []
    pictures.take(curator, "outcome-reports", narrow=True)
    curator.goto(f"/catalogue/{slug}/")
    assert problems_of(curator) == []
    curator.goto("/catalogue/outcome-reports/")
    curator.get_by_role("button", name="Seen").focus()
    curator.keyboard.press("Enter")
    expect(curator.get_by_text("No automated reports")).to_be_visible()
