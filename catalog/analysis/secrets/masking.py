"""The positions and kinds of secrets in a text, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from catalog.analysis.secrets.context import FRAGMENTS, Context, read_contexts
from catalog.analysis.secrets.value_tests import is_no_word, is_placeholder

MASK = "***"
IN_WORDS = "password in words"  # the kind of secrets in sentences
_PRIVATE_KEY = "private key"
_LONGEST = 600  # characters of a value and what stands before it


class Secret(NamedTuple):
    """A secret in a text, by position and kind."""

    start: int
    end: int
    kind: str


class Masked(NamedTuple):
    """A text without its secrets, and the secrets that were removed."""

    text: str
    secrets: tuple[str, ...]  # kinds, in the order of the text


_FORMS = tuple(read_contexts("forms.txt"))
_CONTEXTS = tuple(read_contexts("contexts.txt"))
# What follows the first line of a private key: up to its last one, or where that was cut off what may be of the key.
# A line of capitals alone is not part of it: it may be the fence of a prompt.
_KEY_BODY = re.compile(
    rf"(?s).{{0,20000}}?-----END {FRAGMENTS['KEYS']}-----"
    r"|(?:(?!\n[A-Z_]+(?:\n|\Z))[\s\\A-Za-z0-9+/=])*"
)
# A certificate or a public key may be sent, and would be a random string.
_PUBLIC = re.compile(
    r"(?s)-----BEGIN (?:[A-Z0-9]+ ){0,3}(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?)-----.{0,8000}?-----END "
)


def find_secret_forms(text: str) -> tuple[Secret, ...]:
    """Secrets that are known by their form, in any text; offsets count characters."""
    return tuple(sorted(set(_search(text, _FORMS))))


def find_secrets(text: str) -> tuple[Secret, ...]:
    """All secrets of a text, by their form or by what stands before them; in order, none inside another."""
    public = [match.span() for match in _PUBLIC.finditer(text)]
    found = [
        *_search(text, _FORMS),
        *(
            one
            for one in _search(text, _CONTEXTS)
            if not any(start <= one.start < end for start, end in public)
        ),
    ]
    return tuple(_apart(_whole_key(text, one) for one in found))


def _nothing(_value: str) -> bool:
    return False


def mask_secrets(
    text: str, *, known: Iterable[str] = (), spares: Callable[[str], bool] = _nothing
) -> Masked:
    """The text with asterisks where secrets stand; of a private key all of it.

    A value that is a secret in one place of the text is masked in the others, too, and so are those that are
    `known` to be secret from elsewhere. What it `spares` stays.
    """
    found = [one for one in find_secrets(text) if not spares(text[one.start : one.end])]
    values = {value: one.kind for one in found if is_no_word(value := text[one.start : one.end])}
    values = {value: "a known secret" for value in known if is_no_word(value)} | values
    if values:
        again = re.compile(
            "|".join(re.escape(one) for one in sorted(values, key=len, reverse=True))
        )
        found += [Secret(*match.span(), values[match[0]]) for match in again.finditer(text)]
    parts, shown_to, kinds = [], 0, []
    for secret in _apart(found):
        parts += [text[shown_to : secret.start], MASK]
        kinds.append(secret.kind)
        shown_to = secret.end
    return Masked("".join([*parts, text[shown_to:]]), tuple(kinds))


def secret_values(*texts: str) -> frozenset[str]:
    """The secrets themselves, if they can be isolated from the text."""
    return frozenset(
        value
        for text in texts
        for one in find_secrets(text)
        if is_no_word(value := text[one.start : one.end])
    )


@lru_cache(maxsize=2)  # one request searches the same text several times
def _signs(text: str) -> tuple[str, dict[str, bool]]:
    """The text in lower case, and a place to note which signs are in it."""
    return text.lower(), {}


def _search(text: str, contexts: Iterable[Context]) -> Iterator[Secret]:
    small, known = _signs(text)
    for context in contexts:
        for sign in context.signs:
            if sign not in known:
                known[sign] = sign in small
        if not any(known[sign] for sign in context.signs):
            continue
        for match in _matches(text, context):
            group = match.lastindex or 0
            start, value = match.start(group), match[group].rstrip(",.:")  # those end a clause
            if context.is_one(value) and not is_placeholder(value):
                yield Secret(start, start + len(value), context.kind)


def _matches(text: str, context: Context) -> Iterator[re.Match[str]]:
    for start, end in context.places(text):
        # A value that begins in such a place is read to its own end.
        for match in context.pattern.finditer(text, start, end + _LONGEST):
            if match.start() >= end:
                break
            yield match


def _whole_key(text: str, secret: Secret) -> Secret:
    body = _KEY_BODY.match(text, secret.end) if secret.kind == _PRIVATE_KEY else None
    return secret._replace(end=body.end()) if body else secret


def _apart(found: Iterable[Secret]) -> Iterator[Secret]:
    """Sorted; overlapping secrets are merged under the first one's kind."""
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
