"""Override `{% include %}` so that isolated fragments get the CSRF token and surrounding line breaks are removed.

An isolated fragment may contain a form, and a form without the token is rejected. Django's inclusion tags also pass the
token. Without line breaks, a fragment can be used within a sentence even if its file ends with a line break. The tag is
loaded as a builtin.
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
    """Include a fragment as Django does, and pass the page's CSRF token to isolated fragments."""
    node: IncludeNode = do_include(parser, token)
    if node.isolated_context:
        node.extra_context.setdefault(_TOKEN, parser.compile_filter(_TOKEN))
    return _FragmentNode(
        node.template, extra_context=node.extra_context, isolated_context=node.isolated_context
    )
