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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("Ist sie gültig?", ["ist", "sie", "gültig"], id="umlaut"),
        pytest.param("Straße, Größe", ["straße", "größe"], id="sharp s"),
        pytest.param("Préfère l’œuvre", ["préfère", "l", "œuvre"], id="French"),
        pytest.param("Łódź ñandú", ["łódź", "ñandú"], id="Polish and Spanish"),
        pytest.param("перезапусти nginx", ["перезапусти", "nginx"], id="Russian"),
        pytest.param("nginx を再起動。", ["nginx", "を再起動"], id="Japanese"),
        pytest.param("हिन्दी में", ["हिन्दी", "में"], id="vowel signs and not only letters"),
        pytest.param("/tmp/ärger/*.log", ["/tmp/ärger/*.log"], id="path"),
    ],
)
def test_a_word_is_whole(text: str, words: list[str]) -> None:
    assert split_words(text) == words
    assert split_words(unicodedata.normalize("NFD", text)) == split_words(text)


def test_a_script_s_values_are_whole() -> None:
    assert "müll@größe.de" in read_spelling("mail müll@größe.de").values


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_what_differs_names_whole_words(form: str) -> None:
    statement = unicodedata.normalize(form, "Restart nginx, falls gültig für Müller")
    said = [str(one) for one in judge(statement, NGINX).differs]
    for word in ("gültig", "für", "Müller"):
        assert any(one.endswith(f" {unicodedata.normalize(form, word)}") for one in said), said
