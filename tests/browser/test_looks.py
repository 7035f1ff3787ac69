"""Every state of the pages that users work with all day, on a desktop, a small laptop and a phone.

Each fits: no second scroll bar, no clipped text, no button with two lines. Each is saved as a screenshot, in light and
dark mode. Runs only if SCRIPTSMITH_SCREENSHOTS names a folder, and alone, because the demo's catalogue would answer
requests of other tests.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.desk import at_stage, press
from tests.site_process import PASSWORD, Site

FOLDER = os.environ.get("SCRIPTSMITH_SCREENSHOTS", "")
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not FOLDER, reason="SCRIPTSMITH_SCREENSHOTS names no folder for pictures"),
]
SIZES = {"1440": (1440, 900), "1366": (1366, 700), "390": (390, 844)}
# What does not fit: a page wider than the window, an inner scroll bar, clipped text, a button with two lines.
_FAULTS = """() => {
  const said = one => `${one.tagName.toLowerCase()}.${one.className} ${one.textContent.trim().slice(0, 40)}`;
  // What scrolls or is cut by design: fields, filters beside a list, tags of a dense row, findings in a dialog.
  const allowed = '.visually-hidden, .cm-editor, .facets, .tags, .dialog .checked-region, input, textarea, svg';
  const seen = [...document.querySelectorAll('main *, dialog[open] *')].filter(one =>
    one.checkVisibility() && one.clientWidth && !one.closest(allowed));
  const style = one => getComputedStyle(one);
  const wide = document.documentElement.scrollWidth > innerWidth ? ['page wider than the screen'] : [];
  const scrolls = seen.filter(one => one.tagName !== 'DIALOG' && (
    /auto|scroll/.test(style(one).overflowY) && one.scrollHeight > one.clientHeight + 1));
  const cut = seen.filter(one => /hidden|clip/.test(style(one).overflowX) && one.scrollWidth > one.clientWidth + 1
    && style(one).textOverflow !== 'ellipsis');
  const folded = seen.filter(one => one.matches('.button:not(.button-wide)')
    && one.clientHeight > 1.9 * parseFloat(style(one).lineHeight) + parseFloat(style(one).paddingTop) * 2);
  return [...wide, ...scrolls.map(one => `scrolls: ${said(one)}`), ...cut.map(one => `cut: ${said(one)}`),
    ...folded.map(one => `in two lines: ${said(one)}`)];
}"""
_LOAD = "from tests.browser import demo_states; demo_states.load_all(password={password!r})"
_READY = "from tests.browser import demo_states; print(demo_states.is_ready())"
_STATES = (
    "from tests.browser import demo_states; print(demo_states.make_states(password={password!r}))"
)


def look(page: Page, name: str) -> list[str]:
    """Return what does not fit at each size, and save a screenshot of each."""
    Path(FOLDER).mkdir(parents=True, exist_ok=True)
    found = []
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("document.querySelectorAll('#toasts .notice').forEach(one => one.remove())")
        found += [f"{name} {size}: {fault}" for fault in page.evaluate(_FAULTS)]
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            path = Path(FOLDER) / f"{name}-{size}-{theme}.png"
            page.screenshot(path=str(path), caret="initial")
        page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})
    return found


@pytest.fixture(scope="module")
def made(site: Site) -> dict[str, str]:
    """Return the addresses by name of the demo with all states."""
    site.run(_LOAD.format(password=PASSWORD))
    while "True" not in site.run(_READY):
        pass
    return json.loads(site.run(_STATES.format(password=PASSWORD)))  # type: ignore[no-any-return]


def go(page: Page, name: str, address: str) -> list[str]:
    page.goto(address)
    return look(page, name)


def test_homes_queue_and_search(made: dict[str, str], sign_in: Callable[..., Page]) -> None:
    found = []
    for who in ("rita", "mona", "carlo", "ada", "sven"):
        page = sign_in(who)
        found += go(page, f"home-{who}", "/")
        if who == "rita":
            found += go(page, "queue", "/queue/") + go(page, "studies", "/studies/")
            found += go(page, "search", "/search/?q=logs")
            press(page, "Control+k")
            page.keyboard.type("rotate")
            expect(page.locator("#palette-found [data-row]").first).to_be_visible()
            found += look(page, "palette")
    assert found == []


def test_runs(made: dict[str, str], sign_in: Callable[..., Page]) -> None:
    page = sign_in("sven")
    found = go(page, "actions", "/actions/")
    for name, address in made.items():
        if name.startswith("run-"):
            found += go(page, name, address)
    assert found == []


def test_catalogue(made: dict[str, str], sign_in: Callable[..., Page]) -> None:
    page = sign_in("carlo")
    found = go(page, "catalogue", "/catalogue/")
    for name in ("entry", "verify", "edit", "merge"):
        found += go(page, name, made[name])
    found += go(page, "duplicates", "/catalogue/curation/duplicates/")
    assert found == []


def test_desk(made: dict[str, str], sign_in: Callable[..., Page]) -> None:
    first, passed, long, hostile, sent, study = made["items"].split()
    page = sign_in("lena")
    found = go(page, "desk-not-taken", f"/items/{first}/")
    press(page, "t")
    at_stage(page, "Script")
    found += look(page, "desk-unscored")
    press(page, "r")
    found += look(page, "desk-reject")
    press(page, "Escape", "x")
    found += look(page, "desk-skip")
    press(page, "Escape", "0", "Enter")
    at_stage(page, "Feedback")
    found += look(page, "desk-feedback")
    press(page, "2", "Enter")
    at_stage(page, "Refined")
    found += look(page, "desk-refined")
    press(page, "z")
    expect(page.locator(".diff-side")).to_be_visible()
    found += look(page, "desk-refined-side")
    press(page, "2", "Enter")
    expect(page.get_by_text("Approve, edit or reject")).to_be_visible()
    found += look(page, "desk-scored")
    press(page, "e")
    expect(page.locator(".cm-content")).to_be_focused()
    found += look(page, "desk-edit")
    press(page, "Escape", "Escape")
    for name, key in (("long", long), ("hostile", hostile)):
        page.goto(f"/items/{key}/")
        press(page, "t")
        at_stage(page, "Script")
        found += look(page, f"desk-{name}")
    page.goto(f"/items/{passed}/")
    press(page, "t")
    at_stage(page, "Script")
    press(page, "1", "Enter")
    page.get_by_role("button", name="Get feedback and a rewrite").click()
    page.wait_for_url(lambda url: f"/items/{passed}/" not in url)
    page.goto(f"/items/{passed}/")
    expect(page.locator("[data-waits]")).to_have_count(0, timeout=60_000)
    found += look(page, "desk-came-back")
    page.goto(f"/studies/{study}/")
    found += look(page, "study")
    press(page, "s")
    page.wait_for_url(f"**/items/{sent}/")
    found += look(page, "desk-sent-back")
    assert found == []


def test_desk_with_what_the_scripts_did(made: dict[str, str], sign_in: Callable[..., Page]) -> None:
    page = sign_in("rita")
    page.goto(made["execution"])
    press(page, "t")
    at_stage(page, "Script")
    for value, then in (("0", "Feedback"), ("2", "Refined")):
        press(page, value, "Enter")
        at_stage(page, then)
    press(page, "2", "Enter")
    expect(page.locator("#execution")).to_be_visible()
    found = look(page, "desk-execution")
    page.locator("#execution").scroll_into_view_if_needed()
    assert found + look(page, "desk-execution-panel") == []
