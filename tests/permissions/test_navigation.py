"""Tests that users may use every link and form on all pages that they can reach, including the navigation bar."""

from __future__ import annotations

from collections import Counter, deque

import pytest
from django.urls import Resolver404, resolve, reverse

from scriptsmith_site.web.navigation import COMMANDS, LINKS, Bar
from tests.first_cases import first_cases
from tests.page_forms import judgments_by_enter
from tests.permissions.asking import Browser
from tests.permissions.crawl import Offer, dead_keys, offers_of
from tests.permissions.matrix import SIGNED_IN, Row, admin_rows, page_rows
from tests.permissions.objects import Everything

_EACH = 3  # maximum number of visited pages per address, and of tried requests per address and kind of page
_NOT_ASKED = {"api-docs", "api-schema", "help-picture", "readyz", "operation"}


def _row_of(address: str) -> Row:
    rows = [
        row for row in (*page_rows(), *admin_rows()) if row.name == address and "GET" in row.methods
    ]
    assert len(rows) == 1, f"{address} leads to one page, and has one row"
    return rows[0]


@pytest.mark.parametrize("role", SIGNED_IN)
def test_the_bar_shows_what_the_table_allows(everything: Everything, role: str) -> None:
    """Check each link by itself, and check that a study member's page has exactly the allowed links."""
    for one in COMMANDS:
        assert one.is_for(everything.people[role]) == (
            _row_of(one.address).answer_to(role) == "allowed"
        ), one
    allowed = {one.address for one in LINKS if _row_of(one.address).answer_to(role) == "allowed"}
    person = everything.people[role]
    assert {one.address for one in LINKS if one.is_for(person)} == allowed
    html = Browser(person).get(reverse("home")).content.decode()  # type: ignore[attr-defined]
    bar = html.partition('<nav class="nav-links"')[2].partition("</nav>")[0]
    assert {one.address for one in LINKS if f'href="{one.url}"' in bar} == allowed
    keys = {one.url for one in LINKS if one.bar is Bar.MAIN and one.address in allowed}
    assert bar.count("data-key=") == len(keys), "what is not shown has no key"


def wrong_offers(everything: Everything, role: str) -> tuple[int, int, list[str]]:
    """Return the numbers of pages and requests, and a list of denied requests and of judgments that Enter records."""
    browser, home = Browser(everything.people[role]), reverse("home")
    waiting, walked, tried, wrong = deque([(home, browser.ask("GET", home)[1])]), 0, Counter(), []
    seen, asked = {home}, set[tuple[str, str]]()
    while waiting:
        page, html = waiting.popleft()
        walked += 1
        wrong += judgments_by_enter(html, page=page)
        wrong += [f"{role} on {page}: the key {key} does not work" for key in dead_keys(html)]
        for offer in sorted(offers_of(html, page=page)):
            name = _name_of(offer)
            if (offer.method, offer.path) in asked or name in _NOT_ASKED:
                continue
            # Try the same address from the same kind of page only a few times.
            kind_of_place = (offer.method, name, _name_of(Offer("GET", page, "")))
            tried[kind_of_place] += 1
            if tried[kind_of_place] > _EACH:
                continue
            asked.add((offer.method, offer.path))
            url = f"{offer.path}?{offer.query}" if offer.query else offer.path
            answer, there = browser.ask(offer.method, url)
            if answer != "allowed":
                wrong.append(f"{role} is offered {offer.method} {url} ({name}) on {page}: {answer}")
            elif offer.method == "GET" and offer.path not in seen:
                seen.add(offer.path)
                if offer.query:  # a search or filter may hide most of the page's rows
                    there = browser.ask("GET", offer.path)[1]
                waiting.append((offer.path, there))
    return walked, len(asked), wrong


@pytest.mark.nightly
@pytest.mark.parametrize("role", first_cases(1, SIGNED_IN))
def test_nothing_is_offered_that_is_refused(everything: Everything, role: str) -> None:
    pages, tried, wrong = wrong_offers(everything, role)
    print(f"{role}: {pages} pages walked, {tried} links and forms tried, {len(wrong)} refused")
    assert not wrong, "\n" + "\n".join(wrong)
    assert pages >= 10


def _name_of(offer: Offer) -> str:
    try:
        return resolve(offer.path).view_name
    except Resolver404:
        return offer.path
