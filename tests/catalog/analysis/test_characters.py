"""Hidden and look-alike characters, where they stand and what they are called."""

from __future__ import annotations

import pytest

from catalog.analysis import find_hidden_characters, find_odd_in_words


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Delete a\u200bb", [(8, "zero_width")], id="zero width"),
        pytest.param("Delete \u202egpj.x\u202c", [(7, "bidi_control"), (13, "bidi_control")], id="bidi"),
        pytest.param("Delete\u00a0x", [(6, "odd_space")], id="odd space"),
        pytest.param("Clear\x1b[2J", [(5, "control_character")], id="escape"),
        pytest.param("Restart p\u0430ypal", [(9, "look_alike")], id="a Cyrillic letter in a word"),
        pytest.param("Show \u0441\u0440u", [(5, "look_alike"), (6, "look_alike")], id="two of them"),
        pytest.param("Show \u0441\u0440\u0440", [(5, "look_alike"), (6, "look_alike"), (7, "look_alike")],
                     id="a word of nothing else"),
        pytest.param("\u0423\u0434\u0430\u043b\u0438 p\u0430ypal", [(7, "look_alike")], id="in Russian"),
        pytest.param("\uff52m files", [(0, "look_alike")], id="full width"),
        pytest.param("List /etc\u2215passwd", [(9, "look_alike")], id="a slash"),
    ],
)  # fmt: skip
def test_in_words_it_is_found_too(text: str, expected: list[tuple[int, str]]) -> None:
    assert [(one.offset, one.kind) for one in find_odd_in_words(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Delete logs older than 7 days", id="English"),
        pytest.param("Удали файлы nginx с хоста а", id="Russian"),
        pytest.param("sıkıştır dosyaları", id="Turkish"),
        pytest.param("Διάγραψε τα αρχεία", id="Greek"),
        pytest.param("Größe von /srv – “jetzt” – it’s 10² m", id="typography"),
        pytest.param("日本語のファイル 👩\u200d💻", id="Japanese and emoji"),
        pytest.param("two\r\nlines\tand a tab", id="line ends and tabs"),
        pytest.param("", id="nothing"),
    ],
)
def test_ordinary_words_are_not_marked(text: str) -> None:
    assert find_odd_in_words(text) == ()
