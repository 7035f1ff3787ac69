"""What a sentence mentions, by kind and by value."""

from __future__ import annotations

import pytest

from pipeline.standin.language.literals import find_mentions


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        pytest.param(
            "Delete *.log files older than 30 days in /var/log/app.",
            [("glob", "*.log"), ("age", "2592000"), ("path", "/var/log/app")],
            id="glob, age and path",
        ),
        pytest.param("over 100 MB", [("size", "104857600")], id="size"),
        pytest.param(
            "larger than 100M", [("size", "104857600")], id="the same size as find says it"
        ),
        pytest.param("in the last 24 hours", [("age", "86400")], id="hours that are a day"),
        pytest.param("within the last hour", [("age", "3600")], id="one, unsaid"),
        pytest.param("two weeks old", [("age", "1209600")], id="a number in words"),
        pytest.param('since "2 hours ago"', [("age", "7200")], id="an age in quotes"),
        pytest.param("at 93 % of /", [("percent", "93"), ("path", "/")], id="percentage and root"),
        pytest.param("on port 8443?", [("number", "8443")], id="port"),
        pytest.param("daily at 02:15", [], id="a time is no number"),
        pytest.param('all ".java" files', [("glob", "*.java")], id="extension in quotes"),
        pytest.param("all jpg images", [("glob", "*.jpg")], id="extension as a word"),
        pytest.param("the user's 'time out'", [("quoted", "time out")], id="apostrophe and quotes"),
        pytest.param("read/write and/or", [], id="slashes that are no paths"),
        pytest.param("in $HOME/x and ~/x", [("path", "~/x")], id="home, twice"),
        pytest.param("in the current directory", [("path", ".")], id="a place in words"),
        pytest.param("files in the /home directory", [("path", "/home")], id="no place in words"),
        pytest.param(
            "db.example.com and 10.0.0.1",
            [("name", "db.example.com"), ("name", "10.0.0.1")],
            id="hosts",
        ),
        pytest.param(
            "restart nginx, but only if", [("name", "nginx")], id="a service that is known"
        ),
        pytest.param("stop the payments service", [("name", "payments")], id="before its noun"),
        pytest.param("in namespace shop", [("name", "shop")], id="after its noun"),
        pytest.param("messages that a service logs per minute", [], id="a verb is no name"),
        pytest.param("drain a Kubernetes node", [], id="an adjective is no name"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_a_sentence_mentions(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert [(found.kind, found.value) for found in find_mentions(sentence)] == expected
