"""Tests for the kinds and values of literals found in a sentence."""

from __future__ import annotations

from pipeline.standin.language.literals import find_mentions


def test_a_sentence_mentions() -> None:
    cases = {
        "glob, age and path": ("Delete *.log files older than 30 days in /var/log/app.",
            [("glob", "*.log"), ("age", "2592000"), ("path", "/var/log/app")]),
        "size": ("over 100 MB", [("size", "104857600")]),
        "the same size as find says it": ("larger than 100M", [("size", "104857600")]),
        "hours that are a day": ("in the last 24 hours", [("age", "86400")]),
        "one, unsaid": ("within the last hour", [("age", "3600")]),
        "a number in words": ("two weeks old", [("age", "1209600")]),
        "an age in quotes": ('since "2 hours ago"', [("age", "7200")]),
        "percentage and root": ("at 93 % of /", [("percent", "93"), ("path", "/")]),
        "port": ("on port 8443?", [("number", "8443")]),
        "a time is no number": ("daily at 02:15", []),
        "extension in quotes": ('all ".java" files', [("glob", "*.java")]),
        "extension as a word": ("all jpg images", [("glob", "*.jpg")]),
        "apostrophe and quotes": ("the user's 'time out'", [("quoted", "time out")]),
        "slashes that are no paths": ("read/write and/or", []),
        "home, twice": ("in $HOME/x and ~/x", [("path", "~/x")]),
        "a place in words": ("in the current directory", [("path", ".")]),
        "no place in words": ("files in the /home directory", [("path", "/home")]),
        "hosts": ("db.example.com and 10.0.0.1", [("name", "db.example.com"), ("name", "10.0.0.1")]),
        "a service that is known": ("restart nginx, but only if", [("name", "nginx")]),
        "before its noun": ("stop the payments service", [("name", "payments")]),
        "after its noun": ("in namespace shop", [("name", "shop")]),
        "a verb is no name": ("messages that a service logs per minute", []),
        "an adjective is no name": ("drain a Kubernetes node", []),
        "a name with a hyphen and an umlaut": ("Ping prüf-host-1", [("name", "prüf-host-1")]),
        "an umlaut at the start": ("Vacuum übungs_daten", [("name", "übungs_daten")]),
        "a capital umlaut": ("restart Übung", [("name", "übung")]),
        "nothing": ("", []),
    }  # fmt: skip
    wrong = {
        name: got
        for name, (sentence, expected) in cases.items()
        if (got := [(found.kind, found.value) for found in find_mentions(sentence)]) != expected
    }
    assert not wrong
