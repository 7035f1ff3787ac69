"""Tests that every page and API address responds to hostile input with the correct status."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from scriptsmith_site.api import api_schema
from scriptsmith_site.models import ApiToken
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.edge.addresses import addresses, routes
from tests.people import make_person
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db

# The user has all roles, so no request fails for lack of permission.
ROLES = ("reviewer", "manager", "curator", "administrator")
PAGE = {"Accept": "text/html"}
DEEP = b"[" * 20_000 + b"]" * 20_000
# Requests to these addresses end the session.
_ENDS = ("/logout/", "/admin/logout/")


@pytest.fixture
def person(db: None) -> User:
    return make_person("olga", *ROLES)


@pytest.fixture
def client(person: User) -> Client:
    """Return a signed-in client with an API token. It requests JSON and does not raise server errors."""
    client = WebClient(raise_request_exception=False, headers={"Accept": "application/json"})
    client.force_login(person)
    made = make_token(person, name="x", scopes=ApiToken.Scope.values, days=None, by=person)
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {made.secret}"
    return client


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return api_schema()["paths"]


def operations(schema: dict[str, Any], *methods: str) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, found in schema.items()
        for method, operation in found.items()
        if method in methods
    ]


@pytest.mark.slow
def test_there_are_addresses_to_try(schema: dict[str, Any]) -> None:
    every = addresses()
    assert len(every) > 250
    assert "/api/v1/entries/1/phrasings/" in every and "/items/1/" in every
    assert len(operations(schema, "get", "post", "patch", "delete")) > 120


@pytest.mark.slow
def test_unknown_method_and_options_are_405_everywhere(client: Client) -> None:
    for method in ("TRACE", "OPTIONS"):
        assert {client.generic(method, one).status_code for one in addresses()} == {405}
    answer = client.options("/api/v1/runs/")
    assert (answer["Allow"], answer.json()["error"]["code"]) == (
        "GET, POST, HEAD",
        "method_not_allowed",
    )
    page = client.generic("BREW", "/actions/", headers=PAGE)
    assert page.status_code == 405
    assert "Method not allowed" in page.text and 'class="error-code"' in page.text


@pytest.mark.slow
def test_nul_in_a_path_is_not_found(client: Client) -> None:
    places = {route.replace("{}", "a%00b") for route in routes() if "{}" in route}
    places |= {f"{one}%00/" for one in addresses()}
    statuses = {one: client.get(one).status_code for one in places}
    assert {one: status for one, status in statuses.items() if status != 404} == {}


@pytest.mark.slow
def test_nul_in_a_query_is_refused_everywhere(client: Client) -> None:
    for address in addresses():
        assert client.get(f"{address}?q=x&before=%00").status_code == 422, address


def test_unreadable_query_is_refused_with_its_field(client: Client) -> None:
    for value in ("%00", "a%00b", "%", "%zz", "%ff", "%ed%a0%80"):
        assert client.get(f"/api/v1/runs/?state={value}").json()["error"]["field"] == "state", value
        assert client.get(f"/api/v1/runs/?{value}=x").json()["error"]["field"] == "", value
        page = client.get(f"/actions/?q={value}", headers=PAGE).text
        assert "Not allowed" in page and 'class="error-code"' in page, value


@pytest.mark.slow
def test_nul_in_any_declared_parameter_is_refused(client: Client, schema: dict[str, Any]) -> None:
    tried = 0
    for _method, path, operation in operations(schema, "get"):
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query":
                answer = client.get(path.replace("{id}", "1"), {parameter["name"]: "a\0b"})
                assert answer.status_code == 422, (path, parameter["name"])
                assert answer.json()["error"]["field"] == parameter["name"]
                tried += 1
    assert tried > 60


@pytest.mark.slow
def test_nul_in_a_form_or_a_name_of_a_file_is_refused(client: Client) -> None:
    # The loop includes the pages of the admin site and the sign-in pages.
    for address in addresses():
        if address.startswith("/api/") or address in _ENDS:
            continue
        assert client.post(address, {"text": "a\0b"}).status_code == 422, address
    file = SimpleUploadedFile("items.csv", b"id")
    file.name = "a\0b.csv"
    for body in ({"a\0b": "x"}, {"file": file}):
        assert client.post("/actions/new/", body).status_code == 422
    encoded = "application/x-www-form-urlencoded"
    assert client.post("/actions/new/", "text=%ff", content_type=encoded).status_code == 422


def test_a_header_with_a_control_character_is_refused(client: Client) -> None:
    for headers in ({"X-Other": "a\0b"}, {"Accept": "a\nb"}, {"User-Agent": "\x1b[2J"}):
        for address in ("/api/v1/runs/", "/actions/", "/login/"):
            assert client.get(address, headers=headers).status_code == 400


def test_other_encoding_than_utf_8_is_415(client: Client) -> None:
    for charset in ("zip", "rot13", "utf-16", "nonsense", "utf-7"):
        kind = f"application/x-www-form-urlencoded; charset={charset}"
        assert client.generic("POST", "/login/", b"username=x", kind).status_code == 415, charset
        kind = f"application/json; charset={charset}"
        answer = client.generic("POST", "/api/v1/actions/", b'{"statement": "x"}', kind)
        error = answer.json()["error"]["code"]
        assert (answer.status_code, error) == (415, "unsupported_media_type"), charset
        headers = {"Content-Type": kind}
        assert client.get("/api/v1/actions/", headers=headers).status_code == 415, charset


@pytest.mark.slow
def test_every_operation_refuses_unreadable_body(client: Client, schema: dict[str, Any]) -> None:
    """Check that every operation uses the parser that test_json.py tests in detail."""
    for body, status in ((DEEP, 422), (b'{"a"', 400)):
        statuses = []
        for method, path, operation in operations(schema, "post", "patch", "delete"):
            address = path
            for parameter in operation.get("parameters", []):
                address = address.replace(f"{{{parameter['name']}}}", "1")
            send = getattr(client, method)
            code = send(address, body, content_type="application/json").status_code
            # Some operations accept no body, and others look up the row before they read it.
            kinds = operation.get("requestBody", {}).get("content", {})
            others = set() if "application/json" in kinds else {200, 202, 204, 409, 415, 422}
            assert code in {status, 404} | others, (address, code)
            statuses.append(code)
        assert statuses.count(status) > 10


def test_value_that_is_not_a_choice_is_refused_with_its_field(client: Client) -> None:
    for choice in (b'"\\ud800"', b'"\\u0000"', b'{"\\ud800": 1}', b"[[]]", b"null", b"1e400"):
        body = b'{"name": "S", "order": ' + choice + b"}"
        answer = client.post("/api/v1/campaigns/", body, content_type="application/json")
        field = answer.json()["error"]["field"].partition(".")[0]
        assert (answer.status_code, field) == (422, "order"), choice


def _cursor(said: str) -> str:
    return b64encode(said.encode()).decode()


def _lists(schema: dict[str, Any], parameter: str) -> dict[str, dict[str, Any]]:
    """Return the declaration of this parameter, by path, for each list that has the parameter."""
    return {
        path: one
        for _method, path, operation in operations(schema, "get")
        for one in operation.get("parameters", [])
        if one["name"] == parameter
    }


def _refused(client: Client, path: str, **given: str) -> bool:
    answer = client.get(path, given)
    return (answer.status_code, answer.json()["error"]["field"]) == (422, *given)


def test_malformed_cursor_is_refused_by_every_list(client: Client, schema: dict[str, Any]) -> None:
    lists = _lists(schema, "cursor")
    assert len(lists) >= 18
    assert [path for path in lists if not _refused(client, path, cursor=_cursor("p=%00"))] == []
    cursors = [
        *("x", "gültig", "!!!!", "0", "*", "a b", _cursor("x=1"), _cursor("nonsense")),
        *(_cursor(f"p={value}") for value in ("x", "", "1.5", "9" * 40, "9" * 5000)),
        *(_cursor(f"p=1&{more}") for more in ("o=x", "o=-1", "o=100000", "r=x", "z=1")),
    ]
    actions = "/api/v1/actions/"
    assert [one for one in cursors if not _refused(client, actions, cursor=one)] == []


def test_every_list_refuses_limit_outside_1_to_200(client: Client, schema: dict[str, Any]) -> None:
    lists = _lists(schema, "limit")
    assert {(one["schema"]["minimum"], one["schema"]["maximum"]) for one in lists.values()} == {
        (1, 200)
    }
    assert [path for path in lists if not _refused(client, path, limit="0")] == []
    limits = ("201", "x", "", "-1", "1.5", "9" * 30, "٣", "1e2")
    assert [one for one in limits if not _refused(client, "/api/v1/actions/", limit=one)] == []


def test_the_next_page_is_where_the_last_one_says(client: Client, person: User) -> None:
    for name in ("first", "second", "third"):
        body = json.dumps({"statement": f"Show the {name} disk", "run": False})
        client.post("/api/v1/actions/", body, content_type="application/json")
    first = client.get("/api/v1/actions/?limit=2").json()
    second = client.get(first["next"]).json()
    assert [len(page["results"]) for page in (first, second)] == [2, 1]
    assert client.get(second["previous"]).json()["results"] == first["results"]


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        (["9223372036854775808", "9" * 5000], "runs/"),
        pytest.param(["9223372036854775808"], "", marks=pytest.mark.slow),
    ],
)
def test_key_that_no_row_can_have_is_not_found(client: Client, keys: list[str], part: str) -> None:
    places = [one for one in routes() if "{}" in one and not one.startswith("/admin/")]
    tried = [route.replace("{}", key) for route in places if part in route for key in keys]
    assert len(tried) > 10
    for address in tried:
        for answer in (client.get(address), client.post(address)):
            # 409 is also correct, because a missing row looks the same as one in a final state.
            assert answer.status_code in (404, 405, 409, 415, 422), (address, answer.status_code)


def test_more_than_the_limit_is_413(client: Client, settings: object) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    body = json.dumps({"statement": "x" * 1000})
    answer = client.post("/api/v1/actions/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    assert client.post("/actions/new/", {"statement": "x" * 1000}).status_code == 413


def test_other_content_type_than_json_is_415(client: Client) -> None:
    for kind in ("text/plain", "application/xml", "x"):
        answer = client.post("/api/v1/actions/", "statement=x", content_type=kind)
        error = answer.json()["error"]["code"]
        assert (answer.status_code, error) == (415, "unsupported_media_type"), kind
