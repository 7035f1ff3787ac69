"""Tests that the text and file trees next to a result claim no more than the result shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from django.template.loader import render_to_string
from django.utils import timezone

from catalog.evidence.services.world_trees import DEEPEST, MOST_ROWS, TreeRow, world_tree
from catalog.execution.cases import State
from pipeline.flow.ports import CheckSeen, Executed
from pipeline.flow.stages.execute import STAGE, outcome_of
from tests.catalog.evidence.test_pages import words
from tests.catalog.execution.cases.writing import make_set

TICK, CROSS = "M3 8.5 6.5 12 13 4.5", "m4 4 8 8m0-8-8 8"


def badge(**figures: Any) -> str:
    values = {"judged": 4, "passed": 4, "failed": 0, "worlds": 2, "small_errors": 0, "noticed": 0}
    evidence = SimpleNamespace(
        **{**values, "others": 0, "environment": "", "at": timezone.now(), **figures}
    )
    return render_to_string("catalog/evidence/_badge.html", {"evidence": evidence})


def test_there_is_no_tick_without_an_error_that_is_noticed() -> None:
    assert TICK in badge(small_errors=13, noticed=11)
    for figures in ({}, {"small_errors": 13, "noticed": 0}):
        assert TICK not in badge(**figures)
    assert "mutation score not measured" in words(badge())
    assert "0 of 13 mutations caught" in words(badge(small_errors=13))
    assert CROSS in badge(failed=1, passed=3)


def test_what_the_quality_lists_is_what_it_says() -> None:
    quality = {
        "small_errors": 2, "noticed": 1, "not_noticed": [], "without_verdict": ["`+7` becomes `+8`"],
        "pass_without_work": [], "guards": ["nothing there"], "never_failing": ["one: adds no files"],
        "not_about_the_world": ["two: prints nothing"], "failing_calls": [], "robustness": [], "not_tried": [],
    }  # fmt: skip
    page = words(render_to_string("catalog/evidence/_quality.html", {"quality": quality}))
    assert "Checks also passed by doing nothing one: adds no files" in page
    assert "Checks also passed in an empty scenario two: prints nothing" in page
    assert "Guard tests (the script should change nothing) nothing there" in page
    assert "Mutations with an inconclusive result +7 becomes +8" in page
    assert "cannot fail" not in page


def test_a_worker_that_is_missed_was_missed_for_two_minutes() -> None:
    evidence = {"sandbox": None, "executions": [], "is_under_way": True, "is_followed": False}
    page = render_to_string("catalog/evidence/_standing.html", {"evidence": evidence})
    assert "in the last two minutes" in page


def test_all_checks_hold_only_where_each_has_a_verdict() -> None:
    for states, outcome in (
        ((State.PASSED,), "holds"),
        ((State.PASSED, State.UNSUPPORTED), "partly"),
        ((State.UNSUPPORTED,), "no_verdict"),
        ((State.PASSED, State.UNSUPPORTED, State.FAILED), "fails"),
    ):
        checks = tuple(CheckSeen(1, number, "", state) for number, state in enumerate(states, 1))
        assert outcome_of(Executed(case_set=make_set(), checks=checks)) == outcome
        assert outcome in STAGE.outcomes


WORLD = {"files": [{"path": "/var/log/app/a.log", "age": "9d"}, {"path": "/var/log/app/b.log"}]}


TREES = {
    "nothing": ({}, {}, []),
    "folders that hold one folder stand in one row":
     (WORLD, {"removed": ["/var/log/app/a.log"], "added": ["/var/log/app/c.log"]},
     [TreeRow(0, "var/log/app/", "", ""), TreeRow(1, "a.log", "9d old", "removed"), TreeRow(1, "b.log", "", ""),
     TreeRow(1, "c.log", "", "added")]),
    "a folder that went":
     ({"files": [{"path": "/srv/x", "kind": "folder", "mode": "750"}]}, {"removed": ["/srv/x"]},
     [TreeRow(0, "srv/", "", ""), TreeRow(1, "x", "folder, 750", "removed")]),
    "a chain beside a branch":
     ({"files": [{"path": "/a/b/c"}, {"path": "/a/d"}, {"path": "/e/f/g"}]}, {},
     [TreeRow(0, "a/", "", ""), TreeRow(1, "b/", "", ""), TreeRow(2, "c", "", ""), TreeRow(1, "d", "", ""), TreeRow(0,
     "e/f/", "", ""), TreeRow(1, "g", "", "")]),
    "hostile names": ({"files": [{"path": "/x\u202egpj", "link": "/\x1b[2J"}]}, {}, [TreeRow(0, "x\\u202egpj",
     "→ /\\x1b[2J", "")]),
}  # fmt: skip


def test_the_tree() -> None:
    found = {name: list(world_tree(world, seen)) for name, (world, seen, _rows) in TREES.items()}
    assert found == {name: rows for name, (_world, _seen, rows) in TREES.items()}


def test_a_large_or_deep_world_is_cut() -> None:
    many = {"files": [{"path": f"/srv/{number}"} for number in range(150)]}
    rows = world_tree(many, {})
    assert len(rows) == MOST_ROWS + 1 and rows[-1].name == "… 91 more"
    deep = {"files": [{"path": "/a" * 400 + f"/{name}"} for name in "xy"]}
    assert max(row.depth for row in world_tree(deep, {})) <= DEEPEST
