"""Tests that a manager who has read no docs can turn a table of forty rows into a closed study.

The test counts page loads and clicks. Two reviewers score all items with the keyboard.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.desk import score_all
from tests.browser.pictures import take

ROWS = 40


class Manager:
    """A user of the browser whose clicks and page loads are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.pages = page, 0, 0
        page.on("framenavigated", self._count)

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def _count(self, frame: object) -> None:
        self.pages += frame is self.page.main_frame


@pytest.fixture
def manager(sign_in: Callable[..., Page]) -> Manager:
    page = sign_in("mona")
    page.goto("/campaigns/")
    return Manager(page)


def statement_of(number: int) -> str:
    return f"List the files below /srv/team-{number} that are older than {number} days"


def write_table(path: Path) -> None:
    """Write a table of forty rows with custom column names."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["nr", "Question", "Answer", "candidate", "reward"])
        for number in range(1, ROWS + 1):
            table.writerow(
                [
                    number,
                    statement_of(number),
                    f"find /srv/team-{number} -type f -mtime +{number}",
                    f"find /srv/team-{number} -mtime +{number} -print",
                    "1.0" if number % 3 else "0.5",
                ]
            )


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_from_a_table_to_a_closed_study(
    manager: Manager, sign_in: Callable[..., Page], tmp_path: Path
) -> None:
    file = tmp_path / "team folders.csv"
    write_table(file)
    page, name = manager.page, "Team folders"

    manager.click(page.get_by_role("link", name="New study").first)
    page.get_by_label("Name").first.fill(name)
    manager.click(page.get_by_label("Items file"))
    page.get_by_label("Items file").set_input_files(file)
    take(page, "study-new", narrow=True)
    manager.click(page.get_by_role("button", name="Continue"))

    # The guessed roles of the columns are correct.
    expect(page.get_by_label("Question")).to_have_value("statement")
    expect(page.get_by_label("candidate")).to_have_value("script")
    expect(page.get_by_label("reward")).to_have_value("execution")
    expect(page.get_by_text("rejected")).to_have_count(0)
    take(page, "study-columns", narrow=True, whole=True)
    manager.click(page.get_by_role("button", name="Import"))
    on = page.get_by_role("link", name="Continue setup")
    expect(on).to_be_visible()
    take(page, "study-imported", narrow=True)
    manager.click(on)

    page.wait_for_url("**/setup/reviewers/")
    manager.click(page.get_by_label("Rita"))
    manager.click(page.get_by_label("Rolf"))
    take(page, "study-reviewers", narrow=True, whole=True)
    manager.click(page.get_by_role("button", name="Save and continue"))

    # Skip the steps with sensible defaults. The plan is next.
    while "/setup/about/" not in page.url:
        manager.click(page.get_by_role("button", name="Save and continue"))
    page.get_by_label("Primary outcome").select_option("first_pass_accuracy")
    manager.clicks += 1
    take(page, "study-plan", narrow=True, whole=True)
    manager.click(page.get_by_role("button", name="Save and continue"))

    page.wait_for_url("**/setup/start/")
    take(page, "study-check", narrow=True, whole=True)
    manager.click(page.get_by_role("button", name="Open study").last)
    expect(page.get_by_text("The study is open")).to_be_visible()
    expect(page.get_by_text("0 of 40 items done")).to_be_visible()
    take(page, "study-open", narrow=True, whole=True)
    opened = manager.clicks, manager.pages
    print(f"From the list of campaigns to an open study: {opened[0]} clicks, {opened[1]} pages")
    assert opened <= (12, 8)

    # Two reviewers find the study and score all items with the keyboard. They disagree on every fifth item.
    for name_of in ("rita", "rolf"):
        reviewer = sign_in(name_of)
        reviewer.goto("/studies/")
        if name_of == "rita":
            take(reviewer, "study-of-reviewer", narrow=True)
        reviewer.get_by_role("link", name=name).click()
        # The list also has a heading with this name.
        reviewer.wait_for_url(re.compile(r"/studies/[^/]+/$"))
        expect(reviewer.get_by_role("heading", name=name)).to_be_visible()
        keys = {statement_of(number): "1" for number in range(5, ROWS + 1, 5)}
        met = score_all(
            reviewer,
            most=ROWS,
            key_for=lambda said, keys=keys if name_of == "rolf" else {}: keys.get(said, "2"),  # type: ignore[misc]
        )
        assert len(set(met)) == ROWS
    page.reload()
    expect(page.get_by_text("40 of 40 items done")).to_be_visible()
    waiting = page.get_by_role("link", name="8 items are waiting for an adjudicator")
    expect(waiting).to_be_visible()
    take(page, "study-done", narrow=True, whole=True)

    # Adjudicate each disagreement with a reason.
    manager.click(waiting)
    manager.click(page.get_by_role("link", name="Start"))
    while page.locator("#settle").count():
        manager.click(page.get_by_role("radio", name="partially correct"))
        page.get_by_label("Reason").fill("It lists folders as well.")
        with page.expect_navigation():
            manager.click(page.get_by_role("button", name="Save final score"))
    expect(page.get_by_text("No disagreements to resolve")).to_be_visible()

    manager.click(page.get_by_role("link", name="Open dashboard"))
    manager.click(page.get_by_role("button", name="Close"))
    expect(page.get_by_text("All 40 items are done")).to_be_visible()
    take(page, "study-close", narrow=True)
    manager.click(page.get_by_role("button", name="Close study"))
    expect(page.get_by_text("The study is closed")).to_be_visible()
    expect(page.get_by_text("Forecast")).to_have_count(0)
    take(page, "study-closed", narrow=True, whole=True)
    print(f"To the closed study: {manager.clicks} clicks, {manager.pages} pages")
    assert (manager.clicks, manager.pages) <= (45, 36)
