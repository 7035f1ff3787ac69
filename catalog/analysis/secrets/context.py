"""Read the contexts and forms that identify secrets from contexts.txt and forms.txt."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from catalog.analysis.secrets import value_tests

Span = tuple[int, int]
Places = Callable[[str], Iterator[Span]]

# The parts of patterns that the data files define, by name.
FRAGMENTS: dict[str, str] = {}


class Context(NamedTuple):
    """A kind of secret, and the pattern and tests that find it. The secret is the first group that matched, or the
    whole match.
    """

    kind: str
    signs: tuple[str, ...]  # in lower case; any text with such a secret contains at least one sign
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool]  # returns whether a value is a secret
    places: Places  # yields the ranges in which the secret may begin


def read_contexts(name: str) -> Iterator[Context]:
    """Yield the contexts of a data file. contexts.txt explains the format."""
    kind = ""
    for block in re.split(r"\n(?=\S)", Path(__file__).with_name(name).read_text("utf-8")):
        head, *lines = block.split("\n")
        text = _with_fragments("".join(line[2:] for line in lines))
        if head.startswith("["):
            kind = head.strip("[]")
        elif head.endswith("» ="):
            FRAGMENTS[head.strip("«» =")] = text
        elif not head.startswith("#"):
            signs, test, places = (*_with_fragments(head).split(" :: "), "", "")[:3]
            is_one = getattr(value_tests, test or "is_anything")
            words = tuple(signs.lower().split())
            yield Context(kind, words, re.compile(text), is_one, _read_places(places))


def _with_fragments(text: str) -> str:
    return re.sub(r"«([A-Z_]+)»", lambda found: FRAGMENTS[found[1]], text)


def _read_places(text: str) -> Places:
    name, _, argument = text.partition(" ")
    return _PLACES[name](argument)


def _everywhere(text: str) -> Iterator[Span]:
    yield 0, len(text)


def _on_command_lines(command: str) -> Places:
    """Return a function that yields the ranges from a command's name to the end of its line, including continuation
    lines.
    """
    line = re.compile(rf"\b(?:{command})\b(?:\\\n|[^\n|;&]){{0,600}}")
    return lambda text: (found.span() for found in line.finditer(text))


def _in_here_documents(command: str) -> Places:
    """Return a function that yields the ranges of here-documents that a command reads."""
    header = re.compile(rf"\b(?:{command})\b[^\n]{{0,80}}<<-?\s?[\"']?(?P<marker>\w+)[\"']?\n")

    def places(text: str) -> Iterator[Span]:
        ends: defaultdict[str, list[int]] = defaultdict(list)
        for line in _WORD_ALONE.finditer(text):
            ends[line[1]].append(line.start())
        for found in header.finditer(text):
            after = ends[found["marker"]]
            place = bisect_left(after, found.end())
            if place < len(after) and after[place] - found.end() <= 4_000:
                yield found.end(), after[place]

    return places


def _in_kubernetes_secrets(text: str) -> Iterator[Span]:
    """Yield the contents of `data:` and `stringData:` in YAML documents of kind Secret."""
    for document in _DOCUMENT.finditer(text):
        if _IS_SECRET.search(document[0]):
            for data in _DATA.finditer(text, *document.span()):
                yield data.span("place")


_WORD_ALONE = re.compile(r"(?m)^[ \t]*(\w+)$")
_DOCUMENT = re.compile(r"(?ms)^.*?(?:^---[ \t]*$|\Z)")
_IS_SECRET = re.compile(r"(?m)^kind:[ \t]+[\"']?Secret\b")
_DATA = re.compile(r"(?m)^(?:data|stringData):[ \t]*\r?\n(?P<place>(?:[ \t]+\S.*(?:\n|\Z)){1,200})")


def _near(argument: str) -> Places:
    """Return a function that yields the ranges near one of the words, on the same line. `120 words` means 120
    characters before and after.
    """
    within, words = int(argument.partition(" ")[0]), argument.partition(" ")[2]
    pattern = re.compile(words)

    def places(text: str) -> Iterator[Span]:
        end = 0
        for match in pattern.finditer(text):
            first, last = max(0, match.start() - within), match.end() + within
            line_end = text.find("\n", match.end(), last)
            start = max(end, first, text.rfind("\n", first, match.start()) + 1)
            end = line_end if line_end >= 0 else min(last, len(text))
            yield start, end

    return places


_PLACES: dict[str, Callable[[str], Places]] = {
    "": lambda _: _everywhere,
    "near": _near,
    "on_command_lines": _on_command_lines,
    "in_here_documents": _in_here_documents,
    "in_kubernetes_secrets": lambda _: _in_kubernetes_secrets,
}
