"""Hidden and look-alike characters, where they stand and what they are called."""

from __future__ import annotations

import pytest

from catalog.analysis import find_hidden_characters


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param("ls a\u200bb", [(1, 5, "zero_width", "ZERO WIDTH SPACE")], id="zero width"),
        pytest.param("\ufeffls", [(1, 1, "zero_width", "ZERO WIDTH NO-BREAK SPACE")], id="BOM"),
        pytest.param("# \u202eabc", [(1, 3, "bidi_control", "RIGHT-TO-LEFT OVERRIDE")], id="bidi"),
        pytest.param("ls\u00a0-l", [(1, 3, "odd_space", "NO-BREAK SPACE")], id="odd space"),
        pytest.param("ls\n\n\x1b[2J", [(3, 1, "control_character", "ESCAPE")], id="escape"),
        pytest.param(
            "ls\rrm", [(1, 3, "control_character", "CARRIAGE RETURN")], id="a lone return"
        ),
        pytest.param("rm \u2013r x", [(1, 4, "look_alike", "EN DASH")], id="a dash"),
        pytest.param(
            "\u0440wd", [(1, 1, "look_alike", "CYRILLIC SMALL LETTER ER")], id="a Cyrillic letter"
        ),
        pytest.param(
            "\uff4cs", [(1, 1, "look_alike", "FULLWIDTH LATIN SMALL LETTER L")], id="full width"
        ),
        pytest.param(
            "sudo \u0440wd", [(1, 6, "look_alike", "CYRILLIC SMALL LETTER ER")], id="behind sudo"
        ),
        pytest.param(
            "ls\necho \u2018a\u2019",
            [
                (2, 6, "look_alike", "LEFT SINGLE QUOTATION MARK"),
                (2, 8, "look_alike", "RIGHT SINGLE QUOTATION MARK"),
            ],
            id="curly quotes",
        ),
    ],
)
def test_a_character_is_found_and_named(
    script: str, expected: list[tuple[int, int, str, str]]
) -> None:
    found = find_hidden_characters(script)
    assert [(one.line, one.column, one.kind, one.name) for one in found] == expected
    assert all(script[one.offset] == one.character for one in found)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("echo 'Привет, мир'  # комментарий", id="text of another language"),
        pytest.param("ls /srv/Übersicht/日本", id="file names"),
        pytest.param("echo '“quoted” – with a dash'", id="typography in a string"),
        pytest.param("echo 👩\u200d💻 ❤\ufe0f", id="emoji"),
        pytest.param("# می\u200cخواهم", id="Persian"),
        pytest.param("ls\r\nls\r\n\tls\n", id="line ends and tabs"),
    ],
)
def test_ordinary_text_is_not_marked(script: str) -> None:
    assert find_hidden_characters(script) == ()
