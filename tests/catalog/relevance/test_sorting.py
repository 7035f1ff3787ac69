"""Which way round a script sorts, as far as its text tells."""

from __future__ import annotations

from catalog.relevance.statement.sorting import direction_of, sorts_otherwise

DIRECTIONS = {
    "sort -n a.txt": "order:up",
    "sort a.txt | uniq -c | sort -rn": "order:down",
    "du -s * | sort -k1,1nr | head": "order:down",
    "sort --reverse a.txt": "order:down",
    "sort -rn a.txt | tac": "order:up",
    "ls -lS /var/log": "order:down",
    "ls -l -t -r": "order:up",
    "ps aux --sort=-%mem": "order:down",
    "ps -eo pid,rss --sort rss": "order:up",
    "sort -R a.txt": "order:up",
    "ls /srv/sort": "",
    "tac a.txt": "",
    "resort -r": "",
}


def test_the_last_sorting_of_a_script_has_a_direction() -> None:
    found = {script: direction_of(script) for script in DIRECTIONS}

    assert found == DIRECTIONS


def test_a_statement_that_says_both_directions_is_not_contradicted() -> None:
    assert sorts_otherwise(frozenset({"order:up"}), "sort -r x")
    assert not sorts_otherwise(frozenset({"order:up", "order:down"}), "sort -r x")
    assert not sorts_otherwise(frozenset(), "sort -r x")
    assert not sorts_otherwise(frozenset({"order:down"}), "cat x")
