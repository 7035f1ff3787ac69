"""Parts of a response that a reviewer may see: elements of a page and places in JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_VOID = ("input", "link", "meta", "img", "br")
_PLACED = re.compile(r"^\s*[\[{]")


@dataclass(frozen=True)
class Part:
    """A part that may differ in the responses of some addresses.

    An `element` is identified by an attribute as written in the page (`id="assessment"`). A `place` in JSON is
    identified by its keys (`drafts.1.script`, with `*` for each element of a list). If both are empty, the part is the
    whole response except its status.
    """

    path: str  # a regular expression for the whole path
    element: str = ""
    place: str = ""

    def __str__(self) -> str:
        return f"{self.element or self.place or 'all'} of {self.path}"

    def is_of(self, path: str) -> bool:
        return re.fullmatch(self.path, path) is not None

    def take_out(self, body: str) -> tuple[str, list[str]]:
        """Return the body without this part, and the removed texts."""
        if self.place:
            return take_place(body, self.place) if _PLACED.match(body) else (body, [])
        if not self.element:
            return "", [body]
        return take_element(body, self.element)


def take_element(html: str, attribute: str) -> tuple[str, list[str]]:
    """Remove every element with this attribute and its content. Return the rest and the removed texts."""
    taken = []
    begin = re.compile(rf"<(\w+)(?=[^<>]*\s{re.escape(attribute)}[\s>])[^<>]*>")
    at = 0
    while found := begin.search(html, at):
        end = found.end() if found[1] in _VOID else _end_of(found[1], html, found.end())
        taken.append(html[found.start() : end])
        html, at = html[: found.start()] + html[end:], found.start()
    return html, taken


def _end_of(tag: str, html: str, at: int) -> int:
    """Return the end of the element whose start tag ends at `at`."""
    depth = 1
    for one in re.compile(rf"<(/?){tag}\b[^<>]*>").finditer(html, at):
        depth += -1 if one[1] else 1
        if not depth:
            return one.end()
    raise ValueError(f"a {tag} does not end")


def take_place(text: str, place: str) -> tuple[str, list[str]]:
    """Remove this place from the JSON text if it exists. Return the rest and the removed texts."""
    document = json.loads(text)
    taken: list[str] = []
    _take(document, place.split("."), taken)
    return (json.dumps(document), taken) if taken else (text, taken)


def _take(node: object, names: list[str], taken: list[str]) -> None:
    name, rest = names[0], names[1:]
    if isinstance(node, dict):
        keys: list[str] | list[int] = [name] if name in node else []
    elif isinstance(node, list):
        keys = list(range(len(node))) if name == "*" else [int(name)]
        keys = [one for one in keys if one < len(node)]
    else:
        return
    for key in keys:
        if rest:
            _take(node[key], rest, taken)
        else:
            taken.append(json.dumps(node[key]))
            node[key] = "taken out"
