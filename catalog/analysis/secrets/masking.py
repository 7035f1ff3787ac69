"""Find the positions and kinds of secrets in a text, and mask them."""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from catalog.analysis.secrets.context import FRAGMENTS, Context, read_contexts
from catalog.analysis.secrets.value_tests import is_no_word, is_placeholder

MASK = "***"
IN_WORDS = "password in words"  # the kind of secrets in sentences
_PRIVATE_KEY = "private key"
_REST = "text with too many names of secrets"
MAXIMUM_MATCHES = 20_000  # matches of one pattern; all later text is masked
_LONGEST = 600  # characters of a value and its context
_LONGEST_KEY, _LONGEST_CERTIFICATE = 20_000, 8_000  # characters
_LEAST_SHARED = 6  # minimum length of a value that is searched for in the whole text


class Secret(NamedTuple):
    """The position and kind of a secret found in text."""

    start: int
    end: int
    kind: str


class Masked(NamedTuple):
    """A text with masked secrets, and the kinds of these secrets."""

    text: str
    secrets: tuple[str, ...]  # kinds of secrets, in text order


_FORMS = tuple(read_contexts("forms.txt"))
_CONTEXTS = tuple(read_contexts("contexts.txt"))
# If a text has more names of secrets, or words about users, the text after them is masked without a search.
_MOST_WORDS = (
    (FRAGMENTS["NAMES"].split(), 5_000),
    (["pin", *FRAGMENTS["OF_USERS"].split()], 40_000),
)
# The end of a private key, or the text that may belong to it if the key is cut off. A line of only capitals is not
# part of the key, because it may be the delimiter of a prompt.
_KEY_END = re.compile(f"-----END {FRAGMENTS['KEYS']}-----")
_KEY_TEXT = re.compile(r"(?:(?!\n[A-Z_]+(?:\n|\Z))[\s\\A-Za-z0-9+/=])*")
# Certificates and public keys are not secret, but look like random strings.
_PUBLIC = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?)-----"
)
_PUBLIC_END = re.compile("-----END ")


def find_secret_forms(text: str) -> tuple[Secret, ...]:
    """Return the secrets in a text that are recognized by their form. Offsets are in characters."""
    return tuple(sorted(set(_search(text, _FORMS))))


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return all secrets in a text that are recognized by form or context, in order and without overlaps."""
    end = _end_of_search(text)
    rest = [Secret(end, len(text), _REST)] if end < len(text) else []
    text = text[:end]
    found = [*_search(text, _FORMS), *_outside_public(text, _search(text, _CONTEXTS))]
    return tuple(_apart([*_with_whole_keys(text, found), *rest]))


def _end_of_search(text: str) -> int:
    small, ends = _signs(text)[0], [len(text)]
    for words, most in _MOST_WORDS:
        if sum(map(small.count, words)) > most:
            found = re.finditer("|".join(words), text, re.IGNORECASE)
            ends += [word.start() for word in islice(found, most, most + 1)]
    return min(ends)


def _nothing(_value: str) -> bool:
    return False


def mask_secrets(
    text: str, *, known: Iterable[str] = (), spares: Callable[[str], bool] = _nothing
) -> Masked:
    """Return the text with its secrets replaced by asterisks. Private keys are replaced completely.

    A secret value, or a value in `known`, is masked wherever it occurs in the text. Values for which `spares` returns
    true are not masked.
    """
    found = [one for one in find_secrets(text) if not spares(text[one.start : one.end])]
    values = dict.fromkeys(filter(is_no_word, known), "a known secret")
    values |= {text[one.start : one.end]: one.kind for one in found if _is_isolated(one, text)}
    found += _find_values(text, values)
    parts, shown_to, kinds = [], 0, []
    for secret in _apart(found):
        parts += [text[shown_to : secret.start], MASK]
        kinds.append(secret.kind)
        shown_to = secret.end
    return Masked("".join([*parts, text[shown_to:]]), tuple(kinds))


def secret_values(*texts: str) -> frozenset[str]:
    """Return the values of the secrets in the texts, except values that can't be isolated."""
    return frozenset(
        text[one.start : one.end]
        for text in texts
        for one in find_secrets(text)
        if _is_isolated(one, text)
    )


def _is_isolated(secret: Secret, text: str) -> bool:
    is_value = secret.kind != _REST and secret.end - secret.start <= _LONGEST_KEY
    return is_value and is_no_word(text[secret.start : secret.end])


def _find_values(text: str, values: Mapping[str, str]) -> Iterator[Secret]:
    """Yield the occurrences of the values in the text. Values are looked up by their first characters."""
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for value in values:
        lengths[value[:_LEAST_SHARED]].add(len(value))
    for at in range(len(text)) if values else ():
        for length in lengths.get(text[at : at + _LEAST_SHARED], ()):
            if kind := values.get(text[at : at + length]):
                yield Secret(at, at + length, kind)


@lru_cache(maxsize=2)  # one request searches the same text multiple times
def _signs(text: str) -> tuple[str, dict[str, bool]]:
    """Return the text in lower case, and a cache that records which signs it contains."""
    return text.lower(), {}


def _search(text: str, contexts: Iterable[Context]) -> Iterator[Secret]:
    small, known = _signs(text)
    for context in contexts:
        for sign in context.signs:
            if sign not in known:
                known[sign] = sign in small
        if not any(known[sign] for sign in context.signs):
            continue
        for number, match in enumerate(_matches(text, context)):
            if number == MAXIMUM_MATCHES:
                yield Secret(match.start(), len(text), _REST)
                break
            group = match.lastindex or 0
            # Remove punctuation that ends a clause.
            start, value = match.start(group), match[group].rstrip(",.:")
            if context.is_one(value) and not is_placeholder(value):
                yield Secret(start, start + len(value), context.kind)


def _matches(text: str, context: Context) -> Iterator[re.Match[str]]:
    """Yield the matches that begin in one of the context's ranges. A match may extend beyond its range.

    There may be many short ranges. The next match is therefore saved for later ranges, so that the text is searched
    only once.
    """
    found: re.Match[str] | None = None
    searched_from, searched_to = 0, 0
    for start, end in context.places(text):
        while start < end:
            known_to = found.start() + 1 if found else searched_to
            if not searched_from <= start < known_to or (found is None and end > searched_to):
                searched_from, searched_to = start, max(end, start + _LONGEST)
                found = context.pattern.search(text, start, searched_to + _LONGEST)
            if found is None or found.start() >= end:
                break
            yield found
            start = max(found.end(), found.start() + 1)


def _with_whole_keys(text: str, found: Iterable[Secret]) -> Iterator[Secret]:
    ends = [end.end() for end in _KEY_END.finditer(text)]
    for one in found:
        if one.kind == _PRIVATE_KEY:
            place = bisect(ends, one.end)
            is_complete = place < len(ends) and ends[place] - one.end <= _LONGEST_KEY
            cut = None if is_complete else _KEY_TEXT.match(text, one.end)
            one = one._replace(end=cut.end() if cut else ends[place])
        yield one


def _outside_public(text: str, found: Iterable[Secret]) -> Iterator[Secret]:
    """Yield the secrets that are not in a certificate or a public key."""
    ends = [end.end() for end in _PUBLIC_END.finditer(text)]
    areas: list[tuple[int, int]] = []
    for begin in _PUBLIC.finditer(text):
        place = bisect(ends, begin.start())
        if place < len(ends) and ends[place] - begin.end() <= _LONGEST_CERTIFICATE:
            areas.append((begin.start(), ends[place]))
    for one in found:
        place = bisect(areas, (one.start, len(text))) - 1
        if place < 0 or one.start >= areas[place][1]:
            yield one


def _apart(found: Iterable[Secret]) -> Iterator[Secret]:
    """Yield the secrets in order. Overlapping secrets are merged and keep the first secret's kind."""
    last: Secret | None = None
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if last is not None and one.start < last.end:
            last = last._replace(end=max(last.end, one.end))
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last
