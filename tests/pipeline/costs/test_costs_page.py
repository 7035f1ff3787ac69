"""Tests that the page, the file and the API show the same costs."""

from __future__ import annotations

import csv
import io
from datetime import date

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.costs.forms import CostForm
from pipeline.costs.services import By, CostQuery, Per, check_query, default_range
from pipeline.models import Batch, Configuration, Endpoint, Spending
from tests import people
from tests.people import ClientFor
from tests.query_counts import count_queries

client = people.as_manager

pytestmark = pytest.mark.django_db
RANGE = "since=2026-10-01&until=2026-11-20"
HOSTILE = '=HYPERLINK("http://x")</td><script>alert(1)</script>'


def spend(
    day: str, *, endpoint: str = "claude", batch: Batch | None = None, **sums: object
) -> None:
    values = {
        "model": "claude-sonnet-5-5",
        "stage": "describe",
        "attempts": 2,
        "answered": 2,
        "input_tokens": 1_000,
        "output_tokens": 200,
        "milliseconds": 4_000,
        **sums,
    }
    Spending.objects.create(
        day=day,
        endpoint=Endpoint.objects.get(name=endpoint),
        configuration=Configuration.objects.get(name=str(values.pop("configuration", "demo"))),
        batch=batch,
        **values,
    )


@pytest.fixture
def spent() -> Batch:
    """Create spending in two months: with a price, free of charge, without a price, and for a lost call."""
    batch = Batch.objects.create(name=HOSTILE)
    spend("2026-10-05", cost=4_000, configuration="claude-peer-review")
    spend("2026-11-02", cost=1_234_000, batch=batch, configuration="claude-peer-review")
    spend("2026-11-02", endpoint="demo", model="demo-smith", stage="generate")
    spend("2026-11-03", endpoint="ollama", model="llama3.1:8b", unpriced=2)
    spend("2026-11-04", attempts=1, answered=0, possibly_billed=1, input_tokens=0, output_tokens=0)
    return batch


def read_file(client: Client, address: str) -> list[dict[str, str]]:
    content = b"".join(client.get(f"{reverse('cost-export')}?{address}").streaming_content)
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_page_says_what_was_paid_for_what_and_what_is_missing(spent: Batch, client: Client) -> None:
    page = client.get(f"{reverse('cost')}?{RANGE}").text
    for words in (
        "$1.24",
        "October 2026",
        "November 2026",
        "2 replies from llama3.1:8b at Ollama on this machine, because their price on that day",
        "An administrator can add prices",
        "2 calls to the demo model are free",
        "badge-demo",
    ):
        assert words in page, words
    assert "Add a price" not in page
    assert f'href="{reverse("cost")}?since=2026-11-01&amp;until=2026-11-20&amp;per=day' in page
    assert page.count("<title>") >= 3, "the bars say what they are when pointed at"


def test_batch_filter_and_unpriced_models_are_shown(spent: Batch, client: Client) -> None:
    page = client.get(f"{reverse('cost')}?since=2026-11-03&until=2026-11-03&per=day").text
    assert "$0.00" not in page
    assert "2 without a price" in page
    page = client.get(f"{reverse('cost')}?{RANGE}&batch={spent.pk}").text
    assert "$1.23" in page
    assert "llama3.1" not in page
    assert "Clear" in page


def test_an_administrator_is_led_to_where_prices_are_added(
    spent: Batch, client_for: ClientFor, administrator: User
) -> None:
    page = client_for(administrator).get(f"{reverse('cost')}?{RANGE}").text
    assert "Add a price" in page
    assert f'<a href="{reverse("cost")}"' in page, "the navigation leads here"


def test_address_narrows_costs(spent: Batch, client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "configuration": ("by=configuration", {"Opus writes, Sonnet assesses", "Demo model"}),
        "stage": ("by=stage", {"Describe", "Write"}),
        "batch": ("by=batch", {"No batch"}),
        "model": ("by=model", {"demo-smith", "llama3.1:8b", "claude-sonnet-5-5"}),
        "one": ("by=model&configuration=claude-peer-review", {"claude-sonnet-5-5"}),
        "time": ("show=time", {"4.0 s"}),
        "day by day": ("per=day", {"2026-11-02", "2026-10-05"}),
    }
    for label, (query, names) in cases.items():
        with subtests.test(label):
            page = client.get(f"{reverse('cost')}?{RANGE}&{query}").text
            assert {name for name in names if name in page} == names
            assert "<script>alert" not in page


def test_the_file_has_the_same_numbers_and_no_formula(spent: Batch, client: Client) -> None:
    rows = read_file(client, f"{RANGE}&by=batch&per=day")
    assert {row["batch"][:2] for row in rows} == {"", "'="}
    paid = next(row for row in rows if row["batch"])
    assert (paid["period"], paid["cost_usd"], paid["calls"]) == ("2026-11-02", "1.234000", "2")
    by_model = read_file(client, RANGE)
    unknown = next(row for row in by_model if row["model"] == "llama3.1:8b")
    assert (unknown["cost_usd"], unknown["unpriced"]) == ("", "2"), "not known is not nothing"
    assert sum(float(row["cost_usd"] or 0) for row in by_model) == pytest.approx(1.238)


def test_the_api_gives_rows_sums_and_what_is_missing(spent: Batch, client: Client) -> None:
    said = client.get(f"/api/v1/spending/?{RANGE}&by=configuration").json()
    assert (said["since"], said["per"], said["by"]) == ("2026-10-01", "month", "configuration")
    assert said["total"]["cost"] == pytest.approx(1.238)
    assert (said["total"]["calls"], said["total"]["possibly_billed"]) == (9, 1)
    assert said["unpriced"] == [{"endpoint": "ollama", "model": "llama3.1:8b", "calls": 2}]
    row = next(row for row in said["rows"] if row["key"] == "claude-peer-review")
    assert (row["period"], row["sums"]["cost"]) == ("2026-10-01", 0.004)


@pytest.mark.parametrize("address", ["/cost/", "/cost/export/", "/api/v1/spending/"])
def test_senseless_range_is_refused(client: Client, address: str) -> None:
    cases = {
        "no day": "since=yesterday",
        "turned round": "since=2026-11-02&until=2026-11-01",
        "too many days": "since=2025-01-01&until=2026-11-01&per=day",
        "a thousand years": "since=1026-11-02",
        "no such difference": "by=colour",
        "no batch": "batch=all",
    }
    found = {name: client.get(f"{address}?{query}").status_code for name, query in cases.items()}
    assert found == dict.fromkeys(cases, 422)


def test_where_nothing_was_asked_it_says_so(client: Client) -> None:
    assert "No model calls in this period" in client.get(reverse("cost")).text


@pytest.mark.slow
def test_it_takes_a_fixed_number_of_queries(client: Client) -> None:
    addresses = [f"{reverse('cost')}?{RANGE}&by={by}" for by in By]
    addresses.append(f"/api/v1/spending/?{RANGE}")
    spend("2026-11-01", unpriced=1, batch=Batch.objects.create(name="First"))
    few = [count_queries(client, address) for address in addresses]
    for number in range(20):
        batch = Batch.objects.create(name=f"Batch {number}")
        spend("2026-11-02", batch=batch, model=f"m-{number}", unpriced=1, stage=f"s-{number}")
    assert [count_queries(client, address) for address in addresses] == few
    assert max(few) <= 8


def query(since: str, until: str, per: Per = Per.MONTH) -> CostQuery:
    return CostQuery(since=date.fromisoformat(since), until=date.fromisoformat(until), per=per)


def test_every_period_of_the_range_has_its_place() -> None:
    cases = {
        "one month": (query("2026-01-31", "2026-01-31"), ["2026-01-01"]),
        "over the year's end": (
            query("2025-11-15", "2026-02-01"),
            ["2025-11-01", "2025-12-01", "2026-01-01", "2026-02-01"],
        ),
        "days of a leap year": (
            query("2024-02-28", "2024-03-01", Per.DAY),
            ["2024-02-28", "2024-02-29", "2024-03-01"],
        ),
    }
    wrong = {
        name: got
        for name, (asked, periods) in cases.items()
        if (got := [period.isoformat() for period in check_query(asked).periods]) != periods
    }
    assert not wrong


def test_the_range_where_none_is_named() -> None:
    cases = {
        "thirty days": (Per.DAY, "2026-03-01", "2026-01-31"),
        "the whole year": (Per.MONTH, "2026-12-31", "2026-01-01"),
        "twelve months": (Per.MONTH, "2026-01-15", "2025-02-01"),
    }
    wrong = {
        name: got
        for name, (per, until, since) in cases.items()
        if (got := default_range(per, until=date.fromisoformat(until)).isoformat()) != since
    }
    assert not wrong


def test_the_bar_above_the_page_shows_the_range_that_is_used() -> None:
    form = CostForm({"per": "day", "until": "2026-03-01"})
    assert form.is_valid()
    assert (form.data["since"], form.query.by) == (
        default_range(Per.DAY, until=form.query.until).isoformat(),
        By.MODEL,
    )
