"""Tests that an administrator can add and test a slash command and read its response with the keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.pictures import take
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_SHELVE = """
from django.contrib.auth.models import User
from tests.catalog.shelf import shelve
shelve("Restart nginx if its configuration is valid", phrasings=["restart nginx"],
       verified_by=User.objects.get(username="carla"))
"""


def test_a_slash_command_is_added_and_tried_by_keys(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    site.run(_SHELVE)
    page = sign_in("adam")
    page.goto("/integrations/commands/")
    assert problems_of(page) == []
    page.goto("/integrations/commands/new/slack/")
    page.get_by_role("textbox", name="Name").fill("On-call workspace")
    page.get_by_label("Secret").fill("8f742231b10e8888abcd99yyyzzz85a5")
    page.get_by_label("Workspace").fill("T0123ABCD")
    assert problems_of(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="On-call workspace")).to_be_visible()
    page.get_by_label("Sample request").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Response")).to_contain_text("Restart nginx if its configuration")
    assert problems_of(page) == []
    take(page, "slash-command", narrow=True, whole=True)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("paused").first).to_be_visible()
    page.goto("/integrations/commands/")
    assert problems_of(page) == []
    site.run("from scriptsmith_site.models import ChatCommand; ChatCommand.objects.all().delete()")
