"""A study from its name to its figures: filled from a file, piloted, scored by two, settled, read, taken elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.site_process import PASSWORD, Site

RIGHT, DOUBTFUL = "List the sockets that listen", "List the files with X in the path"
ROWS = [
    {"id": "sockets", "statement": RIGHT, "script": "ss -ltn\n", "verdict": "correct"},
    {"id": "paths", "statement": DOUBTFUL, "script": "find . -name '*X*'\n", "verdict": "correct"},
]
_MANAGER = """
from django.contrib.auth.models import Group, User
user, _made = User.objects.get_or_create(username='mona')
user.set_password({password!r})
user.save()
user.groups.set(Group.objects.filter(name='manager'))
"""


@pytest.fixture
def manager(site: Site, sign_in: Callable[..., Page]) -> Iterator[Page]:
    site.manage("shell", "-c", _MANAGER.format(password=PASSWORD))
    yield sign_in("mona")


def import_file(page: Page, campaign: str, file: Path, *, kind: str) -> None:
    """On the campaign's import page, and until the last row is read."""
    page.goto(f"{campaign}import/")
    page.check(f"input[name=kind][value={kind}]")
    page.set_input_files("input[name=file]", file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("Refused")).to_be_visible()
    expect(page.locator("#transfer[hx-trigger]")).to_have_count(0)


def move(page: Page, campaign: str, label: str) -> None:
    page.goto(campaign)
    page.get_by_role("button", name=label).click()
    expect(page.locator(".notice-success").first).to_be_visible()


def new_campaign(page: Page, name: str) -> str:
    """Named and kept; the address that its pages begin with."""
    page.goto("/campaigns/new/")
    page.fill("input[name=name]", name)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/setup/items/")
    return page.url.partition("setup/")[0]


def score(page: Page, study: str, given: dict[str, str]) -> int:
    """By keys from the study's own page on until nothing waits; how many items there were."""
    page.goto(study)
    page.keyboard.press("s")
    page.wait_for_url("**/items/**")
    done = 0
    while page.locator("#desk").count():
        item = page.locator("#desk").get_attribute("data-item")
        page.keyboard.press(given[page.locator("h1.statement").inner_text()])
        page.keyboard.press("Enter")
        page.wait_for_function(
            "item => document.querySelector('#desk')?.dataset.item !== item", arg=item
        )
        done += 1
    return done


def figures(page: Page, campaign: str) -> object:
    report = page.request.get(f"/api/v1/reports/{campaign.rstrip('/').rpartition('/')[2]}/").json()
    return [report["items"], report["configurations"], report["agreement"]]


def test_a_study_from_its_name_to_figures_that_travel(
    manager: Page, sign_in: Callable[..., Page], tmp_path: Path
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    campaign = new_campaign(manager, "Paths and sockets")
    import_file(manager, campaign, file, kind="items")
    manager.goto(f"{campaign}setup/blinding/")
    manager.fill("input[name=pilot_size]", "1")
    manager.keyboard.press("Control+Enter")
    manager.wait_for_url("**/setup/rubric/")
    manager.goto(f"{campaign}people/")
    manager.locator("button[name=everybody]").click()
    expect(manager.locator(".notice-success")).to_be_visible()

    move(manager, campaign, "Start the pilot")
    study = campaign.replace("/campaigns/", "/studies/")
    rita, rolf = sign_in("rita"), sign_in("rolf")
    assert score(rita, study, {RIGHT: "2", DOUBTFUL: "0"}) == 1
    move(manager, campaign, "Open it")
    assert score(rita, study, {RIGHT: "2", DOUBTFUL: "0"}) == 1
    assert score(rolf, study, {RIGHT: "2", DOUBTFUL: "2"}) == 2

    manager.goto(campaign)
    expect(manager.get_by_text("2 of 2 items done")).to_be_visible()
    manager.goto(f"{campaign}adjudicate/")
    manager.keyboard.press("s")
    expect(manager.get_by_text("Reviewer A")).to_be_visible()
    manager.keyboard.press("1")
    manager.keyboard.press("c")
    manager.keyboard.type("Names are part of the path.")
    manager.keyboard.press("Control+Enter")
    expect(manager.get_by_text("Nothing to adjudicate")).to_be_visible()

    manager.goto(f"{campaign}report/")
    expect(manager.get_by_text("1 / 2").first).to_be_visible()
    manager.goto(f"{campaign}export/")
    manager.get_by_role("button", name="Export").click()
    with manager.expect_download() as download:
        manager.get_by_role("link", name="Download").click()
    exported = tmp_path / "exported.jsonl"
    download.value.save_as(exported)

    again = new_campaign(manager, "Paths and sockets, elsewhere")
    import_file(manager, again, exported, kind="items")
    import_file(manager, again, exported, kind="scores")
    assert figures(manager, again) == figures(manager, campaign)
