"""A world as a small tree."""

from __future__ import annotations

import pytest

from catalog.evidence.services.world_trees import DEEPEST, MOST_ROWS, TreeRow, world_tree

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


def test_the_tree(subtests: pytest.Subtests) -> None:
    for name, (world, seen, rows) in TREES.items():
        with subtests.test(name):
            assert list(world_tree(world, seen)) == rows


def test_a_large_or_deep_world_is_cut() -> None:
    many = {"files": [{"path": f"/srv/{number}"} for number in range(150)]}
    rows = world_tree(many, {})
    assert len(rows) == MOST_ROWS + 1 and rows[-1].name == "… 91 more"
    deep = {"files": [{"path": "/a" * 400 + f"/{name}"} for name in "xy"]}
    assert max(row.depth for row in world_tree(deep, {})) <= DEEPEST
