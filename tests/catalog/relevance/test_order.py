"""Statements that say the same things the other way round."""

from __future__ import annotations

from catalog.relevance.statement.argument_order import find_turned

TURNED: list[tuple[str, str, tuple[str, ...]]] = [
    ("Redirect http to https", "Redirect https to http", ("http", "https")),
    ("Replace foo with bar in x", "Replace bar with foo in x", ("foo", "bar")),
    ("Link the file 'x' to y", "Link y to the file 'x'", ("file", "y")),
    ("List what came before noon", "List what came after noon", ("came", "noon")),
    ("Read /a from /b", "Read /a into /b", ("/a", "/b")),
    ("Copy /a to /b", "Copy to /b from /a", ()),
    ("Convert from a to b", "Convert a to b", ()),
    ("Sort x, and copy y to z", "Copy y to z after a sort of x", ()),
    ("Copy a to b", "Copy a to b", ()),
    ("", "to", ()),
    ("to to from with", "from to with to", ()),
]


def test_what_stands_the_other_way_round_is_found() -> None:
    wrong = [
        (text, other, got)
        for text, other, turned in TURNED
        if (got := sorted(find_turned(text, other))) != sorted(turned)
    ]

    assert not wrong
