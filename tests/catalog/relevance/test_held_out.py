"""Tests for grouping related public pairs, so that held-out pairs stay unseen."""

from __future__ import annotations

from bench.catalog.held_out import Pair, join, make_task, normalize, reduce, split

SAME = [
    ("find -name x", "find . -name 'x'"),
    ("find /a -print", "find /a"),
    ("find /a -print | wc -l", "find /a | wc -l"),
    ("find /a -exec ls {} +", r"find /a -exec ls {} \;"),
    ("find /a -exec ls {} ';'", r"find /a -exec ls {} \;"),
    ("find /a -print0 | xargs -0 ls", "find /a | xargs ls"),
    ("chmod 0644 f", "chmod 644 f"),
    ('echo "a"  b', "echo a b"),
]


def test_only_equal_scripts_are_normalized_alike() -> None:
    apart = [pair for pair in SAME if normalize(pair[0]) != normalize(pair[1])]
    assert not apart
    one = [pair for pair in OTHER if normalize(pair[0]) == normalize(pair[1])]
    assert not one


OTHER = [
    ("ls -l -a", "ls -a -l"),
    ("find . -name x", "find . -iname x"),
    ("find . -name x", "find ./ -name x"),
    ("find /a -print -delete", "find /a -delete"),
]


def test_equal_texts_form_one_component() -> None:
    assert reduce('List the "a" folders in a folder.') == "list directories in directory"
    texts = [("list x", "ls x"), ("show x", "ls 'x'"), ("Show x.", "dir x"), ("list y", "ls y")]
    first, second, third, other = join(texts)
    assert first == second == third != other


def test_a_task_has_an_answer_for_half_of_its_queries_and_shows_none_of_them() -> None:
    pairs = [
        Pair(f"{verb} {number}", f"ls {number}", number)
        for number in range(40)
        for verb in ("list", "show", "print")
    ]
    parts = split((pair.component for pair in pairs), parts=4, seed=1)
    known = frozenset().union(*parts)

    task = make_task(pairs, known=known, asked=parts[0], seed=2)

    shown = {pair.component for pair in task.catalogue}
    assert len(task.catalogue) == len(shown) == 35
    answerable = [pair for pair in task.queries if pair.component in shown]
    assert len(answerable) * 2 == len(task.queries) == 20
    assert {pair.component for pair in task.queries} <= parts[0]
    assert not {pair.statement for pair in task.queries} & {p.statement for p in task.catalogue}
