"""Measure the review page in Chromium with the real server: the cold first load, and the next item."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from statistics import median, quantiles
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from bench.figures import Figure, figure, machine, size, slowness
from bench.support.product import running

LOADS, ITEMS = size(full=21, quick=7), size(full=60, quick=20)
# Each web thread compiles queries and templates for its first pages. Warm up the server, so that only the browser is
# cold.
_WARM_UP = 20
# Wait until Chromium has opened its window. This takes half a second of CPU time, which the measurement must exclude.
_SETTLED_MS = 1_000
_CASES = 300
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

# Measures the time from the key press to the frame that shows the next item, and the server's part of this time.
_WATCH = """
() => {
  window.took = [];
  let pressed = 0;
  document.addEventListener("keydown", ({ key }) => { if (key === "Enter") pressed = performance.now(); }, true);
  let item = document.getElementById("desk").dataset.item;
  new MutationObserver(() => {
    const now = document.getElementById("desk")?.dataset.item;
    if (!now || now === item) return;
    item = now;
    requestAnimationFrame(() => setTimeout(() => {
      const sent = performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/score/")).at(-1);
      window.took.push([performance.now() - pressed, sent.responseEnd - sent.startTime]);
    }));
  }).observe(document.body, { childList: true, subtree: true });
}
"""


def measure() -> list[Figure]:
    """Load an item's page with a cold cache, then score items with the keyboard."""
    with running() as product:
        # Import these modules here, because they need the settings that `running` sets.
        from bench.review.rows import PASSWORD, make_people, make_study

        people = make_people(1)
        study = make_study("Study of the bench", people=people, cases=_CASES)
        found = next(path for name in _NAMES if (path := shutil.which(name)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)
            page = browser.new_page(base_url=product.url)
            page.goto("/login/")
            page.get_by_label("Username").fill(people[0].username)
            page.get_by_label("Password").fill(PASSWORD)
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url: "/login/" not in url)
            page.goto(f"/studies/{study.pk}/")
            page.keyboard.press("s")
            page.wait_for_url("**/items/*/")
            for _reload in range(_WARM_UP):
                page.reload(wait_until="networkidle")
            next_item = _score(page)
            return [*_load_cold(browser, page), *next_item, machine()]


def _load_cold(browser: Browser, page: Page) -> list[Figure]:
    """Load the page repeatedly, in new browser contexts that have only the session cookie."""
    requests: list[str] = []
    sizes, usable = [], []
    for _load in range(LOADS):
        context = browser.new_context(storage_state=page.context.storage_state())
        fresh = context.new_page()
        fresh.wait_for_timeout(_SETTLED_MS)
        requests = []
        total = _count_bytes(fresh, requests)
        fresh.goto(page.url, wait_until="networkidle")
        usable.append(
            fresh.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        )
        sizes.append(total[0])
        context.close()
    for address in requests:
        print(f"    {address}")
    return [
        figure("requests of a cold load", len(requests), most=8),
        figure("KB of a cold load, compressed", median(sizes) / 1_000, most=100),
        figure("usable in ms when cold, median", median(usable), most=400 * slowness()),
        figure("usable in ms when cold, slowest", max(usable)),
    ]


def _count_bytes(page: Page, requests: list[str]) -> list[float]:
    """Start to count the bytes that the page receives. Return a list whose only element is the current number."""
    total = [0.0]
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def note(event: dict[str, object]) -> None:
        total[0] += float(str(event["encodedDataLength"]))

    session.on("Network.loadingFinished", note)
    page.on("request", lambda request: requests.append(urlsplit(request.url).path))
    return total


def _score(page: Page) -> list[Figure]:
    page.reload(wait_until="networkidle")
    page.evaluate(_WATCH)
    for number in range(1, ITEMS + 1):
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        page.wait_for_function("number => window.took.length === number", arg=number)
    took: Sequence[tuple[float, float]] = page.evaluate("window.took")
    whole, server = ([one[place] for one in took[3:]] for place in (0, 1))
    rest = [all_of_it - of_server for all_of_it, of_server in zip(whole, server, strict=True)]
    return [
        figure("next item visible in ms, p50", median(whole), most=100 * slowness()),
        figure("next item visible in ms, p95", quantiles(whole, n=20)[18]),
        figure("of it until the answer is there, p50", median(server)),
        figure("of it swapping and painting, p50", median(rest)),
    ]
