"""Tests for webhooks and notifications in a browser, with the keyboard, in both themes and on a phone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.pictures import take
from tests.site.integrations.receiver import Receiver
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_TELL_RITA = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from catalog.models import Entry, Version
from scriptsmith_site.models import Notification
rita = User.objects.get(username="rita")
Notification.objects.filter(person=rita).delete()
titles = ["Restart nginx if its configuration is valid", "Delete old dumps of the billing database",
          "Show the ten largest files below /var"]
for number, (title, kind) in enumerate(zip(reversed(titles), ("second_eyes", "made_worse", "verified"))):
    entry, _made = Entry.objects.get_or_create(slug=f"told-{number}", defaults={"title": title})
    script = f"echo told {number}\\n"
    version = Version.objects.filter(entry=entry).first() or Version.objects.create(
        entry=entry, number=1, state="draft", script=script, sha256=Version.hash_of(script))
    Notification.objects.create(person=rita, kind=kind, model="catalog.version", object_id=version.pk,
        at=timezone.now() - timedelta(minutes=7 * (2 - number)), read_at=timezone.now() if number == 0 else None)
"""


def test_a_webhook_is_added_tried_and_given_a_new_secret(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    page = sign_in("adam")
    with Receiver() as receiver:
        page.goto("/integrations/destinations/new/webhook/")
        page.get_by_role("textbox", name="Name").fill("Incident channel")
        page.get_by_role("textbox", name="Address").fill(receiver.url)
        page.get_by_label("A version was verified").check()
        page.get_by_label("A script made things worse").check()
        assert problems_of(page) == []
        page.keyboard.press("Control+Enter")
        secret = page.get_by_label("Signing secret")
        receiver.secret = secret.input_value()
        assert receiver.secret.startswith("whsec_")
        page.goto("/integrations/destinations/")
        page.get_by_role("link", name="Incident channel").click()
        page.get_by_role("button", name="Test now").click()
        expect(page.locator("#deliveries tbody").get_by_text("Delivered")).to_be_visible()
        expect(page.locator("#deliveries tbody tr")).to_have_count(1)
        assert [one.is_signed for one in receiver.received] == [True]
        receiver.says, receiver.answer = b"We are moving house.", lambda _document: 503
        page.get_by_role("button", name="Test now").click()
        expect(page.locator("#deliveries tbody").get_by_text("Failed")).to_be_visible()
        expect(page.locator("#deliveries tbody tr")).to_have_count(2)
        page.reload()
        assert problems_of(page) == []
        take(page, "integrations-webhook", narrow=True)
        page.locator("#deliveries tbody a").first.click()
        expect(page.get_by_text("We are moving house.")).to_be_visible()
        assert problems_of(page) == []
    for address, name in (
        ("/integrations/", "integrations-overview"),
        ("/integrations/destinations/", "integrations-list"),
        ("/integrations/destinations/new/slack/", "integrations-slack"),
    ):
        page.goto(address)
        assert problems_of(page) == []
        take(page, name, narrow=True)
    site.run("from scriptsmith_site.models import Destination; Destination.objects.all().delete()")


def test_the_bell_shows_what_is_unread_and_its_page_is_read_by_keys(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    site.run(_TELL_RITA)
    page = sign_in("rita")
    bell = page.locator("#bell")
    expect(bell).to_be_visible()
    expect(bell).to_contain_text("2")
    bell.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Notifications")).to_be_visible()
    page.goto("/notifications/")
    assert problems_of(page) == []
    take(page, "notifications", narrow=True)
    page.get_by_role("button", name="Restart nginx").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/catalogue/told-2/")
    expect(bell).to_contain_text("1")
    page.goto("/notifications/")
    page.keyboard.press("m")
    expect(bell).to_be_hidden()
    page.goto("/settings/notifications/")
    page.get_by_label("A script that you requested or wrote is verified").select_option("mute")
    page.get_by_label("No emails from").select_option("22")
    assert problems_of(page) == []
    take(page, "notifications-choices", narrow=True, whole=True)
    page.get_by_label("until").select_option("7")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Notification settings saved.")).to_be_visible()
