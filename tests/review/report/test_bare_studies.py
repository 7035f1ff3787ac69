"""Tests that the report of a study with almost no data omits unknown values and shows no NaN or zero-width
intervals."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from review.campaigns.services import rules
from review.models import Campaign
from review.report.services import make_report
from tests.first_cases import first_cases
from tests.people import make_person
from tests.review.exchange.files import run_command, write_lines
from tests.review.study.made.maker import Maker
from tests.review.study.made.shapes import Shape

pytestmark = pytest.mark.django_db

BARE = {
    "all right": Shape(seed=35, items=24, right=1.0, careful=1.0, arms=("one", "two")),
    "one arm only retrieved": Shape(seed=40, items=6, retrieved=1.0, failed=0.0),
    "one statement": Shape(seed=37, items=12, per_statement=12, arms=("one", "two")),
    "one item": Shape(seed=31, items=1, overlap=1),
    "one item by two": Shape(seed=32, items=1, overlap=2, arms=("one", "two")),
    "one reviewer": Shape(seed=33, items=12, overlap=1),
    "all unknown": Shape(seed=34, items=12, unknown=1.0),
    "always alike": Shape(seed=36, items=30, right=0.5, careful=1.0, overlap=3, no_refined=0.0),
    "nothing scored": Shape(seed=38, items=6, missing=1.0),
    "all failed": Shape(seed=39, items=6, failed=1.0, arms=("one", "two")),
}


def bring_in(name: str, folder: Path) -> Campaign:
    made = Maker(BARE[name]).make()
    assert run_command("import_items", name, write_lines(folder / "items.jsonl", *made.items)) == 0
    if made.scores:
        assert (
            run_command("import_scores", name, write_lines(folder / "scores.jsonl", *made.scores))
            == 0
        )
    return Campaign.objects.get(name=name)


def parts_of(value: object, path: str = "") -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield every object in a document with its path."""
    if isinstance(value, Mapping):
        yield path, value
        for name, one in value.items():
            yield from parts_of(one, f"{path}/{name}")
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from parts_of(one, f"{path}/{place}")


def faults_of(document: object) -> Iterator[str]:
    for path, part in parts_of(document):
        low, high = part.get("low"), part.get("high")
        if low is not None and low == high:
            yield f"{path}: {low} to {high}"
        if (low is None) != (high is None):
            yield f"{path}: an interval with one end"
        if low is not None and part.get("value", part.get("krippendorff_alpha")) is None:
            yield f"{path}: an interval of nothing"
        for name, ends in part.items():
            if path.endswith("intervals") and isinstance(ends, list) and ends[0] == ends[1]:
                yield f"{path}/{name}: {ends}"
        counted = part.get("items", part.get("denominator", 0))
        if part.get("p_value") is not None and "primary" not in path and not counted:
            yield f"{path}: p without n"


def read_page(client: Client, campaign: Campaign) -> list[str]:
    """Return the forbidden words found in the text of the report's page."""
    found = []
    for criterion in ("strict", "partial"):
        answer = client.get(f"/campaigns/{campaign.pk}/report/?criterion={criterion}")
        assert answer.status_code == 200
        words = html.unescape(re.sub(r"<[^>]+>", " ", answer.text))
        found += re.findall(r"\b(?:nan|NaN|inf|None|null)\b", words)
        for one, _unit, other in re.findall(r"([+−-]?\d+\.\d+)( %)? to ([+−-]?\d+\.\d+)", words):
            if one == other:
                found.append(f"{one} to {other}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", first_cases(3, BARE))
def test_nothing_is_said_that_the_study_does_not_hold(
    name: str, tmp_path: Path, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    client.force_login(make_person("mona", "manager"))
    campaign = bring_in(name, tmp_path)
    capsys.readouterr()
    call_command("study_report", name, "--json")
    said = capsys.readouterr().out

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in the report")

    assert not list(faults_of(json.loads(said, parse_constant=refuse)))
    assert not list(faults_of(make_report(campaign)))
    assert not read_page(client, campaign)


def test_a_study_without_items_has_a_report(
    manager: User, as_manager: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = rules.create_campaign("Empty", by=manager)
    capsys.readouterr()
    call_command("study_report", "Empty", "--json")

    assert json.loads(capsys.readouterr().out)["items"] == 0
    assert "Nothing to report yet" in as_manager.get(f"/campaigns/{campaign.pk}/report/").text
    assert not read_page(as_manager, campaign)
