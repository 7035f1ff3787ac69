"""Find every link, form and htmx request on a page, as a browser would."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

_KEYS_JS = (Path(__file__).parents[2] / "static" / "js" / "keys.js").read_text(encoding="utf-8")
# The keys that keys.js accepts: a character, two characters in sequence, a character with Ctrl, or a key that keys.js
# names.
_PLAIN = next(line for line in _KEYS_JS.splitlines() if "key.length === 1" in line)
_NAMED = [name.lower() for name in re.findall(r'key === "(\w+)"', _PLAIN)]
_WORKS = re.compile(rf"mod\+\S+|\S|\S \S|{'|'.join(_NAMED)}")
_CAPS = {"mod+enter": "Ctrl ↵", "enter": "↵"}
_GONE_ELSEWHERE = ("/static/", "/admin/", "/logout/")


class Offer(NamedTuple):
    """A request that a link, form or button on a page can send."""

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
    """Return the requests to this product's own URLs, except those of the admin, whose pages are Django's."""
    reader = _Offers(page)
    reader.feed(html)
    return reader.found


class _Keys(HTMLParser):
    """A parser that collects the keys shown on each control and the key assigned to it."""

    def __init__(self) -> None:
        super().__init__()
        self.controls: list[dict[str, str]] = []
        self.owned: dict[str, str] = {}  # maps each field's ID to its attributes
        self.printed: list[tuple[str, dict[str, str]]] = []
        self._open: list[tuple[str, dict[str, str]]] = []
        self._is_key = False

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        got = {name: value or "" for name, value in given}
        self._is_key = tag == "kbd"
        if "data-key" in got:
            self.controls.append(got)
            self.owned[got.get("id", "")] = got["data-key"]
            if self._open:  # a field inside its label
                self._open[-1][1].setdefault("data-key", got["data-key"])
        if tag in ("a", "button", "summary", "label"):
            self._open.append((tag, got))

    def handle_data(self, data: str) -> None:
        if self._is_key and self._open and data.strip():
            self.printed.append((data.strip(), self._open[-1][1]))

    def handle_endtag(self, tag: str) -> None:
        self._is_key = False
        if self._open and self._open[-1][0] == tag:
            self._open.pop()


def dead_keys(html: str) -> list[str]:
    """Return the keys that are assigned to or shown on a control of the page but do not work."""
    page = _Keys()
    page.feed(html)
    dead = [one["data-key"] for one in page.controls if not _WORKS.fullmatch(one["data-key"])]
    for words, control in page.printed:
        key = control.get("data-key") or page.owned.get(control.get("for", ""), "")
        caps = _CAPS.get(key) or key.upper().replace("MOD+", "Ctrl ")
        # Other controls may show other text: "?" opens the shortcut list, digits choose a reason, and Enter scores
        # (desk.js).
        is_other = "data-keys-open" in control or "data-quick" in control
        if words != caps and not is_other and "Enter" not in control.get("aria-keyshortcuts", ""):
            dead.append(f"{words} on {control}")
    return dead
