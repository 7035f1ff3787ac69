"""The demo model repeats words of every language whole."""

from __future__ import annotations

import unicodedata

import pytest

from pipeline.standin.language.literals import find_mentions
from pipeline.standin.language.statement_comparison import list_differences


def test_a_difference_names_whole_words(subtests: pytest.Subtests) -> None:
    cases = ("NFC", "NFD")
    for form in cases:
        with subtests.test(form):
            statement = unicodedata.normalize(form, "Prüfe, ob die Konfiguration gültig ist")
            (said,) = list_differences(statement, "It lists files.")
            for word in ("prüfe", "gültig"):
                assert unicodedata.normalize(form, word) in said.replace(",", " ").split()


def test_a_name_is_whole() -> None:
    cases = {
        "before a hyphen": ("Ping prüf-host-1", "prüf-host-1"),
        "at the start": ("Vacuum übungs_daten", "übungs_daten"),
        "a capital": ("restart Übung", "Übung"),
    }
    wrong = {
        label: got
        for label, (sentence, name) in cases.items()
        if (got := [one.text for one in find_mentions(sentence)]) != [name]
    }
    assert not wrong
