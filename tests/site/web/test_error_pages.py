"""Tests that errors are a page in the product's design, a fragment for htmx, and one format for programs."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path
from pytest_django import Settings
from rest_framework import serializers
from rest_framework.exceptions import MethodNotAllowed, NotAuthenticated, Throttled, ValidationError

from core.errors import BadInput, NotAllowedNow, Refused, Stale
from scriptsmith_site.web import errors
from tests.web_client import WebClient

RAISED: dict[str, Exception] = {
    "bad-request": SuspiciousOperation("an odd header"),
    "denied": PermissionDenied("Only curators may do this."),
    "missing": Http404("No Entry matches the given query."),
    "not-now": NotAllowedNow("Somebody else has just decided."),
    "stale": Stale("There is a newer draft.", newest=3),
    "bad-input": BadInput("The statement is empty.", field="statement"),
    "refused": Refused("The rules do not allow it."),
    "broken": ZeroDivisionError("a secret detail"),
}


@login_not_required
def fail(request: HttpRequest, name: str) -> HttpResponse:
    raise RAISED[name]


@login_not_required
def read_form(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.POST.get("text", ""))


urlpatterns = [
    path("fail/<str:name>/", fail),
    path("api/fail/<str:name>/", fail),
    path("form/", read_form),
    path("", include("scriptsmith_site.urls")),
]
handler400 = "scriptsmith_site.web.errors.bad_request"
handler403 = "scriptsmith_site.web.errors.permission_denied"
handler404 = "scriptsmith_site.web.errors.page_not_found"
handler500 = "scriptsmith_site.web.errors.server_error"

CASES = [
    ("bad-request", 400, "bad_request", ""),
    ("denied", 403, "not_permitted", "Only curators may do this."),
    ("missing", 404, "not_found", ""),
    ("not-now", 409, "not_allowed_now", "Somebody else has just decided."),
    ("stale", 409, "not_allowed_now", "There is a newer draft."),
    ("bad-input", 422, "bad_input", "The statement is empty."),
    ("refused", 422, "refused", "The rules do not allow it."),
    ("broken", 500, "server_error", ""),
]


@pytest.fixture
def visitor(db: None, settings: Settings) -> Client:
    settings.ROOT_URLCONF = __name__
    return WebClient(raise_request_exception=False)


def test_browser_gets_a_page(visitor: Client, subtests: pytest.Subtests) -> None:
    for name, status, _code, detail in CASES:
        with subtests.test(name):
            answer = visitor.get(f"/fail/{name}/")
            text = answer.content.decode()
            assert answer.status_code == status
            assert "ScriptSmith" in text
            assert '<p class="error-code">' in text
            assert detail in text
            for hidden in ("an odd header", "No Entry matches", "a secret detail"):
                assert hidden not in text


def test_program_gets_json(visitor: Client, subtests: pytest.Subtests) -> None:
    for name, status, code, detail in CASES:
        for address, headers in (
            (f"/api/fail/{name}/", {}),
            (f"/fail/{name}/", {"Accept": "application/json"}),
        ):
            with subtests.test(address):
                answer = visitor.get(address, headers=headers)
                error = answer.json()["error"]
                assert (answer.status_code, error["code"]) == (status, code)
                assert error["message"] and detail in error["message"]
                assert "a secret detail" not in answer.content.decode()


def test_htmx_gets_a_fragment(visitor: Client) -> None:
    for name, status in (("not-now", 409), ("bad-input", 422), ("denied", 403)):
        answer = visitor.get(f"/fail/{name}/", headers={"HX-Request": "true"})
        assert answer.status_code == status, name
        assert "<html" not in answer.content.decode(), name
        assert str(RAISED[name]) in answer.content.decode()


def test_hostile_text_large_bodies_and_unknown_addresses_get_a_page(
    visitor: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RAISED, "refused", Refused("<script>alert(1)</script>"))
    assert b"<script>alert" not in visitor.get("/fail/refused/").content
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024
    body = f"text={'x' * 2000}"
    answer = visitor.post("/form/", body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 413
    assert "The limit is 1.0\xa0KB." in answer.text
    answer = visitor.get("/no/such/page/")
    assert answer.status_code == 404
    assert "Page not found" in answer.text


class Wanted(serializers.Serializer[object]):
    statement = serializers.CharField()
    steps = serializers.ListField(child=serializers.IntegerField(), required=False)


def problem_with(data: dict[str, object]) -> ValidationError:
    try:
        Wanted(data=data).is_valid(raise_exception=True)
    except ValidationError as error:
        return error
    raise AssertionError("it is valid")


def test_api_errors_have_one_shape(subtests: pytest.Subtests) -> None:
    nested = problem_with({"statement": "x", "steps": [1, "b"]})
    for error, status, code, field in (
        (BadInput("x", field="title"), 422, "bad_input", "title"),
        (Stale("x", newest=1), 409, "not_allowed_now", ""),
        (Refused("x"), 422, "refused", ""),
        (problem_with({}), 422, "bad_input", "statement"),
        (nested, 422, "bad_input", "steps.1"),
        (ValidationError("x"), 422, "bad_input", ""),
        (Http404(), 404, "not_found", ""),
        (PermissionDenied(), 403, "not_permitted", ""),
        (NotAuthenticated(), 401, "not_authenticated", ""),
        (MethodNotAllowed("PUT"), 405, "method_not_allowed", ""),
        (Throttled(wait=3), 429, "throttled", ""),
    ):
        with subtests.test(repr(error)):
            response = errors.handle_api_exception(error, {})
            body = json.loads(json.dumps(response.data))["error"]
            assert (response.status_code, body["code"], body["field"]) == (status, code, field)
            assert body["message"]


def test_a_defect_of_the_api_stays_a_defect() -> None:
    assert errors.handle_api_exception(ZeroDivisionError(), {}) is None
