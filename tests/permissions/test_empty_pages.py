"""Tests that users may use every link and form on empty pages, which a crawl of a product with data does not see."""

from __future__ import annotations

import pytest

from tests.first_cases import first_cases
from tests.people import make_person
from tests.permissions.asking import Browser
from tests.permissions.crawl import Offer, offers_of
from tests.permissions.matrix import SIGNED_IN, page_routes, page_rows

# They respond with files or fragments, or only describe the product.
_NOT_ASKED = ("api-docs", "api-schema", "api:api-root", "readyz", "healthz", "operation", "gallery")
# The first query is for a page without data, the second for a search without results.
_QUERIES = ("", "?q=zzq")


@pytest.mark.django_db
@pytest.mark.nightly
@pytest.mark.parametrize("role", first_cases(1, SIGNED_IN))
def test_an_empty_page_offers_nothing_that_is_refused(role: str) -> None:
    browser = Browser(make_person(role, role))
    wrong: list[str] = []
    read, asked = 0, set[Offer]()
    for row in page_rows():
        if "GET" not in row.methods or row.object != "-" or row.name in _NOT_ASKED:
            continue
        if row.answer_to(role) != "allowed":
            continue
        for query in _QUERIES:
            page = f"/{page_routes()[row.name]}{query}"
            html = browser.ask("GET", page)[1]
            read += bool(html)
            for offer in offers_of(html, page=page) - asked:
                asked.add(offer)
                url = f"{offer.path}?{offer.query}" if offer.query else offer.path
                answer = browser.ask(offer.method, url)[0]
                if answer != "allowed":
                    wrong.append(f"{role} is offered {offer.method} {url} on {page}: {answer}")
    print(f"{role}: {read} pages read, {len(asked)} links and forms tried, {len(wrong)} refused")
    assert not wrong, "\n" + "\n".join(wrong)
    assert read >= 10
