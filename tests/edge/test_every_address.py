"""Each hostile thing is sent to every address there is, page and API: it is refused, and never breaks anything."""

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
from tests.first_cases import first_cases
from tests.people import make_person
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db

# Every role at once: nothing is refused for want of a right.
ROLES = ("reviewer", "manager", "curator", "administrator")
# All addresses are asked again and again; in `make test` a few hostile things stand for all.
SLOW = pytest.mark.slow
PAGE = {"Accept": "text/html"}
DEEP = b"[" * 20_000 + b"]" * 20_000
# Ends the session, or is the sign-in itself.
_ENDS = ("/logout/", "/admin/logout/")


@pytest.fixture
def person(db: None) -> User:
    return make_person("olga", *ROLES)


@pytest.fixture
def client(person: User) -> Client:
    """Signed in, and with a token for the API; a defect is answered and not raised.

    It asks for JSON, which costs less than the page that says the same.
    """
    client = WebClient(raise_request_exception=False, headers={"Accept": "application/json"})
    client.force_login(person)
    made = make_token(person, name="x", scopes=ApiToken.Scope.values, days=None, by=person)
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {made.secret}"
    return client


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return api_schema()["paths"]  # type: ignore[no-any-return]


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
@pytest.mark.parametrize("method", ["TRACE", pytest.param("BREW", marks=SLOW)])
def test_a_method_that_nothing_answers_is_405(client: Client, method: str) -> None:
    answers = {one: client.generic(method, one) for one in addresses()}
    assert {answer.status_code for answer in answers.values()} == {405}
    assert answers["/api/v1/runs/"].json()["error"]["code"] == "method_not_allowed"
    page = client.generic(method, "/actions/", headers=PAGE).text
    assert "This can't be done here" in page and 'class="error-code"' in page


@pytest.mark.slow
def test_options_is_answered_everywhere(client: Client) -> None:
    assert {client.options(one).status_code for one in addresses()} == {405}
    answer = client.options("/api/v1/runs/")
    assert (answer["Allow"], answer.json()["error"]["code"]) == (
        "GET, POST, HEAD",
        "method_not_allowed",
    )


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


@pytest.mark.parametrize("value", ["%00", "a%00b", "%", "%zz", "%ff", "%ed%a0%80"])
def test_a_query_that_cannot_be_read_is_refused_in_words(client: Client, value: str) -> None:
    assert client.get(f"/api/v1/runs/?state={value}").json()["error"]["field"] == "state"
    assert client.get(f"/api/v1/runs/?{value}=x").json()["error"]["field"] == ""
    page = client.get(f"/actions/?q={value}", headers=PAGE).text
    assert "This was refused" in page and 'class="error-code"' in page


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
    # The admin's site, and the sign-in, are pages like others.
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


@pytest.mark.parametrize("charset", ["zip", "rot13", "utf-16", "nonsense", "utf-7"])
def test_another_encoding_than_utf_8_is_415(client: Client, charset: str) -> None:
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    assert client.generic("POST", "/login/", b"username=x", kind).status_code == 415
    kind = f"application/json; charset={charset}"
    answer = client.generic("POST", "/api/v1/actions/", b'{"statement": "x"}', kind)
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")
    assert client.get("/api/v1/actions/", headers={"Content-Type": kind}).status_code == 415


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(DEEP, 422, id="20,000 deep"),
        pytest.param(b'{"a": "\\ud800"}', 422, id="a lone surrogate", marks=SLOW),
        pytest.param(b'{"a": "\\u0000"}', 422, id="NUL", marks=SLOW),
        pytest.param(b'{"a": 99999999999999999999}', 422, id="beyond 64 bits", marks=SLOW),
        pytest.param(b'{"a": 1, "a": 1}', 422, id="a name given twice", marks=SLOW),
        pytest.param(b'{"a": NaN}', 400, id="NaN", marks=SLOW),
        pytest.param(b'{"a"', 400, id="unfinished"),
        pytest.param(b"\xff", 400, id="no UTF-8", marks=SLOW),
    ],
)
def test_a_body_that_cannot_be_used_breaks_nothing(
    client: Client, schema: dict[str, Any], body: bytes, status: int
) -> None:
    answered = []
    for method, path, operation in operations(schema, "post", "patch", "delete"):
        send = getattr(client, method)
        address = path
        for parameter in operation.get("parameters", []):
            address = address.replace(f"{{{parameter['name']}}}", "1")
        code = send(address, body, content_type="application/json").status_code
        # What has no body, or looks first for the row, does not come to read it.
        kinds = operation.get("requestBody", {}).get("content", {})
        others = set() if "application/json" in kinds else {200, 202, 204, 409, 415, 422}
        assert code in {status, 404} | others, (address, code)
        answered.append(code)
    # Others say first that the person may not, or that nothing is there.
    assert answered.count(status) > 10


@pytest.mark.parametrize(
    "choice", [b'"\\ud800"', b'"\\u0000"', b'{"\\ud800": 1}', b"[[]]", b"null", b"1e400"]
)
def test_what_is_no_choice_is_said_so(client: Client, choice: bytes) -> None:
    body = b'{"name": "S", "order": ' + choice + b"}"
    answer = client.post("/api/v1/campaigns/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["field"].partition(".")[0]) == (422, "order")


def _cursor(said: str) -> str:
    return b64encode(said.encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", "gültig", _cursor("x=1"), _cursor("p=%00"), _cursor("p=1&o=-1")),
        *(
            pytest.param(one, marks=SLOW)
            for one in (
                *("!!!!", "0", "*", "a b", _cursor("nonsense")),
                *(_cursor(f"p={value}") for value in ("x", "", "1.5", "9" * 40, "9" * 5000)),
                *(_cursor(f"p=1&{more}") for more in ("o=x", "o=100000", "r=x", "z=1")),
            )
        ),
    ],
)
def test_a_malformed_cursor_is_refused_by_every_list(
    client: Client, schema: dict[str, Any], cursor: str
) -> None:
    lists = [
        path
        for _method, path, operation in operations(schema, "get")
        if any(one["name"] == "cursor" for one in operation.get("parameters", []))
    ]
    assert len(lists) >= 18
    for path in lists:
        answer = client.get(path, {"cursor": cursor})
        assert answer.status_code == 422, path
        assert answer.json()["error"]["field"] == "cursor"


@pytest.mark.parametrize(
    "limit",
    first_cases(1, ("0", "201", "x", "", "-1", "1.5", "9" * 30, "٣", "1e2")),
)
def test_a_limit_that_is_none_is_refused_by_every_list(
    client: Client, schema: dict[str, Any], limit: str
) -> None:
    for _method, path, operation in operations(schema, "get"):
        [declared] = [one for one in operation.get("parameters", []) if one["name"] == "limit"] or [
            None
        ]
        if declared is not None:
            assert (declared["schema"]["minimum"], declared["schema"]["maximum"]) == (1, 200)
            answer = client.get(path, {"limit": limit})
            assert (answer.status_code, answer.json()["error"]["field"]) == (422, "limit"), path


def test_the_next_page_is_where_the_last_one_says(client: Client, person: User) -> None:
    for name in ("first", "second", "third"):
        body = json.dumps({"statement": f"Show the {name} disk", "run": False})
        client.post("/api/v1/actions/", body, content_type="application/json")
    first = client.get("/api/v1/actions/?limit=2").json()
    second = client.get(first["next"]).json()
    assert [len(page["results"]) for page in (first, second)] == [2, 1]
    assert client.get(second["previous"]).json()["results"] == first["results"]


@pytest.mark.parametrize(
    ("key", "room"),
    [
        pytest.param("9223372036854775808", "", marks=SLOW),
        pytest.param("9" * 5000, "", marks=SLOW),
        ("9223372036854775808", "runs/"),
    ],
)
def test_a_key_that_no_row_can_have_is_not_found(client: Client, key: str, room: str) -> None:
    tried = 0
    for route in routes():
        if "{}" in route and room in route and not route.startswith("/admin/"):
            address = route.replace("{}", key)
            tried += 1
            for answer in (client.get(address), client.post(address)):
                # 409: what has ended already and what never was are told apart to nobody.
                assert answer.status_code in (404, 405, 409, 415, 422), (route, answer.status_code)
    assert tried > 10


def test_more_than_the_limit_is_413(client: Client, settings: object) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000  # type: ignore[attr-defined]
    body = json.dumps({"statement": "x" * 1000})
    answer = client.post("/api/v1/actions/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    assert client.post("/actions/new/", {"statement": "x" * 1000}).status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", ""])
def test_another_kind_than_json_is_415(client: Client, kind: str) -> None:
    answer = client.post("/api/v1/actions/", "statement=x", content_type=kind or "x")
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")
