"""Label matchers for alerts in Prometheus syntax, one per line. An alert must satisfy all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_MATCHERS = 20
LONGEST_VALUE = 200
_MATCHER = re.compile(r'\s*([a-zA-Z_][\w.-]*)\s*(=~|!~|!=|=)\s*(?:"(.*)"|(.*?))\s*')
# Allow only alternatives, prefixes and suffixes.
# Arbitrary regular expressions could take a very long time on external input.
_PATTERN = re.compile(r"(?:\.\*|\\\.|[\w .:/@|-])*")


class BadMatcher(Exception):
    """An invalid matcher. The message says what is wrong."""


@dataclass(frozen=True)
class Matcher:
    """A condition on one label. A missing label counts as empty."""

    name: str
    operator: str
    value: str

    def holds(self, labels: Mapping[str, str]) -> bool:
        found = labels.get(self.name, "")
        if self.operator in ("=", "!="):
            return (found == self.value) is (self.operator == "=")
        return _fits(found, self.value) is (self.operator == "=~")


def read_matchers(text: str) -> Sequence[Matcher]:
    """Parse matchers from a text, one per line. Raises BadMatcher."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_MATCHERS:
        raise BadMatcher(f"Enter at most {MOST_MATCHERS} lines.")
    return [_read_line(line) for line in lines]


def all_hold(matchers: Sequence[Matcher], labels: Mapping[str, str]) -> bool:
    """Return whether the labels satisfy all matchers."""
    return all(one.holds(labels) for one in matchers)


def _read_line(line: str) -> Matcher:
    found = _MATCHER.fullmatch(line)
    if found is None:
        raise BadMatcher(
            f'“{line.strip()[:60]}” is not a matcher. Use name="value", or !=, =~, !~.'
        )
    name, operator, quoted, bare = found.groups()
    value = bare if quoted is None else quoted
    if len(value) > LONGEST_VALUE:
        raise BadMatcher(f"A value can have at most {LONGEST_VALUE} characters.")
    if operator in ("=~", "!~") and not _PATTERN.fullmatch(value):
        raise BadMatcher(
            f"“{value[:60]}” is not a valid pattern. Use words, .* for any text, and | between "
            "alternatives."
        )
    return Matcher(name, operator, value)


def _fits(text: str, pattern: str) -> bool:
    """Return whether the whole text matches one of the alternatives. The time is linear in the length of both."""
    return any(_fits_one(text, one) for one in pattern.split("|"))


def _fits_one(text: str, pattern: str) -> bool:
    first, *others = [part.replace("\\.", ".") for part in pattern.split(".*")]
    if not others:
        return text == first
    *middle, last = others
    if not text.startswith(first):
        return False
    at = len(first)
    for part in middle:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return len(text) - at >= len(last) and text.endswith(last)
