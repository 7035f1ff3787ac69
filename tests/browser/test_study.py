"""Tests for a study from its creation to its exported results, with import, pilot, runs, two reviewers and
adjudication.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

STATEMENTS = [
    "List the sockets that listen",
    "Show how long the machine has been up",
    "Delete files older than 30 days in /var/tmp/exports",
]
# The only statement that the two reviewers disagree on.
DOUBTFUL = STATEMENTS[0]
ROWS = [{"nr": str(number), "what": statement} for number, statement in enumerate(STATEMENTS)]
# The current item and stage of the review page.
_WHERE = """[document.querySelector('#desk')?.dataset.item,
             document.querySelector('#desk input[name=stage]')?.value]"""


def choose_file(page: Page, campaign: str, file: Path, *, kind: str, button: str) -> None:
    page.goto(f"{campaign}import/")
    page.get_by_text("More options").click()
    page.check(f"input[name=kind][value={kind}]")
    page.set_input_files("input[name=file]", file)
    page.get_by_role("button", name=button).click()


def wait_for_rows(page: Page) -> None:
    """Wait until the last row of the import has been read."""
    expect(page.get_by_text("Rejected")).to_be_visible()
    expect(page.locator("#transfer[hx-trigger]")).to_have_count(0)


def import_file(page: Page, campaign: str, file: Path, *, kind: str) -> None:
    choose_file(page, campaign, file, kind=kind, button="Import")
    wait_for_rows(page)


def look_and_import(page: Page, campaign: str, file: Path) -> None:
    """Preview a file with unusual column names, change a guessed role and change it back, and import the file."""
    choose_file(page, campaign, file, kind="items", button="Preview")
    expect(page.get_by_label("nr")).to_have_value("id")
    expect(page.get_by_label("what")).to_have_value("statement")
    page.get_by_label("nr").select_option("")
    page.get_by_role("button", name="Refresh preview").click()
    expect(page.get_by_role("cell", name=DOUBTFUL).last).to_be_visible()
    expect(page.get_by_text("rejected")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    wait_for_rows(page)


def start_runs(page: Page, campaign: str, button: str, *, ready: int) -> None:
    """Start runs, and wait until this many items are available for review or reserved for later."""
    page.goto(f"{campaign}setup/start/")
    page.get_by_role("button", name=button).click()
    expect(page.locator(".notice-success").first).to_be_visible()
    number = campaign.rstrip("/").rpartition("/")[2]
    for _ in range(240):
        progress = page.request.get(f"/api/v1/campaigns/{number}/progress/").json()
        if not progress["preparing"] and progress["open"] + progress["held"] >= ready:
            return
        page.wait_for_timeout(500)
    raise AssertionError(progress)


def move(page: Page, campaign: str, label: str) -> None:
    page.goto(campaign)
    page.get_by_role("button", name=label).click()
    expect(page.locator(".notice-success").first).to_be_visible()


def new_campaign(page: Page, name: str) -> str:
    """Create a campaign, and return the common prefix of its page addresses."""
    page.goto("/campaigns/new/")
    page.fill("input[name=name]", name)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/setup/items/")
    return page.url.partition("setup/")[0]


def score(page: Page, study: str, doubtful: str) -> int:
    """Score all available items from the study's page with the keyboard, and return how many.

    All scripts except the doubtful one are correct, and so are the feedback and the refined scripts.
    """
    page.goto(study)
    page.keyboard.press("s")
    page.wait_for_url("**/items/**")
    items = set()
    while page.locator("#desk").count():
        now = page.evaluate(_WHERE)
        items.add(now[0])
        is_doubtful = page.locator("h1.statement").inner_text() == DOUBTFUL and now[1] == "script"
        page.keyboard.press(doubtful if is_doubtful else "2")
        page.keyboard.press("Enter")
        page.wait_for_function(f"now => JSON.stringify({_WHERE}) !== JSON.stringify(now)", arg=now)
    return len(items)


def figures(page: Page, campaign: str) -> object:
    report = page.request.get(f"/api/v1/reports/{campaign.rstrip('/').rpartition('/')[2]}/").json()
    return [report["items"], report["configurations"], report["agreement"]]


@pytest.mark.nightly
@pytest.mark.timeout(480)
def test_a_study_from_its_name_to_figures_that_travel(
    sign_in: Callable[..., Page], tmp_path: Path
) -> None:
    manager = sign_in("mona")
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    campaign = new_campaign(manager, "Sockets and uptimes")
    look_and_import(manager, campaign, file)
    manager.goto(f"{campaign}setup/arms/")
    manager.locator("input[name=configurations][value=demo]").check()
    manager.keyboard.press("Control+Enter")
    manager.wait_for_url("**/setup/reviewers/")
    manager.goto(f"{campaign}setup/blinding/")
    manager.get_by_text("More options").click()
    manager.fill("input[name=pilot_size]", "1")
    manager.keyboard.press("Control+Enter")
    manager.wait_for_url("**/setup/about/")
    manager.goto(f"{campaign}people/")
    manager.locator("button[name=everybody]").click()
    expect(manager.locator(".notice-success")).to_be_visible()

    # The pilot has one statement and one review. The other statements follow later.
    start_runs(manager, campaign, "Run pilot statements", ready=1)
    move(manager, campaign, "Start pilot")
    study = campaign.replace("/campaigns/", "/studies/")
    rita, rolf = sign_in("rita"), sign_in("rolf")
    assert score(rita, study, "0") == 1
    start_runs(manager, campaign, "Start runs", ready=3)
    assert score(rolf, study, "2") == 1
    move(manager, campaign, "Open study")
    assert score(rita, study, "0") == 2
    assert score(rolf, study, "2") == 2

    manager.goto(campaign)
    expect(manager.get_by_text("3 of 3 items done")).to_be_visible()
    manager.goto(f"{campaign}adjudicate/")
    manager.keyboard.press("s")
    expect(manager.get_by_text("Reviewer A").first).to_be_visible()
    manager.keyboard.press("1")
    manager.keyboard.press("c")
    manager.keyboard.type("It lists those of TCP alone.")
    manager.keyboard.press("Control+Enter")
    expect(manager.get_by_text("No disagreements to resolve")).to_be_visible()

    manager.goto(f"{campaign}report/")
    # The pilot's item is excluded from all figures.
    expect(manager.get_by_text("1/2").first).to_be_visible()
    manager.goto(f"{campaign}export/")
    manager.get_by_role("button", name="Export").click()
    with manager.expect_download() as download:
        manager.get_by_role("link", name="Download").click()
    exported = tmp_path / "exported.jsonl"
    download.value.save_as(exported)

    again = new_campaign(manager, "Sockets and uptimes, elsewhere")
    import_file(manager, again, exported, kind="items")
    import_file(manager, again, exported, kind="scores")
    assert figures(manager, again) == figures(manager, campaign)
