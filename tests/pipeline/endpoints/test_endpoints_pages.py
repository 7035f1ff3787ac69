"""Tests for the endpoint pages: creating, changing, enabling, waking, deleting and pricing endpoints."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipeline.models import Attempt, Configuration, Endpoint, Price, Run, Spending
from tests.make import make_run
from tests.pipeline.rows import make_attempt, make_call
from tests.query_counts import count_queries

pytestmark = pytest.mark.django_db

FORM = {
    "name": "gpu-box",
    "title": "The GPU box",
    "base_url": "http://127.0.0.1:11434",
    "key_variable": "",
    "mode": "text",
    "max_in_flight": "2",
    "timeout_seconds": "300",
    "takes_temperature": "on",
}
PRICE = {"model": "llama", "since": "2026-11-01", "input": "0.25", "output": "1.5"}
KEY = "sk-ant-api03-not-a-real-one"


@pytest.fixture
def box() -> Endpoint:
    return Endpoint.objects.create(name="box", title="Box", base_url="http://127.0.0.1:9")


def edit_form(client: Client, name: str) -> dict[str, str]:
    """Return the form data that a browser would send if the endpoint were saved without changes."""
    page = client.get(f"/endpoints/{name}/edit/").text
    edition = re.search(r'name="edition" value="(\d+)"', page)
    endpoint = Endpoint.objects.get(name=name)
    assert edition
    return {
        **{key: str(getattr(endpoint, key)) for key in FORM if key != "takes_temperature"},
        "edition": edition[1],
    }


def events(endpoint: Endpoint) -> list[str]:
    return [
        entry.additional_data["event"]
        for entry in LogEntry.objects.get_for_object(endpoint).order_by("pk")
    ]


def test_an_endpoint_is_added_switched_off(client: Client) -> None:
    answer = client.post("/endpoints/new/", FORM)
    made = Endpoint.objects.get(name="gpu-box")
    assert answer.url == "/endpoints/gpu-box/"
    assert (made.title, made.mode, made.max_in_flight) == ("The GPU box", "text", 2)
    assert made.takes_temperature and not made.is_on
    assert events(made) == ["endpoint added"]
    assert "never checked" in client.get("/endpoints/").text


def test_a_recipe_fills_the_form_in(client: Client) -> None:
    page = client.get("/endpoints/new/?recipe=vllm").text
    assert 'value="http://127.0.0.1:8001"' in page and 'value="vllm"' in page
    assert 'value="ollama-2"' in client.get("/endpoints/new/?recipe=ollama").text
    assert client.get("/endpoints/new/?recipe=none").status_code == 200


def test_refused_values_stay_on_page(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "taken": ("name", "claude", "An endpoint with this name already exists"),
        "an address of ours": ("name", "new", "lowercase letters"),
        "no such name": ("name", "Big Box", "lowercase letters"),
        "readable on the way": ("base_url", "http://host.example", "Plain http"),
        "mode": ("mode", "json", "Select a valid choice"),
        "no calls": ("max_in_flight", "0", "Enter a number from 1 to 1,000"),
        "for ever": ("timeout_seconds", "9999", "Enter a number from 1 to 3,600"),
        "title": ("title", "x" * 101, "at most 100 characters"),
    }
    for name, (field, typed, said) in cases.items():
        with subtests.test(name):
            answer = client.post("/endpoints/new/", {**FORM, field: typed})
            assert answer.status_code == 422
            assert said in answer.text
            assert "http://127.0.0.1:11434" in answer.text or field == "base_url"
            assert not Endpoint.objects.filter(name="gpu-box").exists()


def test_a_pasted_key_is_refused_and_stands_in_no_page(client: Client) -> None:
    answer = client.post("/endpoints/new/", {**FORM, "key_variable": KEY})
    assert answer.status_code == 422
    assert "looks like a key" in answer.text
    assert KEY not in answer.text and "The GPU box" in answer.text


def test_values_are_changed_and_noted(client: Client, box: Endpoint) -> None:
    client.post("/endpoints/box/edit/", {**edit_form(client, "box"), "max_in_flight": "3"})
    box.refresh_from_db()
    assert box.max_in_flight == 3
    newest = LogEntry.objects.get_for_object(box).latest("pk")
    assert newest.changes == {"max_in_flight": ["8", "3"]}
    form = edit_form(client, "demo") | {"base_url": "https://evil.example", "max_in_flight": "7"}
    client.post("/endpoints/demo/edit/", form)
    demo = Endpoint.objects.get(name="demo")
    assert (demo.base_url, demo.max_in_flight, demo.is_on) == ("demo:", 7, True)


def test_the_second_of_two_is_told_and_loses_nothing_typed(client: Client, box: Endpoint) -> None:
    mine = edit_form(client, "box") | {"title": "Mine", "max_in_flight": "5"}
    client.post("/endpoints/box/edit/", {**edit_form(client, "box"), "title": "Theirs"})
    refused = client.post("/endpoints/box/edit/", mine)
    assert refused.status_code == 409
    assert "Another user has changed this endpoint" in refused.text
    assert "<code>Theirs</code>" in refused.text and 'value="Mine"' in refused.text
    box.refresh_from_db()
    assert (box.title, box.max_in_flight) == ("Theirs", 8)
    # The rejected page showed the other user's change, so saving again replaces that change.
    seen = re.search(r'name="edition" value="(\d+)"', refused.text)
    assert seen
    assert client.post("/endpoints/box/edit/", {**mine, "edition": seen[1]}).status_code == 302
    box.refresh_from_db()
    assert (box.title, box.max_in_flight) == ("Mine", 5)


def test_external_address_disables_and_voids_check(client: Client, box: Endpoint) -> None:
    Endpoint.objects.update(probe={"recommended": "text"}, probed_at=timezone.now())
    Endpoint.objects.filter(pk=box.pk).update(enabled=True)
    form = edit_form(client, "box") | {"base_url": "https://models.example"}
    page = client.post("/endpoints/box/edit/", form, follow=True).text
    box.refresh_from_db()
    assert not box.is_on and box.probe == {} and box.probed_at is None
    assert "Saved and turned off" in page


def test_endpoint_is_switched_on_and_off_unless_set(client: Client, box: Endpoint) -> None:
    assert client.post("/endpoints/box/switch-on/").status_code == 302
    assert Endpoint.objects.get(pk=box.pk).is_on
    assert "is already on" in client.post("/endpoints/box/switch-on/").text
    assert client.post("/endpoints/box/switch-off/").status_code == 302
    assert not Endpoint.objects.get(pk=box.pk).is_on
    assert client.post("/endpoints/box/switch-off/").status_code == 409
    assert events(box) == ["turned on", "turned off"]
    refused = client.post("/endpoints/demo/switch-off/")
    assert (
        refused.status_code == 409
        and "SCRIPTSMITH_ENDPOINTS turns on this endpoint" in refused.text
    )


def test_endpoint_off_the_machine_warns_and_takes_a_confirmation(client: Client) -> None:
    page = client.get("/endpoints/claude/").text
    assert "Requests, their context and scripts leave this machine" in page
    assert "api.anthropic.com, which may bill every call" in page
    refused = client.post("/endpoints/claude/switch-on/")
    assert refused.status_code == 422 and "Confirm that requests" in refused.text
    assert not Endpoint.objects.get(name="claude").is_on
    client.post("/endpoints/claude/switch-on/", {"confirmed": "on"})
    assert Endpoint.objects.get(name="claude").is_on
    Endpoint.objects.create(name="lan", title="Lan", base_url="http://10.0.0.5:8080")
    page = client.get("/endpoints/lan/").text
    assert "Not encrypted." in page and "leave this machine" in page


def test_a_resting_one_is_woken_with_the_runs_that_wait(
    client: Client, reviewer: User, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    later = timezone.now() + timedelta(hours=1)
    demo = Endpoint.objects.get(name="demo")
    Endpoint.objects.update(blocked_until=later, blocked_why="HTTP 529 <b>")
    run = make_run(by=reviewer)
    Run.objects.filter(pk=run.pk).update(
        state="queued", finished_at=None, waits_for=demo, not_before=later
    )
    page = client.get("/endpoints/demo/").text
    assert "HTTP 529 &lt;b&gt;" in page and "Resume now" in page
    assert client.post("/endpoints/demo/wake/").status_code == 302
    demo.refresh_from_db()
    run.refresh_from_db()
    assert (demo.blocked_until, demo.blocked_why, run.not_before) == (None, "", None)
    assert run.told_at is not None
    assert client.post("/endpoints/demo/wake/").status_code == 409


def test_one_that_nothing_uses_is_deleted_with_its_prices(client: Client, box: Endpoint) -> None:
    box.prices.create(model="m", since=date(2026, 1, 1))
    assert "Delete endpoint" in client.get("/endpoints/box/").text
    assert client.post("/endpoints/box/delete/").url == "/endpoints/"
    assert not Endpoint.objects.filter(name="box").exists()
    assert not Price.objects.filter(model="m").exists()


def test_used_endpoint_is_not_deleted(client: Client, box: Endpoint, reviewer: User) -> None:
    make_priced_call(box, by=reviewer)
    refused = client.post("/endpoints/box/delete/")
    assert refused.status_code == 409 and "because it has past calls" in refused.text
    assert Endpoint.objects.filter(name="box").exists()
    assert events(box) == []
    assert "Delete endpoint" not in client.get("/endpoints/claude/").text
    refused = client.post("/endpoints/claude/delete/")
    assert refused.status_code == 409 and "Opus writes, Sonnet assesses" in refused.text


def make_priced_call(endpoint: Endpoint, *, by: User, since: date | None = None) -> Attempt:
    """Create an answered call of the model llama at the price on that day."""
    run = make_run(by=by)
    call = make_call(run, "generate", endpoint=endpoint.name, model="llama")
    about = {"model": "llama", "configuration": run.configuration, "stage": "generate"}
    Spending.objects.create(day=date(2026, 11, 2), endpoint=endpoint, **about)
    return make_attempt(call, price_since=since, cost=1)


def test_price_is_added_by_day_and_kept_by_its_endpoint(client: Client, box: Endpoint) -> None:
    client.post("/endpoints/box/prices/", PRICE)
    client.post("/endpoints/box/prices/", {**PRICE, "since": "2026-12-01", "input": "0.000001"})
    prices = [(str(one.since), one.input, one.output) for one in box.prices.all()]
    assert prices == [("2026-12-01", 1, 1_500_000), ("2026-11-01", 250_000, 1_500_000)]
    assert events(box) == ["price added", "price added"]
    newest = box.prices.latest("since")
    assert client.post(f"/endpoints/claude/prices/{newest.pk}/remove/").status_code == 404


def test_refused_price_stays(client: Client, box: Endpoint, subtests: pytest.Subtests) -> None:
    box.prices.create(model="llama", since=date(2026, 11, 2))
    cases = {
        "the same day again": ("since", "2026-11-02", "Choose another date"),
        "long ago": ("since", "1999-01-01", "Enter a date in 2020 or later"),
        "no day": ("since", "soon", "Enter a valid date"),
        "less than nothing": ("input", "-1", "greater than or equal to 0"),
        "too dear": ("output", "20000", "less than or equal to 10000"),
        "too fine": ("input", "0.0000001", "6 decimal places"),
        "no model": ("model", " ", "This field is required"),
    }
    for name, (field, typed, said) in cases.items():
        form = {**PRICE, "source": "vendor", field: typed}
        with subtests.test(name):
            refused = client.post("/endpoints/box/prices/", form)
            assert refused.status_code == 422 and said in refused.text
            assert 'value="vendor"' in refused.text
            assert box.prices.count() == 1


def test_used_price_is_not_deleted(client: Client, box: Endpoint, reviewer: User) -> None:
    used = box.prices.create(model="llama", since=date(2026, 11, 1))
    unused = box.prices.create(model="llama", since=date(2026, 11, 20))
    make_priced_call(box, by=reviewer, since=used.since)
    page = client.get("/endpoints/box/").text
    assert page.count(">in use<") == 1 and f"prices/{unused.pk}/remove/" in page
    refused = client.post(f"/endpoints/box/prices/{used.pk}/remove/")
    assert refused.status_code == 409 and "Calls were counted at this price" in refused.text
    assert client.post(f"/endpoints/box/prices/{unused.pk}/remove/").status_code == 302
    assert list(box.prices.all()) == [used]


@pytest.mark.slow
def test_the_page_takes_a_fixed_number_of_queries(
    client: Client, box: Endpoint, reviewer: User
) -> None:
    few = count_queries(client, "/endpoints/box/")
    for number in range(10):
        box.prices.create(model=f"m{number}", since=date(2026, 11, 1))
    make_priced_call(box, by=reviewer)
    assert count_queries(client, "/endpoints/box/") == few <= 12


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def test_key_is_named_and_never_shown(key: None, client: Client) -> None:
    for address in ("/endpoints/", "/api/v1/endpoints/", "/api/v1/endpoints/claude/"):
        page = client.get(address).text
        assert "ANTHROPIC_API_KEY" in page and KEY not in page, address


def test_page_says_whether_it_is_on_and_whether_key_is_set(key: None, client: Client) -> None:
    page = client.get(reverse("endpoint-list")).text
    for words in ("by SCRIPTSMITH_ENDPOINTS", "is set", "not turned on here or by", "$2.00 input"):
        assert words in page
    Endpoint.objects.filter(name="claude").update(enabled=True)
    assert "turned on here" in client.get(reverse("endpoint-list")).text


def test_configurations_say_who_plays_which_role(client: Client) -> None:
    page = client.get(reverse("configuration-list")).text
    for words in ("claude-opus-5-5", "Peer review", "endpoint off", "available", "imports only"):
        assert words in page


@pytest.mark.slow
def test_lists_take_a_fixed_number_of_queries(client: Client) -> None:
    addresses = [reverse("endpoint-list"), reverse("configuration-list")]
    few = [count_queries(client, address) for address in addresses]
    for number in range(20):
        Endpoint.objects.create(name=f"local-{number}", title="Local", base_url="http://127.0.0.1")
        Configuration.objects.create(name=f"own-{number}", title="Own")
    assert [count_queries(client, address) for address in addresses] == few
    assert max(few) <= 9
