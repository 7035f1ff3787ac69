"""A form keeps its CSRF token wherever its template is included, with `only` too, and only its own person's."""

from __future__ import annotations

import re

import pytest
from django.http import HttpRequest
from django.template import Context, RequestContext, Template, engines
from django.test import RequestFactory

_FORM = '<form method="post">{% csrf_token %}</form>{{ other }}'
_KEPT = "{% load kept %}{% kept %}" + _FORM + "{% endkept %}"


@pytest.fixture
def request_of(rf: RequestFactory) -> HttpRequest:
    request = rf.get("/")
    request.resolver_match = None
    return request


def shown(outer: str, request: HttpRequest, **words: object) -> str:
    words = {"form": Template(_FORM), "kept": Template(_KEPT), **words}
    return Template(outer).render(RequestContext(request, words))


def token_in(html: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)
    assert found, html
    return found[1]


@pytest.mark.parametrize(
    "outer",
    [
        pytest.param("{% include form %}", id="with everything"),
        pytest.param("{% include form only %}", id="with nothing else"),
        pytest.param("{% include form with a=1 only %}", id="with some words"),
        pytest.param("{% include form with csrf_token=csrf_token only %}", id="handed on by hand"),
        pytest.param("{% include kept only %}", id="kept"),
    ],
)
def test_an_included_form_has_its_token(request_of: HttpRequest, outer: str) -> None:
    assert len(token_in(shown(outer, request_of))) == 64


def test_only_still_keeps_out_the_rest(request_of: HttpRequest) -> None:
    assert "of the page" not in shown("{% include form only %}", request_of, other="of the page")


def test_a_kept_form_has_the_token_of_who_asks(rf: RequestFactory) -> None:
    # One template and so one cache, as for a page; two people.
    outer = Template("{% include kept only %}")
    tokens = []
    for _one in range(2):
        request = rf.get("/")
        request.resolver_match = None
        html = outer.render(RequestContext(request, {"kept": _kept_template()}))
        tokens.append(token_in(html))
        assert request.META["CSRF_COOKIE"]
    assert tokens[0] != tokens[1]


def test_without_a_request_there_is_none_and_no_failure() -> None:
    html = Template("{% include form only %}").render(Context({"form": Template(_FORM)}))
    assert "<form" in html


def test_a_token_is_made_only_where_a_form_asks(request_of: HttpRequest) -> None:
    words = {"plain": Template("no form here")}
    Template("{% include plain only %}").render(RequestContext(request_of, words))
    assert "CSRF_COOKIE" not in request_of.META


_MADE: list[Template] = []


def _kept_template() -> Template:
    if not _MADE:
        _MADE.append(engines["django"].engine.from_string(_KEPT))  # type: ignore[attr-defined]
    return _MADE[0]
