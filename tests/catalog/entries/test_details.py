"""Tests for script details and for their text format in forms."""

from __future__ import annotations

import pytest

from catalog.entries.forms import read_links, write_links
from catalog.version_details import VersionDetails
from core.errors import BadInput
from core.web.forms import split_words

GOOD = [
    {},
    {"parameters": [{"name": "DIR", "type": "path"}]},
    {"parameters": [{"name": "N", "type": "number", "default": 7}]},
    {"parameters": [{"name": "E", "type": "choice", "choices": ["a", 1]}]},
    {"tags": ["k8s", "disk-full"], "repeatable": False},
]  # fmt: skip
BAD = [
    ({"parameters": [{"name": "A B"}]}, "parameters"),
    ({"parameters": [{"name": "A"}, {"name": "A"}]}, "parameters"),
    ({"parameters": [{"name": "A", "type": "choice"}]}, "parameters"),
    ({"parameters": [{"name": "A", "type": "choice", "choices": ["x"], "default": "y"}]}, "parameters"),
    ({"parameters": [{"name": "A", "type": "date"}]}, "parameters"),
    ({"tags": ["Disk"]}, "tags"),
    ({"links": [{"url": "javascript:alert(1)"}]}, "links"),
    ({"links": [{"url": 'https://x/"onclick'}]}, "links"),
    ({"undo": "a\0b"}, "undo"),
    ({"risk": "none"}, "risk"),
    ({"colour": "red"}, "colour"),
]  # fmt: skip


def test_details_that_may_be_given_are_kept() -> None:
    for given in GOOD:
        details = VersionDetails.read(given)
        assert VersionDetails.read(details.model_dump(mode="json")) == details


def test_what_may_not_is_refused_with_its_field(subtests: pytest.Subtests) -> None:
    for said, field in BAD:
        with subtests.test(str(said)):
            with pytest.raises(BadInput) as refused:
                VersionDetails.read(said)
            assert refused.value.field == field


def test_numbers_become_text_for_the_shell() -> None:
    details = VersionDetails.read({"parameters": [{"name": "DAYS", "default": 7}]})
    assert details.parameters is not None
    assert details.parameters[0].default == "7"


SPLIT = [("", []), ("a, b,,c", ["a", "b", "c"]), (" a b\nb ", ["a", "b"])]


def test_words_are_split() -> None:
    assert [(text, split_words(text)) for text, _words in SPLIT] == SPLIT


def test_links_are_written_as_they_are_read() -> None:
    text = "runbook | Disk full | https://example.org/a\nlink |  | https://example.org/b"
    assert write_links(read_links(text)) == text
    assert read_links("https://example.org/b\n\n")[0]["url"] == "https://example.org/b"
    with pytest.raises(BadInput):
        read_links("a | b")
