"""Which way round a script sorts, as far as its text tells."""

from __future__ import annotations

import pytest

from catalog.relevance.statement.sorting import direction_of, sorts_otherwise


@pytest.mark.parametrize(
    ("script", "direction"),
    [
        ("sort -n a.txt", "up"),
        ("sort a.txt | uniq -c | sort -rn", "down"),
        ("du -s * | sort -k1,1nr | head", "down"),
        ("sort --reverse a.txt", "down"),
        ("sort -rn a.txt | tac", "up"),
        ("ls -lS /var/log", "down"),
        ("ls -l -t -r", "up"),
        ("ps aux --sort=-%mem", "down"),
        ("ps -eo pid,rss --sort rss", "up"),
        ("sort -R a.txt", "up"),
        ("ls /srv/sort", ""),
        ("tac a.txt", ""),
        ("resort -r", ""),
    ],
)
def test_the_last_sorting_of_a_script_has_a_direction(script: str, direction: str) -> None:
    assert direction_of(script) == (direction and f"order:{direction}")


def test_a_statement_that_says_both_directions_is_not_contradicted() -> None:
    assert sorts_otherwise(frozenset({"order:up"}), "sort -r x")
    assert not sorts_otherwise(frozenset({"order:up", "order:down"}), "sort -r x")
    assert not sorts_otherwise(frozenset(), "sort -r x")
    assert not sorts_otherwise(frozenset({"order:down"}), "cat x")
