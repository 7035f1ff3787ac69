"""What may be said about a script, and how forms write it."""

from __future__ import annotations

import pytest

from catalog.entries.forms import read_links, write_links
from catalog.version_details import VersionDetails
from core.errors import BadInput
from core.web.forms import split_words

GOOD = [
    pytest.param({}, id="nothing was said"),
    pytest.param({"parameters": [{"name": "DIR", "type": "path"}]}, id="a path"),
    pytest.param({"parameters": [{"name": "N", "type": "number", "default": 7}]}, id="YAML's 7"),
    pytest.param({"parameters": [{"name": "E", "type": "choice", "choices": ["a", 1]}]}, id="choices"),
    pytest.param({"tags": ["k8s", "disk-full"], "repeatable": False}, id="tags"),
]  # fmt: skip
BAD = [
    pytest.param({"parameters": [{"name": "A B"}]}, "parameters", id="a name with a space"),
    pytest.param({"parameters": [{"name": "A"}, {"name": "A"}]}, "parameters", id="twice"),
    pytest.param({"parameters": [{"name": "A", "type": "choice"}]}, "parameters", id="no choices"),
    pytest.param({"parameters": [{"name": "A", "type": "choice", "choices": ["x"], "default": "y"}]}, "parameters",
     id="a default that is no choice"),
    pytest.param({"parameters": [{"name": "A", "type": "date"}]}, "parameters", id="no such type"),
    pytest.param({"tags": ["Disk"]}, "tags", id="a large letter"),
    pytest.param({"links": [{"url": "javascript:alert(1)"}]}, "links", id="code as a link"),
    pytest.param({"links": [{"url": 'https://x/"onclick'}]}, "links", id="a quote in a link"),
    pytest.param({"undo": "a\0b"}, "undo", id="a NUL"),
    pytest.param({"risk": "none"}, "risk", id="no such risk"),
    pytest.param({"colour": "red"}, "colour", id="an unknown name"),
]  # fmt: skip


def test_what_may_be_said_is_kept(subtests: pytest.Subtests) -> None:
    for said in GOOD:
        with subtests.test(str(said)):
            details = VersionDetails.read(said)
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


def test_words_are_split(subtests: pytest.Subtests) -> None:
    for text, words in SPLIT:
        with subtests.test(text):
            assert split_words(text) == words


def test_links_are_written_as_they_are_read() -> None:
    text = "runbook | Disk full | https://example.org/a\nlink |  | https://example.org/b"

    assert write_links(read_links(text)) == text
    assert read_links("https://example.org/b\n\n")[0]["url"] == "https://example.org/b"
    with pytest.raises(BadInput):
        read_links("a | b")
