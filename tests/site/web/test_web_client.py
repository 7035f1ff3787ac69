"""Tests that the suite's HTTP client is subject to the same checks as a browser, and that no test uses another
client."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.test import Client
from django.urls import include, path

from tests.people import make_person
from tests.site.browsing import ClientFor
from tests.web_client import WebClient

TESTS = Path(__file__).parents[2]
SENT: dict[str, str] = {}


@login_not_required
def page(request: HttpRequest, form: str) -> HttpResponse:
    token = get_token(request)
    hidden = f'<input type="hidden" name="csrfmiddlewaretoken" value="{token}">'
    return HttpResponse(
        f"""<body hx-headers='{{"X-CSRFToken": "{token}"}}'>
        <form method="post" action="/take/">{hidden if form == "whole" else ""}<button>Go</button></form>"""
    )


@login_not_required
def take(request: HttpRequest) -> HttpResponse:
    return JsonResponse(
        {"field": "csrfmiddlewaretoken" in request.POST, "header": "X-CSRFToken" in request.headers}
    )


urlpatterns = [
    path("page/<str:form>/", page),
    path("take/", take),
    path("", include("scriptsmith_site.urls")),
]


@pytest.fixture
def browser(db: None, settings: object) -> WebClient:
    settings.ROOT_URLCONF = __name__
    return WebClient()


def test_the_fixtures_give_it(client: Client, client_for: ClientFor, stranger: User) -> None:
    assert isinstance(client, WebClient)
    assert isinstance(client_for(stranger), WebClient)
    assert client.handler.enforce_csrf_checks


def test_client_sends_what_a_browser_would_send(browser: WebClient) -> None:
    assert browser.post("/take/").json()["field"], "without a page, the token of the session"
    whole, broken = WebClient(), WebClient()
    whole.get("/page/whole/")
    assert whole.post("/take/").json() == {"field": True, "header": False}
    own = {"csrfmiddlewaretoken": "x" * 64}
    assert whole.post("/take/", own).status_code == 403, "the test's own token is sent"
    broken.get("/page/broken/")
    for headers in ({"HX-Request": "true"}, {"X-Requested-With": "fetch"}):
        answer = broken.post("/take/", headers=headers)
        assert answer.json() == {"field": False, "header": True}, "a script, by the page"
    assert broken.post("/take/").status_code == 403, "a form without its token"


@pytest.mark.slow
def test_the_api_takes_a_session_only_with_the_header(db: None) -> None:
    client = WebClient()
    client.force_login(make_person("rita", "reviewer"))
    body = {"statement": "Delete files older than 30 days in /tmp"}
    api, kind = "/api/v1/actions/", "application/json"
    assert client.post(api, body, content_type=kind).status_code == 201
    wrong = {"X-CSRFToken": "x" * 64}
    assert client.post(api, body, content_type=kind, headers=wrong).status_code == 403


@pytest.mark.slow
def test_nobody_uses_another_client() -> None:
    """Other test clients skip the CSRF check, so they would accept a form that fails in a browser."""
    found = [
        f"{file.relative_to(TESTS)}:{node.lineno}"
        for file in TESTS.rglob("*.py")
        if file.name != "web_client.py"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Client", "APIClient", "AsyncClient")
    ]
    assert not found, f"make a tests.web_client.WebClient there: {found}"
