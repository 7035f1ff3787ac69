"""What the step that fills confirmations and raises risks does with rows that were there before it."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.contrib.auth.models import User
from django.db import connection

from catalog.entries import services
from catalog.models import Phrasing, Version
from tests.catalog.shelf import PLAIN, shelve

_STEP = import_module("catalog.migrations.0005_fill_confirmations_and_risks")
_BY_SHELLCHECK = {"check": "shellcheck", "outcome": "failed", "level": "warning", "code": "SC2034"}
_AN_ERROR = {"check": "risk", "outcome": "failed", "level": "error", "code": "unsafe_variable"}


def run_step() -> None:
    with connection.cursor() as cursor:
        for operation in _STEP.Migration.operations:
            cursor.execute(operation.sql)


@pytest.mark.slow
@pytest.mark.django_db
def test_what_stood_there_at_the_verification_was_confirmed_with_it_and_later_ones_wait(
    curator: User, second_curator: User
) -> None:
    verified = shelve(
        "Print the uptime",
        phrasings=["How long is it up?"],
        author=curator,
        verified_by=second_curator,
    )
    starter = shelve("Tell the date", script="date\n")
    waiting = shelve("Show who is there", script="who\n", state="in_review", author=curator)
    later = services.add_phrasing(verified.entry, text="Since when does it run?", by=curator)
    Phrasing.objects.update(
        added_by=None, confirmed_by=None, confirmed_at=None, self_confirmed=False
    )
    run_step()
    found = {one.text: one for one in Phrasing.objects.all()}
    for text in ("Print the uptime", "How long is it up?"):
        assert (found[text].added_by, found[text].confirmed_by) == (curator, second_curator)
    assert not found[starter.entry.title].waits and found[starter.entry.title].confirmed_by is None
    assert found[later.text].waits and found[waiting.entry.title].waits


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("risk", "findings", "raised"),
    [
        ("low", [], "low"),
        ("low", [_BY_SHELLCHECK], "low"),
        ("low", [_AN_ERROR | {"level": "warning", "code": "network"}], "medium"),
        ("medium", [_BY_SHELLCHECK, _AN_ERROR], "high"),
        ("medium", [_AN_ERROR | {"level": "warning"}], "high"),
        ("medium", [_AN_ERROR | {"outcome": "unscored"}], "medium"),
        ("high", [], "high"),
    ],
)
def test_no_risk_stays_below_the_worst_finding(
    risk: str, findings: list[dict[str, str]], raised: str
) -> None:
    version = shelve("Print the uptime", script=PLAIN)
    Version.objects.filter(pk=version.pk).update(risk=risk, findings=findings)
    run_step()
    version.refresh_from_db()
    assert version.risk == raised
