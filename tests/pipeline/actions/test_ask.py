"""Tests for requesting a script on the page and through the API."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.audit import record
from pipeline.models import Action, Configuration, Endpoint, IdempotencyKey, Run
from pipeline.services import erase_action, forget_keys, start_run
from tests.make import make_action
from tests.people import ClientFor
from tests.pipeline.page_and_api import DONE, ByApi, ByPage, Way, both_ways
from tests.web_client import WebClient

STATEMENT = "Delete files older than 45 days in /srv/reports"
API = "/api/v1/actions/"
HOSTILE = '<script>alert(1)</script> {{ 7|add:"1" }} {0.__class__} %(x)s <<STATEMENT>>'

pytestmark = pytest.mark.django_db


@both_ways
def test_asking_notes_the_action_and_starts_a_run(way: Way, reviewer: User) -> None:
    details = {"incident": "DiskUsageHigh", "target": "batch-04", "impact": "reports lost"}
    answered = way.ask(reviewer, STATEMENT, severity=2, **details)
    assert answered.status == DONE
    action = Action.objects.get()
    assert action.statement == STATEMENT
    assert action.asked_by == reviewer
    assert (action.severity, action.incident, action.target) == (2, "DiskUsageHigh", "batch-04")
    run = action.runs.get()
    assert run.state == "queued"
    assert run.configuration.name == "demo"
    assert run.demo


@both_ways
def test_unusable_request_is_refused(way: Way, reviewer: User, subtests: pytest.Subtests) -> None:
    cases: dict[str, tuple[str, str, dict[str, object]]] = {
        "empty": ("", "", {}),
        "blank": ("  \n ", "", {}),
        "100 kB": ("x" * 100_000, "at most 4,000", {}),
        "NUL": ("delete\0 all", "", {}),
        "unknown configuration": (STATEMENT, "", {"configuration": "no-such"}),
        "endpoint off": (STATEMENT, "", {"configuration": "claude-peer-review"}),
        "no such severity": (STATEMENT, "", {"severity": 9}),
    }
    for name, (statement, says, details) in cases.items():
        with subtests.test(name):
            answered = way.ask(reviewer, statement, **details)
            assert answered.status == 422
            assert says in answered.text
            assert not Action.objects.exists() and not Run.objects.exists()


def test_a_refused_form_keeps_what_was_typed_and_shows_why(reviewer: User) -> None:
    answered = ByPage().ask(reviewer, "x" * 5_000, incident="Pager at 03:12", target="batch-04")
    assert "x" * 5_000 in answered.text
    for text in ("Pager at 03:12", 'value="batch-04"', "at most 4,000"):
        assert text in answered.text


def test_api_can_note_an_action_and_names_a_wrong_field(reviewer: User) -> None:
    assert ByApi().ask(reviewer, STATEMENT, run=False).status == DONE
    assert Action.objects.get().runs.count() == 0
    answered = ByApi().ask(reviewer, "x" * 5_000)
    assert '"code":"bad_input"' in answered.text
    assert '"field":"statement"' in answered.text


def test_form_is_filled_by_a_link_and_offers_usable_configurations(
    as_reviewer: Client, client_for: ClientFor, reviewer: User
) -> None:
    page = as_reviewer.get(reverse("action-new")).text
    assert 'value="demo" selected' in page
    assert "claude" not in page
    Configuration.objects.update(archived_at="2026-01-01T00:00Z")
    assert "No configuration is available" in as_reviewer.get(reverse("action-new")).text
    address = reverse("action-new", query={"statement": "Restart <b>nginx</b>"})
    page = client_for(reviewer).get(address).text
    assert "Restart &lt;b&gt;nginx&lt;/b&gt;</textarea>" in page
    assert not Action.objects.exists()


def test_hostile_text_is_shown_as_text(client_for: ClientFor, reviewer: User) -> None:
    ByPage().ask(reviewer, HOSTILE, incident=HOSTILE)
    action = Action.objects.get()
    for address in (
        reverse("action-detail", args=[action.pk]),
        reverse("action-list"),
        reverse("run-detail", args=[action.runs.get().pk]),
    ):
        page = client_for(reviewer).get(address).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ 7|add:&quot;1&quot; }}" in page


SEARCHES = "The catalogue is searched first"


@pytest.mark.parametrize(
    ("searches", "words"),
    [
        ({"demo": True, "local": True}, SEARCHES),
        ({"demo": True, "local": False}, "unless the configuration searches the catalogue"),
        ({"demo": False, "local": False}, "A model writes a script."),
    ],
)
def test_page_promises_a_search_only_where_every_configuration_does_it(
    as_reviewer: Client, local: Configuration, searches: dict[str, bool], words: str
) -> None:
    Configuration.objects.exclude(name__in=searches).update(archived_at=timezone.now())
    for name, uses_retrieval in searches.items():
        Configuration.objects.filter(name=name).update(uses_retrieval=uses_retrieval)
    page = as_reviewer.get(reverse("action-new")).text
    assert words in page and (SEARCHES in page) is (words == SEARCHES)
    assert ("Local (without the catalogue)" in page) is not searches["local"]


def test_choice_is_open_where_demo_is_default_and_a_real_model_is_there(
    as_reviewer: Client, local: Configuration
) -> None:
    def shown() -> tuple[bool, bool]:
        context, home = as_reviewer.get(reverse("action-new")).text, as_reviewer.get("/").text
        select = context.index('name="configuration"')
        return select < context.index(
            '<details class="ask-context"'
        ), 'name="configuration"' in home

    assert shown() == (True, True)
    answered = as_reviewer.post(
        reverse("action-new"), {"statement": STATEMENT, "configuration": "local"}
    )
    assert answered.status_code == 302 and not Run.objects.get().demo
    Configuration.objects.update(is_default=False)
    Configuration.objects.filter(name="local").update(is_default=True)
    assert shown() == (False, False)
    Configuration.objects.filter(name="local").update(is_default=False, archived_at=timezone.now())
    Configuration.objects.filter(name="demo").update(is_default=True)
    assert shown() == (False, False), "nothing but the demo model can be chosen"


@pytest.fixture
def local(db: None) -> Configuration:
    """Return a configuration for a server on this machine. Only this and the demo configuration are active."""
    Endpoint.objects.filter(name="ollama").update(enabled=True)
    Configuration.objects.exclude(name="demo").update(archived_at=timezone.now())
    made = Configuration.objects.create(name="local", title="Local")
    for role in ("generator", "assessor", "refiner"):
        made.roles.create(role=role, endpoint=Endpoint.objects.get(name="ollama"), model="small")
    return made


SECRET = "AKIAABCDEFGHIJKLMNOP"
TEXTS = ("statement", "incident", "environment", "reference", "target", "impact")


def test_secret_in_a_request_is_asked_about_and_masked_where_it_is_stored(
    as_reviewer: Client, reviewer: User
) -> None:
    """The local demo model is no exception, because every role can read and search the stored text."""
    url, typed = reverse("action-new"), dict.fromkeys(TEXTS, f"Upload it with {SECRET}")
    warned = as_reviewer.post(url, typed)
    assert warned.status_code == 422 and "Visible to: every user of this site" in warned.text
    assert warned.text.count(", line 1, column 16") == len(TEXTS)
    assert not Action.objects.exists()
    seen = {"secrets_seen": warned.context["form"]["secrets_seen"].value()}
    assert as_reviewer.post(url, typed | seen | {"secrets": "mask-stored"}).status_code == 302
    assert ByApi().ask(reviewer, **typed).status == DONE
    masked, by_api = Action.objects.order_by("pk")
    for action in (masked, by_api):
        assert {getattr(action, name) for name in TEXTS} == {"Upload it with ***"}
        assert SECRET not in str(action.__dict__)
    assert SECRET not in str(list(LogEntry.objects.values()))
    for address in (f"/actions/?q={SECRET}", f"/search/?q={SECRET}"):
        assert f'href="/actions/{masked.pk}/' not in as_reviewer.get(address).text, address
    assert as_reviewer.post(url, typed | seen | {"secrets": "mask"}).status_code == 302
    chosen = Action.objects.latest("pk")
    assert all(SECRET in getattr(chosen, name) for name in TEXTS), "what the user chose to store"


def test_request_is_edited_and_deleted_by_its_requester_until_a_run_starts(
    as_reviewer: Client, as_second_reviewer: Client, reviewer: User
) -> None:
    states = {
        "no run": None,
        "queued": {"state": "queued"},
        "canceled before it started": {"state": "cancelled"},
        "started": {"state": "running", "started_at": timezone.now()},
        "canceled later": {"state": "cancelled", "started_at": timezone.now()},
    }
    for name, state in states.items():
        action = make_action(f"Show {SECRET}", by=reviewer)
        if state is not None:
            run = start_run(action, by=reviewer, enqueue=False)
            Run.objects.filter(pk=run.pk).update(**state)
        record(action, "noted", by=reviewer)
        url, may = reverse("action-edit", args=[action.pk]), "started_at" not in (state or {})
        shown = as_reviewer.get(reverse("action-detail", args=[action.pk])).text
        assert (url in shown) == may, name
        assert as_second_reviewer.post(url, {"statement": "x"}).status_code == 403
        typed = {"statement": "Show it", "severity": "2", "target": "web-1"}
        assert as_reviewer.post(url, typed).status_code == (302 if may else 403), name
        action.refresh_from_db()
        assert (action.statement == "Show it") == may, name
        assert as_reviewer.post(url, {"delete": "1"}).status_code == (302 if may else 403), name
        assert Action.objects.filter(pk=action.pk).exists() != may, name
        names = LogEntry.objects.filter(object_pk=str(action.pk), content_type__model="action")
        assert any(SECRET in one.object_repr for one in names) != may, name


def test_idempotency_key_gets_the_first_response_for_a_day_and_per_account(
    as_reviewer: Client, as_second_reviewer: Client
) -> None:
    def send(client: Client, key: str, **body: object) -> HttpResponse:
        headers = {"Idempotency-Key": key}
        sent = {"statement": STATEMENT, **body}
        return client.post(API, sent, content_type="application/json", headers=headers)

    refused = send(as_reviewer, "k1", severity=9)
    assert refused.status_code == 422 and not Action.objects.exists()
    first = send(as_reviewer, "k1", severity=2)
    assert first.status_code == 201, "a refused request does not use the key up"
    Run.objects.update(state="cancelled")
    again = as_reviewer.post(
        API,
        {"severity": 2, "statement": STATEMENT},
        content_type="application/json",
        headers={"Idempotency-Key": "k1"},
    )
    assert (again.status_code, again.json()) == (201, first.json())
    assert send(as_reviewer, "k1", severity=3).status_code == 422
    assert Action.objects.count() == Run.objects.count() == 1
    assert send(as_second_reviewer, "k1", severity=3).status_code == 201
    assert send(as_reviewer, "k2", severity=2).json()["id"] != first.json()["id"]
    assert send(as_reviewer, "", severity=2).status_code == 422
    assert send(as_reviewer, "x" * 256).status_code == 422
    action = Action.objects.get(pk=first.json()["id"])
    erase_action(action, by=action.asked_by)
    assert STATEMENT not in str(list(IdempotencyKey.objects.filter(action=action).values()))
    day_ago = timezone.now() - timedelta(hours=24)
    IdempotencyKey.objects.filter(key="k2").update(at=day_ago)
    assert send(as_reviewer, "k2", severity=4).status_code == 201
    IdempotencyKey.objects.update(at=day_ago)
    forget_keys()
    assert not IdempotencyKey.objects.exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_requests_with_one_idempotency_key_at_once_make_one_action(reviewer: User) -> None:
    """The test uses real connections, because the second request must wait for the first."""

    def send(_number: int) -> str:
        client = WebClient()
        client.force_login(reviewer)
        headers = {"Idempotency-Key": "at once"}
        body = {"statement": STATEMENT}
        answer = client.post(API, body, content_type="application/json", headers=headers)
        connection.close()
        return answer.text

    with ThreadPoolExecutor(3) as pool:
        answers = set(pool.map(send, range(3)))
    assert len(answers) == 1 and Action.objects.count() == Run.objects.count() == 1
