"""Keeps what a component made of plain words: the same button is not put together anew for every page."""

from __future__ import annotations

from django import template
from django.template.base import Node, NodeList, Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()

_MOST = 2_000
_PLAIN = (str, int, type(None))


class KeptNode(Node):
    """Renders its content once for the same words, switches and language."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist
        self._made: dict[tuple[object, ...], SafeString] = {}

    def render(self, context: Context) -> SafeString:
        key = _key(context)
        if key is None:
            return self.nodelist.render(context)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _MOST:
                self._made.clear()
            made = self._made[key] = self.nodelist.render(context)
        return made


def _key(context: Context) -> tuple[object, ...] | None:
    """All that the content can depend on, or None where it has more than plain words before it."""
    key: list[object] = [get_language()]
    for names in context.dicts:
        for name, value in names.items():
            # The token of a request changes, and is no part of what is kept.
            if name == "csrf_token":
                continue
            if not isinstance(value, _PLAIN):
                return None
            # A text that is safe and the same one that is not are shown differently; so are 1 and True.
            key += (name, type(value), value)
    return tuple(key)


@register.tag
def kept(parser: Parser, token: Token) -> KeptNode:
    """`{% kept %}` ... `{% endkept %}`, in components that are included with `only` and hold no form."""
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    return KeptNode(nodelist)
