"""Letters of every language stay in their words, in whatever form they were typed."""

from __future__ import annotations

import unicodedata

import pytest

from catalog.relevance import Candidate, judge
from catalog.relevance.fitted.word_overlap import read_spelling, split_words

NGINX = Candidate(
    phrasing="Restart nginx if its configuration is valid",
    script="nginx -t && systemctl restart nginx",
    cosine=0.9,
)


WHOLE_WORDS = {
    "Ist sie gültig?": ["ist", "sie", "gültig"],
    "Straße, Größe": ["straße", "größe"],
    "Préfère l’œuvre": ["préfère", "l", "œuvre"],
    "Łódź ñandú": ["łódź", "ñandú"],
    "перезапусти nginx": ["перезапусти", "nginx"],
    "nginx を再起動。": ["nginx", "を再起動"],
    "हिन्दी में": ["हिन्दी", "में"],
    "/tmp/ärger/*.log": ["/tmp/ärger/*.log"],
}


def test_a_word_is_whole() -> None:
    assert {text: split_words(text) for text in WHOLE_WORDS} == WHOLE_WORDS
    for text, words in WHOLE_WORDS.items():
        assert split_words(unicodedata.normalize("NFD", text)) == words


def test_a_script_s_values_are_whole() -> None:
    assert "müll@größe.de" in read_spelling("mail müll@größe.de").values


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_what_differs_names_whole_words(form: str) -> None:
    statement = unicodedata.normalize(form, "Restart nginx, falls gültig für Müller")
    said = [str(one) for one in judge(statement, NGINX).differs]
    for word in ("gültig", "für", "Müller"):
        assert any(one.endswith(f" {unicodedata.normalize(form, word)}") for one in said), said
