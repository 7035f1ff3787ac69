"""A study whose scripts were run in sandbox tests and whose reviewers have scored all items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoDbBlocker

from catalog.models import CaseSet, CheckResult, Execution
from catalog.services import keep_case_set
from review import services
from review.evidence.campaign_cases import fix_cases
from review.models import Campaign, Item
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.execution.conftest import availability, sandbox
from tests.people import make_person
from tests.review.desk.test_desk import score_next
from tests.review.maker import make_study

__all__ = ["availability", "sandbox"]

CASE = {
    "title": "a quiet world",
    "about": "List",
    "kind": "empty",
    "expect": [{"check": "stdout_contains", "text": "<b>x</b>"}],
}
CHECKS = (
    {"check": "removed", "exactly": []},
    {"check": "exit_status", "equals": 0},
    {"check": "stdout_contains", "text": "x"},
)


def write_cases(statement: str, *, title: str = "a world") -> CaseSet:
    """Create two sandbox tests, one with three checks and one with a single check."""
    about = " ".join(statement.split()[:3])
    first = case_data(*CHECKS, about=about, title=title)
    second = case_data({"check": "exit_status", "equals": 0}, about=about, title="nothing there")
    return keep_case_set(make_set(first, second, statement=statement), by=None)


def store(sha256: str, case_set: CaseSet, states: str, **fields: object) -> Execution:
    """Store a result with one state for each check: p, f, u (unsupported), n (not run) or s (unstable)."""
    words = {"p": "passed", "f": "failed", "u": "unsupported", "n": "not run", "s": "unstable"}
    places = [
        (case, number)
        for case, one in enumerate(case_set.content["cases"], 1)
        for number, _check in enumerate(one["expect"], 1)
    ]
    values = {
        "state": next((words[one] for one in "nfp" if one in states), words[states[0]]),
        "reason": "no sandbox here" if "n" in states else "",
        "fingerprint": {"bash": "5.2"},
        "fingerprint_sha256": "0" * 64,
        **fields,
    }
    execution = Execution.objects.create(
        script_sha256=sha256,
        case_set=case_set,
        passed=states.count("p"),
        failed=states.count("f"),
        others=len(states) - states.count("p") - states.count("f"),
        document={"sentence": "What it did.", "worlds": [], "quality": None},
        **values,
    )
    CheckResult.objects.bulk_create(
        CheckResult(
            execution=execution,
            case_number=case,
            number=number,
            case_title=case_set.content["cases"][case - 1]["title"],
            sentence=f"check {case}.{number}",
            state=words[state],
            got="something else" if state == "f" else "",
        )
        for (case, number), state in zip(places, states, strict=True)
    )
    return execution


def run_scripts(item: Item, states: Mapping[str, str]) -> CaseSet:
    """Write tests for the item's request, and store the results of its first and its refined script."""
    case_set = write_cases(item.run.action.statement)
    for kind, draft in zip(("script", "refined"), item.run.drafts.order_by("number"), strict=True):
        if kind in states:
            store(draft.sha256, case_set, states[kind])
    return case_set


@pytest.fixture
def manager(study: Campaign) -> User:
    return User.objects.get(username="mona")


@pytest.fixture
def reviewer(study: Campaign) -> User:
    return User.objects.get(username="rita")


@pytest.fixture
def second_reviewer(study: Campaign) -> User:
    return User.objects.get(username="rolf")


@pytest.fixture
def study(study_key: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=study_key)


@pytest.fixture
def item(study: Campaign) -> Item:
    """Return an item that both reviewers scored correct, although a check of its script failed."""
    return study.items.order_by("pk")[1]


@pytest.fixture(scope="module")
def study_key(module_rows: None, django_db_blocker: DjangoDbBlocker) -> int:
    """Run `make_scored_study` once per module, with the manager mona and the reviewers rita and rolf."""
    with django_db_blocker.unblock():
        manager = make_person("mona", "manager")
        people = [make_person(name, "reviewer") for name in ("rita", "rolf")]
        return make_scored_study(manager, people).pk


def make_scored_study(manager: User, reviewers: Sequence[User]) -> Campaign:
    """Create a study that shows execution, with five items. Some items have no verdict or no tests."""
    campaign = make_study(
        by=manager, reviewers=reviewers, items=5, overlap=2, hides_execution=False
    )
    items = list(campaign.items.order_by("pk"))
    run_scripts(items[0], {"script": "pppp", "refined": "pppp"})
    run_scripts(items[1], {"script": "ppfp", "refined": "pppp"})
    run_scripts(items[2], {"script": "pppu", "refined": "fppp"})
    run_scripts(items[3], {"script": "uuss"})
    fix_cases(campaign)
    for item, values in zip(
        items, ((2, 2, 2), (2, 2, 2), (0, 2, 2), (1, 2, 2), (2, 2, 2)), strict=True
    ):
        for person in reviewers:
            services.claim_item(item, by=person)
            for value in values:
                score_next(item, person, value)
    return campaign
