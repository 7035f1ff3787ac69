"""The main job of each role in a browser, every form sent as it was rendered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.desk import log_in
from tests.site_process import PASSWORD, Site

NEW_PASSWORD = "a good new passphrase"
_SHELVE = """
from tests.catalog.shelf import shelve
version = shelve({title!r}, script={script!r}, state={state!r})
print('entry', version.entry.slug)
"""
_STATES = """
from catalog.models import Entry
entry = Entry.objects.get(slug={slug!r})
states = entry.versions.order_by('number').values_list('number', 'state')
print([f'{{number}} {{state}}' for number, state in states], 'suspended' if entry.suspended_at else 'in use')
"""
_OUTCOMES = """
from catalog.models import Use
uses = Use.objects.filter(version__entry__slug={slug!r}).order_by('pk')
print(list(uses.values_list('outcome', flat=True)))
"""
_MANAGER = """
from django.contrib.auth.models import Group, User
mona, _made = User.objects.get_or_create(username='mona', defaults={{'first_name': 'Mona'}})
mona.set_password({password!r})
mona.save()
mona.groups.add(Group.objects.get(name='manager'))
"""


def shelve_on(site: Site, title: str, *, state: str, script: str) -> str:
    """An entry of nobody's on the running product; its slug."""
    said = site.run(_SHELVE.format(title=title, state=state, script=script))
    return said.split("entry ")[1].split()[0]


def states_on(site: Site, slug: str) -> str:
    return site.run(_STATES.format(slug=slug)).strip()


def press(page: Page, control: Locator) -> None:
    """Press it, and be on the page that answers."""
    with page.expect_navigation():
        control.click()


def move(page: Page, words: str, *, button: str = "", **typed: str) -> None:
    """Unfold one thing that can be done with an entry, where it is folded, fill its form in and send it."""
    summary = page.locator("summary").get_by_text(words, exact=True)
    box = page.locator("details").filter(has=summary)
    if box.get_attribute("open") is None:
        summary.click()
    for label, text in typed.items():
        box.get_by_label(label).fill(text)
    press(page, box.get_by_role("button", name=button or words))


@pytest.mark.slow
def test_a_curator_moves_versions_and_says_how_uses_went(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    slug = shelve_on(site, "Say who is signed in", state="draft", script="#!/bin/bash\nwho\n")
    page = sign_in("carla")
    address = f"/catalogue/{slug}/"
    page.goto(f"{address}?version=1")
    move(page, "Submit for review", Note="Ready.")
    assert states_on(site, slug) == "['1 in_review'] in use"
    press(page, page.get_by_role("link", name="Review version 1"))
    page.locator("summary", has_text="Send back").click()
    back = page.locator("details", has=page.get_by_role("button", name="Send back"))
    back.get_by_label("Reason").fill("It has no check.")
    press(page, back.get_by_role("button", name="Send back"))
    assert states_on(site, slug) == "['1 draft'] in use"
    page.goto(f"{address}?version=1")
    move(page, "Submit for review", Note="Now it has.")
    press(page, page.get_by_role("link", name="Review version 1"))
    page.get_by_label("Note").first.fill("Looked at it.")
    press(page, page.get_by_role("button", name="Verify"))
    assert states_on(site, slug) == "['1 verified'] in use"

    for outcome, incident in (("Worked", ""), ("No effect", ""), ("Made it worse", "INC-42")):
        page.goto(address)
        press(page, page.get_by_role("button", name="Copy"))
        if incident:
            page.get_by_label("Incident, where it made things worse").fill(incident)
        press(page, page.get_by_role("button", name=outcome))
    outcomes = site.run(_OUTCOMES.format(slug=slug)).strip()
    assert outcomes == "['worked', 'no_effect', 'worse']"
    assert states_on(site, slug) == "['1 verified'] suspended"
    page.goto(address)
    move(page, "Lift the suspension", **{"What was found": "It was the disk."})
    move(page, "Suspend the entry", Reason="INC-43")
    assert states_on(site, slug) == "['1 verified'] suspended"
    move(page, "Lift the suspension", **{"What was found": "That one, too."})

    page.goto(address)
    press(page, page.get_by_role("link", name="Edit").first)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.type("#!/bin/bash\nwho --heading\n")
    press(page, page.get_by_role("button", name="Save the draft"))
    assert states_on(site, slug) == "['1 verified', '2 draft'] in use"
    page.goto(f"{address}?version=1")
    move(page, "Copy as a new version")
    assert states_on(site, slug) == "['1 verified', '2 draft', '3 draft'] in use"
    page.goto(f"{address}?version=1")
    move(page, "Deprecate", button="Deprecate anyway", Reason="Nobody needs it.")
    assert states_on(site, slug) == "['1 deprecated', '2 draft', '3 draft'] in use"


def test_pressing_cancel_leaves_a_form_unsent(sign_in: Callable[..., Page]) -> None:
    page = sign_in("carla")
    page.goto("/catalogue/new/")
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url("**/catalogue/")


@pytest.mark.slow
def test_a_reviewer_asks_scores_and_approves_without_any_script(
    site: Site, browser: Browser
) -> None:
    """Every form as it was rendered, and nothing of ours that could send it in another way."""
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    log_in(page, "rolf")
    page.goto("/")
    page.get_by_label("What do you want done?").fill("Show how long the machine has been up")
    press(page, page.get_by_role("button", name="Get a script"))
    page.wait_for_url("**/runs/*/")
    review = page.get_by_role("button", name="Review it")
    for _look in range(240):
        if review.count():
            break
        page.wait_for_timeout(500)
        page.reload()
    press(page, review)
    page.wait_for_url("**/items/*/**")
    page.locator("input[name=value][value='2']").check()
    page.locator("#comment").fill("Größer als nötig, aber richtig.")
    press(page, page.get_by_role("button", name="Score").first)
    press(page, page.get_by_role("button", name="Approve", exact=False).first)
    said = site.run(
        "from review.models import Decision, Score\n"
        "print(Decision.objects.latest('pk').kind, Score.objects.latest('pk').comment)"
    )
    assert said.strip() == "approve Größer als nötig, aber richtig."
    context.close()


@pytest.mark.slow
def test_a_manager_makes_a_campaign_imports_into_it_and_reads_the_audit_log(
    site: Site, sign_in: Callable[..., Page], tmp_path: Path
) -> None:
    site.run(_MANAGER.format(password=PASSWORD))
    file = tmp_path / "items.jsonl"
    file.write_text('{"id": "one", "statement": "List the sockets", "script": "ss -l\\n"}\n')
    page = sign_in("mona")
    page.goto("/campaigns/new/")
    page.get_by_label("Name").first.fill("Shell in the browser")
    page.get_by_label("File with its items").set_input_files(file)
    press(page, page.get_by_role("button", name="Go on"))
    campaign = page.url.split("/campaigns/")[1].split("/")[0]
    press(page, page.get_by_role("button", name="Import"))
    expect(page.get_by_role("link", name="Go on with the set-up")).to_be_visible()

    page.goto(f"/campaigns/{campaign}/people/")
    page.get_by_label("Reviewer").select_option("rita")
    press(page, page.get_by_role("button", name="Add", exact=True))
    press(page, page.get_by_role("button", name="Open it", exact=True))
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_text("1 of 1 item is open:")).to_be_visible()
    press(page, page.get_by_role("button", name="Close it anyway"))

    page.goto(f"/campaigns/{campaign}/")
    page.get_by_role("link", name="What was changed here, and by whom").click()
    page.wait_for_url("**/audit/**")
    for event in ("items imported", "state changed"):
        expect(page.get_by_role("cell", name=event).first).to_be_visible()
    page.goto("/audit/")
    expect(page.get_by_role("cell", name="items imported").first).to_be_visible()


@pytest.fixture
def elsewhere(context: BrowserContext) -> Page:
    """The browser of the person who gets the link."""
    return context.new_page()


@pytest.mark.slow
def test_an_administrator_makes_an_account_that_signs_in_and_checks_an_endpoint(
    sign_in: Callable[..., Page], elsewhere: Page
) -> None:
    page = sign_in("adam")
    page.goto("/users/new/")
    page.get_by_label("Name to sign in with").fill("nina")
    page.get_by_label("Curator: verifies", exact=False).check()
    press(page, page.get_by_role("button", name="Make account"))
    page.get_by_label("Reviewer: asks", exact=False).check()
    press(page, page.get_by_role("button", name="Change roles"))
    press(page, page.get_by_role("button", name="Make a password link"))
    link = page.locator("#link").input_value()

    elsewhere.goto(link)
    elsewhere.get_by_label("New password").fill(NEW_PASSWORD)
    elsewhere.get_by_label("Repeat password").fill(NEW_PASSWORD)
    press(elsewhere, elsewhere.get_by_role("button", name="Set password"))
    elsewhere.get_by_label("Username").fill("nina")
    elsewhere.get_by_label("Password").fill(NEW_PASSWORD)
    press(elsewhere, elsewhere.get_by_role("button", name="Sign in", exact=True))
    expect(elsewhere.get_by_role("heading", name="To review")).to_be_visible()
    expect(elsewhere.get_by_role("heading", name="To verify")).to_be_visible()

    page.goto("/endpoints/demo/")
    page.get_by_label("Model", exact=False).first.fill("demo-smith")
    press(page, page.get_by_role("button", name="Check", exact=False).first)
    expect(page.get_by_text("is the best that works", exact=False)).to_be_visible(timeout=60_000)
