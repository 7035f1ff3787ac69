"""`{% include ... only %}` that keeps the CSRF token, as Django's own inclusion tags do.

A template that is given nothing but the words it shows may still hold a form, and a form without its token is
refused. Loaded as a builtin in place of Django's tag, so that no template has to hand the token on by itself.
"""

from __future__ import annotations

from django import template
from django.template.base import Parser, Token
from django.template.loader_tags import IncludeNode, do_include

register = template.Library()

_TOKEN = "csrf_token"


@register.tag
def include(parser: Parser, token: Token) -> IncludeNode:
    """Django's include; an isolated one is given the token too, unevaluated, where the page has one."""
    node: IncludeNode = do_include(parser, token)
    if node.isolated_context:
        node.extra_context.setdefault(_TOKEN, parser.compile_filter(_TOKEN))
    return node
