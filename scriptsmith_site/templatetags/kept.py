"""Keeps what a component made of plain words: the same button is not put together anew for every page."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import NamedTuple

from django import template
from django.template.base import Node, NodeList, Parser, Token
from django.template.context import Context
from django.utils.functional import Promise
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from core.web.public_keys import PublicKey

register = template.Library()

_MOST = 2_000
_PLAIN = (str, int, type(None))
_FILLS = (int, str, SafeString, PublicKey)
_TOKEN = "csrf_token"


class _Made(NamedTuple):
    """What was rendered, cut where a hole is, and the names of the holes in their order."""

    pieces: list[str]
    holes: list[str]

    def fill(self, values: dict[str, object]) -> SafeString:
        filled = self.pieces.copy()
        filled[1::2] = [conditional_escape(str(values[name])) for name in self.holes]
        return SafeString("".join(filled))


class KeptNode(Node):
    """Renders its content once for the same words, switches and language; what stands around is filled in."""

    def __init__(self, nodelist: NodeList, holes: Sequence[str]) -> None:
        self.nodelist = nodelist
        self._made: dict[tuple[object, ...], _Made] = {}
        # Nobody can write a stand-in into a text, since nobody outside this process knows it.
        self._stand_ins: dict[str, object] = {
            name: secrets.randbelow(10**14) + 10**15 for name in holes
        } | {_TOKEN: secrets.token_hex(16)}

    def render(self, context: Context) -> SafeString:
        holes = self._holes(context)
        key = _key(context, holes)
        if key is None:
            return self.nodelist.render(context)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _MOST:
                self._made.clear()
            made = self._made[key] = self._make(context, holes)
        return made.fill(holes)

    def _holes(self, context: Context) -> dict[str, object]:
        """The holes that hold a number or a text, and the token of the request where the content has a form."""
        found = {name: context.get(name) for name in self._stand_ins}
        return {
            name: value
            for name, value in found.items()
            if type(value) in _FILLS or (name == _TOKEN and value is not None)
        }

    def _make(self, context: Context, holes: dict[str, object]) -> _Made:
        names = {str(self._stand_ins[name]): name for name in holes}
        # What an address takes as it is, it must take as it is here, too.
        stand_ins = {
            name: PublicKey(str(self._stand_ins[name]))
            if isinstance(value, PublicKey)
            else self._stand_ins[name]
            for name, value in holes.items()
        }
        with context.push(stand_ins):
            html = self.nodelist.render(context)
        if not names:
            return _Made([html], [])
        pieces = re.split(f"({'|'.join(names)})", html)
        return _Made(pieces, [names[one] for one in pieces[1::2]])


def _key(context: Context, holes: dict[str, object]) -> tuple[object, ...] | None:
    """All that the content can depend on, or None where it has more than plain words before it."""
    key: list[object] = [get_language()]
    for names in context.dicts:
        for name, value in names.items():
            if isinstance(value, Promise):  # a text of a template, yet to be translated
                value = str(value)
            if name in holes:
                key.append(name)
            elif isinstance(value, _PLAIN):
                # A text that is safe and the same one that is not are shown differently; so are 1 and True.
                key += (name, type(value), value)
            elif type(value) is dict and _is_of_words(value):
                key += (name, *value.items())
            elif type(value) is list and all(
                type(one) is dict and _is_of_words(one) for one in value
            ):
                key += (name, *(tuple(one.items()) for one in value))
            elif name != _TOKEN:
                return None
    return tuple(key)


def _is_of_words(words: dict[object, object]) -> bool:
    return all(type(one) is str for one in words.values())


@register.tag
def kept(parser: Parser, token: Token) -> KeptNode:
    """`{% kept %}` ... `{% endkept %}`, in components that are included with `only`.

    `{% kept around pk title %}` names numbers and texts that differ from page to page and stand there as they are:
    no condition may ask for them, and no filter change them. A form's token is such a hole by itself.
    """
    _name, *words = token.split_contents()
    if words and words[0] != "around":
        raise template.TemplateSyntaxError(f"kept can't read “{words[0]}”: it knows “around”")
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    return KeptNode(nodelist, words[1:])
