"""Tests for the positions and names of hidden and look-alike characters."""

from __future__ import annotations

import pytest

from catalog.analysis import find_hidden_characters, find_odd_in_words

HIDDEN = [
    ("ls a\u200bb", [(1, 5, "zero_width", "ZERO WIDTH SPACE")]),
    ("\ufeffls", [(1, 1, "zero_width", "ZERO WIDTH NO-BREAK SPACE")]),
    ("# \u202eabc", [(1, 3, "bidi_control", "RIGHT-TO-LEFT OVERRIDE")]),
    ("ls\u00a0-l", [(1, 3, "odd_space", "NO-BREAK SPACE")]),
    ("ls\n\n\x1b[2J", [(3, 1, "control_character", "ESCAPE")]),
    ("ls\rrm", [(1, 3, "control_character", "CARRIAGE RETURN")]),
    ("rm \u2013r x", [(1, 4, "look_alike", "EN DASH")]),
    ("\u0440wd", [(1, 1, "look_alike", "CYRILLIC SMALL LETTER ER")]),
    ("\uff4cs", [(1, 1, "look_alike", "FULLWIDTH LATIN SMALL LETTER L")]),
    ("sudo \u0440wd", [(1, 6, "look_alike", "CYRILLIC SMALL LETTER ER")]),
    ("ls\necho \u2018a\u2019",
     [(2, 6, "look_alike", "LEFT SINGLE QUOTATION MARK"), (2, 8, "look_alike", "RIGHT SINGLE QUOTATION MARK")]),
]  # fmt: skip


def test_a_character_is_found_and_named(subtests: pytest.Subtests) -> None:
    for script, expected in HIDDEN:
        with subtests.test(script):
            found = find_hidden_characters(script)
            assert [(one.line, one.column, one.kind, one.name) for one in found] == expected
            assert all(script[one.offset] == one.character for one in found)


ORDINARY = [
    "echo 'Привет, мир'  # комментарий", "ls /srv/Übersicht/日本", "echo '“quoted” – with a dash'",
    "echo 👩\u200d💻 ❤\ufe0f", "# می\u200cخواهم", "ls\r\nls\r\n\tls\n",
]  # fmt: skip


def test_ordinary_text_is_not_marked() -> None:
    assert [text for text in ORDINARY if find_hidden_characters(text)] == []


IN_WORDS = {
    "Delete a\u200bb": [(8, "zero_width")],
    "Delete \u202egpj.x\u202c": [(7, "bidi_control"), (13, "bidi_control")],
    "Delete\u00a0x": [(6, "odd_space")],
    "Clear\x1b[2J": [(5, "control_character")],
    "Restart p\u0430ypal": [(9, "look_alike")],
    "Show \u0441\u0440u": [(5, "look_alike"), (6, "look_alike")],
    "Show \u0441\u0440\u0440": [(5, "look_alike"), (6, "look_alike"), (7, "look_alike")],
    "\u0423\u0434\u0430\u043b\u0438 p\u0430ypal": [(7, "look_alike")],
    "\uff52m files": [(0, "look_alike")],
    "List /etc\u2215passwd": [(9, "look_alike")],
}


def test_in_words_it_is_found_too() -> None:
    found = {text: [(one.offset, one.kind) for one in find_odd_in_words(text)] for text in IN_WORDS}
    assert found == IN_WORDS


ORDINARY_WORDS = [
    "Delete logs older than 7 days", "Удали файлы nginx с хоста а", "sıkıştır dosyaları",
    "Διάγραψε τα αρχεία", "Größe von /srv – “jetzt” – it’s 10² m", "日本語のファイル 👩\u200d💻",
    "two\r\nlines\tand a tab", "",
]  # fmt: skip


def test_ordinary_words_are_not_marked() -> None:
    assert [text for text in ORDINARY_WORDS if find_odd_in_words(text)] == []
