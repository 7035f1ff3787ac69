"""The demo model repeats words of every language whole."""

from __future__ import annotations

import unicodedata

import pytest

from pipeline.standin.language.literals import find_mentions
from pipeline.standin.language.statement_comparison import list_differences


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_difference_names_whole_words(form: str) -> None:
    statement = unicodedata.normalize(form, "Prüfe, ob die Konfiguration gültig ist")
    (said,) = list_differences(statement, "It lists files.")
    for word in ("prüfe", "gültig"):
        assert unicodedata.normalize(form, word) in said.replace(",", " ").split()


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        pytest.param("Ping prüf-host-1", "prüf-host-1", id="before a hyphen"),
        pytest.param("Vacuum übungs_daten", "übungs_daten", id="at the start"),
        pytest.param("restart Übung", "Übung", id="a capital"),
    ],
)
def test_a_name_is_whole(sentence: str, name: str) -> None:
    assert [one.text for one in find_mentions(sentence)] == [name]
