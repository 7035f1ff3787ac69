"""Tests that an included fragment keeps its form's CSRF token and omits the lines around the fragment."""

from __future__ import annotations

import re

import pytest
from django.http import HttpRequest
from django.template import Context, RequestContext, Template
from django.test import RequestFactory
from django.utils.safestring import SafeString

_FORM = '<form method="post">{% csrf_token %}</form>{{ other }}'


@pytest.fixture
def request_of(rf: RequestFactory) -> HttpRequest:
    request = rf.get("/")
    request.resolver_match = None
    return request


def shown(outer: str, request: HttpRequest, **words: object) -> str:
    words = {"form": Template(_FORM), **words}
    return Template(outer).render(RequestContext(request, words))


def token_in(html: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)
    assert found, html
    return found[1]


def test_included_form_has_its_token(request_of: HttpRequest) -> None:
    for outer in (
        "{% include form %}",
        "{% include form only %}",
        "{% include form with a=1 only %}",
        "{% include form with csrf_token=csrf_token only %}",
    ):
        assert len(token_in(shown(outer, request_of))) == 64, outer


def test_each_person_gets_a_token_of_their_own(rf: RequestFactory) -> None:
    # Use one template, as on a page, and two users.
    outer, form = Template("{% include form only %}"), Template(_FORM)
    tokens = []
    for _one in range(2):
        request = rf.get("/")
        request.resolver_match = None
        html = outer.render(RequestContext(request, {"form": form}))
        tokens.append(token_in(html))
        assert request.META["CSRF_COOKIE"]
    assert tokens[0] != tokens[1]


def test_a_fragment_may_stand_in_a_sentence() -> None:
    fragment = Template("{% comment %}What it is.{% endcomment %}\n<b>{{ word }}</b>\n")
    outer = Template("({% include fragment with word=said only %}),{% include fragment %}.")
    html = outer.render(Context({"fragment": fragment, "said": "a < b", "word": SafeString("<i>")}))
    assert html == "(<b>a &lt; b</b>),<b><i></b>."


def test_only_passes_no_more_than_the_token_and_only_to_forms(request_of: HttpRequest) -> None:
    words = {"plain": Template("no form here")}
    Template("{% include plain only %}").render(RequestContext(request_of, words))
    assert "CSRF_COOKIE" not in request_of.META
    assert "of the page" not in shown("{% include form only %}", request_of, other="of the page")
    # Without a request, the form is rendered without a token.
    html = Template("{% include form only %}").render(Context({"form": Template(_FORM)}))
    assert "<form" in html


@pytest.mark.parametrize("key", ["items", "plain", 7])
def test_pairs_are_those_of_the_mapping(key: object) -> None:
    loop = Template("{% for key, value in mapping|pairs %}{{ key }}={{ value }};{% endfor %}")
    assert loop.render(Context({"mapping": {key: 1, "other": 2}})) == f"{key}=1;other=2;"
    assert loop.render(Context({"mapping": None})) == ""
