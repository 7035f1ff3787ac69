"""Statements that say the same things the other way round."""

from __future__ import annotations

import pytest

from catalog.relevance.statement.argument_order import find_turned


@pytest.mark.parametrize(
    ("text", "other", "turned"),
    [
        pytest.param("Redirect http to https", "Redirect https to http", ("http", "https"), id="to"),
        pytest.param("Replace foo with bar in x", "Replace bar with foo in x", ("foo", "bar"), id="with"),
        pytest.param("Link the file 'x' to y", "Link y to the file 'x'", ("file", "y"), id="quoted"),
        pytest.param("List what came before noon", "List what came after noon", ("came", "noon"),
                     id="the opposite joint"),
        pytest.param("Read /a from /b", "Read /a into /b", ("/a", "/b"), id="from and into"),
        pytest.param("Copy /a to /b", "Copy to /b from /a", (), id="the same in another order"),
        pytest.param("Convert from a to b", "Convert a to b", (), id="more words"),
        pytest.param("Sort x, and copy y to z", "Copy y to z after a sort of x", (), id="a clause"),
        pytest.param("Copy a to b", "Copy a to b", (), id="itself"),
        pytest.param("", "to", (), id="nothing"),
        pytest.param("to to from with", "from to with to", (), id="nothing but joints"),
    ],
)  # fmt: skip
def test_what_stands_the_other_way_round_is_found(
    text: str, other: str, turned: tuple[str, ...]
) -> None:
    assert sorted(find_turned(text, other)) == sorted(turned)
