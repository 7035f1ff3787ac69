"""What a page offers: every link, form and htmx request on it, found as a browser would."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

_GONE_ELSEWHERE = ("/static/", "/admin/", "/logout/")


class Offer(NamedTuple):
    """Something on a page that can be pressed."""

    method: str
    path: str
    query: str


class _Offers(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.page, self.found = page, set[Offer]()

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in given}
        if tag == "a" and "href" in attributes:
            self._add("GET", attributes["href"])
        if tag == "form" and "action" in attributes:
            self._add(attributes.get("method", "get").upper(), attributes["action"])
        if "formaction" in attributes:
            self._add("POST", attributes["formaction"])
        for name in ("get", "post"):
            if f"hx-{name}" in attributes:
                self._add(name.upper(), attributes[f"hx-{name}"])

    def _add(self, method: str, address: str) -> None:
        parts = urlsplit(urljoin(self.page, address))
        own = not parts.scheme and not parts.netloc
        if own and parts.path and not parts.path.startswith(_GONE_ELSEWHERE):
            self.found.add(Offer(method, parts.path, parts.query))


def offers_of(html: str, *, page: str) -> set[Offer]:
    """Everything that leads to an address of ours; the admin's pages are Django's."""
    reader = _Offers(page)
    reader.feed(html)
    return reader.found
