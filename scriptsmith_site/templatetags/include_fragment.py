"""`{% include %}` for fragments: an isolated one keeps the CSRF token, and none brings the line ends around it.

A template that is given nothing but the words it shows may still hold a form, and a form without its token is refused;
Django's own inclusion tags hand it on, too. And a fragment may stand in the middle of a sentence, so that its file may
be laid out in lines and end with one. Loaded as a builtin in place of Django's tag.
"""

from __future__ import annotations

from django import template
from django.template.base import Parser, Token
from django.template.context import Context
from django.template.loader_tags import IncludeNode, do_include
from django.utils.safestring import SafeString

register = template.Library()

_TOKEN = "csrf_token"


class _FragmentNode(IncludeNode):
    def render(self, context: Context) -> SafeString:
        return SafeString(super().render(context).strip())


@register.tag
def include(parser: Parser, token: Token) -> IncludeNode:
    """Django's include; an isolated one is given the token too, unevaluated, where the page has one."""
    node: IncludeNode = do_include(parser, token)
    if node.isolated_context:
        node.extra_context.setdefault(_TOKEN, parser.compile_filter(_TOKEN))
    return _FragmentNode(
        node.template, extra_context=node.extra_context, isolated_context=node.isolated_context
    )
