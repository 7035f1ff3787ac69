"""Create a study on the running product, and score it with the keyboard."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.site_process import PASSWORD, Site

_MAKE = """
from django.contrib.auth.models import User
from review.models import Campaign
from tests.review.maker import add_item, make_study
people = list(User.objects.filter(username__in={people!r}))
study = make_study(by=people[0], reviewers=people, items=0, name={name!r}, is_open=False, overlap={overlap})
for number in range({items}):
    add_item(study, f'{name}-{{number}}', verdict='incorrect' if number % 5 == 0 else 'correct')
Campaign.objects.filter(pk=study.pk).update(state='open')
print(study.pk)
"""


_QUEUE = """
from django.urls import reverse
from review import services
from tests.make import make_run
for number in range({items}):
    run = make_run(
        statement=f'List the files of {name}-{{number}}',
        script=f'#!/usr/bin/env bash\\nfind /srv/{name}-{{number}} -name "*X*"\\n',
        verdict='incorrect',
        feedback='- Use -path, not -name.',
        refined=f'#!/usr/bin/env bash\\nfind /srv/{name}-{{number}} -path "*X*"\\n',
    )
    print(reverse('item-review', args=[services.take_in(run.pk).pk]))
"""


def queue_on(site: Site, name: str, *, items: int = 1) -> list[str]:
    """Add flagged scripts with feedback and a rewrite to the review queue, and return their addresses."""
    return site.run(_QUEUE.format(name=name, items=items)).split()


_HOLD = """
from core.web.public_keys import ITEM, find_key
from datetime import timedelta
from django.db.models import F
from django.utils import timezone
from pipeline.models import Run
from review.models import Item
run = Run.objects.filter(pk=Item.objects.get(pk=find_key(ITEM, {key})).run_id)
run.update(
    state='running', owner='a slow one', fence=F('fence') + 1,
    lease_until=timezone.now() + timedelta(hours=1),
)
"""
_END = """
from core.web.public_keys import ITEM, find_key
from django.utils import timezone
from pipeline.models import Run
from review.models import Item
run = Run.objects.filter(pk=Item.objects.get(pk=find_key(ITEM, {key})).run_id)
run.update(state='done', owner='', lease_until=None, finished_at=timezone.now())
"""


def hold_run(site: Site, key: str) -> None:
    """Set the item's run to running, as if a slow worker were processing it."""
    site.run(_HOLD.format(key=key))


def end_run(site: Site, key: str) -> None:
    """Finish the run that `hold_run` blocked."""
    site.run(_END.format(key=key))


def make_on(site: Site, name: str, *, items: int, people: list[str], overlap: int = 1) -> str:
    """Create a study on the running product, and return the address of its queue."""
    script = _MAKE.format(name=name, items=items, people=people, overlap=overlap)
    return f"/studies/{site.run(script).strip()}/"


# The browser stores the counts across pages. A modifier and the key pressed with it count as one key.
_COUNT = """(() => {
  const more = (name) => { sessionStorage[name] = 1 + Number(sessionStorage[name] ?? 0); };
  more("loads");
  addEventListener("keydown", ({ key }) => ["Control", "Shift", "Alt", "Meta"].includes(key) || more("keys"), true);
})()"""


def count_work(page: Page) -> Callable[[], tuple[int, int]]:
    """Count keys and page loads, starting with the next page. The returned function returns the counts since its last
    call."""
    page.add_init_script(_COUNT)

    def counted() -> tuple[int, int]:
        keys, loads = page.evaluate(
            "[Number(sessionStorage.keys ?? 0), Number(sessionStorage.loads ?? 0)]"
        )
        page.evaluate("sessionStorage.keys = sessionStorage.loads = 0")
        return keys, loads

    return counted


def score_all(
    page: Page,
    *,
    most: int,
    key_for: Callable[[str], str] = lambda _statement: "2",
    begin: str = "s",
) -> list[str]:
    """Score a study's queue with the keyboard, and return the items in order.

    `key_for` returns the key for a statement's score. `begin` is the key that opens the first item, or empty if the
    item is already open.
    """
    if begin:
        page.keyboard.press(begin)
        page.wait_for_url("**/items/**")
    met: list[str] = []
    while len(met) < most and (item := item_on(page)):
        while item_on(page) == item:
            current = page.locator(".steps [aria-current]").inner_text()
            page.keyboard.press(key_for(page.locator("h1.statement").inner_text()))
            page.keyboard.press("Enter")
            page.wait_for_function(
                "([item, step]) => document.querySelector('#desk')?.dataset.item !== item ||"
                " document.querySelector('.steps [aria-current]')?.innerText !== step",
                arg=[item, current],
            )
        met.append(item)
    return met


def item_on(page: Page) -> str:
    """Return the ID of the item on the review page, or an empty string on other pages."""
    return str(page.evaluate("document.querySelector('#desk')?.dataset.item ?? ''"))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def at_stage(page: Page, stage: str) -> None:
    """Wait until the review page shows this stage."""
    expect(page.locator(".steps [aria-current]")).to_contain_text(stage)


def fits_in_width(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def log_in(page: Page, name: str) -> None:
    page.goto("/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
