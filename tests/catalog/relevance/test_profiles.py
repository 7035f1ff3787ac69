"""Tests for the verbs, objects and order in a statement, and for words that change its meaning."""

from __future__ import annotations

import unicodedata

import pytest

from catalog.relevance import Candidate, analyse, judge
from catalog.relevance.fitted.word_overlap import read_spelling, split_words
from catalog.relevance.statement.actions import disagree, unmatched
from catalog.relevance.statement.argument_order import find_turned
from catalog.relevance.statement.qualifiers import opposed

VERBS: dict[str, set[str]] = {
    "Delete old files": {"delete"},
    "deletes old files": {"delete"},
    "find old files and delete them": {"find", "delete"},
    "recursively copy the folder": {"copy"},
    "How do I restart nginx?": {"restart"},
    "please back up the database": {"backup"},
    "roll back the release": {"rollback"},
    "list deleted files": {"list"},
    "list the backup directory": {"list"},
    "show mounted volumes": {"show"},
    "how many users are logged in": {"count"},
    "print the number of lines": {"print", "count"},
    "print line numbers": {"print"},
    "create an archive of the logs": {"archive"},
    "do not restart nginx": set(),
    "disk usage of /var": set(),
    "compress the logs, then remove them": {"compress", "remove"},
    "find files, folders, symlinks": {"find"},
}


def test_verbs_are_recognized_and_compared() -> None:
    assert {text: analyse(text).actions for text in VERBS} == VERBS
    found = [
        (one, other, disagree(analyse(one).actions, analyse(other).actions))
        for one, other, _expected in CONTRADICTIONS
    ]
    assert found == CONTRADICTIONS
    both, one = analyse("compress and delete logs"), analyse("compress logs")
    assert unmatched(both.actions, one.actions) == {"delete"}
    assert unmatched(one.actions, both.actions) == set()


CONTRADICTIONS = [
    ("delete x", "remove x", False),
    ("find and delete x", "delete x", False),
    ("restart x", "stop x", True),
    ("restart x", "reload x", True),
    ("start x", "stop x", True),
    ("enable x", "disable x", True),
    ("mount x", "unmount x", True),
    ("install x", "uninstall x", True),
    ("remove x", "uninstall x", False),
    ("grant x", "revoke x", True),
    ("encrypt x", "decrypt x", True),
    ("compress x", "extract x", True),
    ("backup x", "restore x", True),
    ("allow x", "block x", True),
    ("open x", "close x", True),
    ("list x", "delete x", True),
    ("count x", "list x", True),
    ("copy x", "move x", True),
    ("show x", "list x", False),
    ("x of y", "delete x", False),
]


OBJECTS: dict[str, set[str]] = {
    "list all files in the directory /tmp": {"file"},
    "list files and directories": {"file", "directory"},
    "search the current directory for files": {"file"},
    "show the processes of user joe": {"process", "user"},
    "show the file systems": set(),
    "list folders": {"directory"},
    "who is logged in": set(),
}


def test_objects_and_words_are_compared_in_base_form() -> None:
    assert {text: analyse(text).objects for text in OBJECTS} == OBJECTS
    other = [pair for pair in SAME_WORDS if len({analyse(text).words for text in pair}) > 1]
    assert not other


MARKED = {
    "files older than 7 days": "age:older",
    "files not modified in the last 7 days": "age:older",
    "not been changed in /srv for 7 days": "age:older",
    "files that haven't changed for 7 days": "age:older",
    "files unmodified for 7 days": "age:older",
    "modified more than 7 days ago": "age:older",
    "at least 7 days old": "age:older",
    "files newer than 7 days": "age:newer",
    "modified within the last hour": "age:newer",
    "not older than 7 days": "age:newer",
    "less than 7 days old": "age:newer",
    "exactly 7 days ago": "age:exact",
    "larger than 5 MB": "size:more",
    "below 5 MB": "size:less",
    "more than 90% full": "amount:more",
    "the largest files": "rank:largest",
    "the oldest file": "rank:oldest",
    "the first 5 lines": "end:first",
    "the last 5 lines": "end:last",
    "all files except /tmp": "except:yes",
    "do not overwrite": "not:yes",
    "never delete files older than 7 days": "not:yes",
    "empty files": "fill:empty",
    "non-empty files": "fill:full",
    "ignoring the case": "case:any",
    "accessed today": "time:access",
    "the number of lines": "counted:line",
}


def test_turns_of_meaning_are_marked() -> None:
    missing = [(text, mark) for text, mark in MARKED.items() if mark not in analyse(text).marks]
    assert not missing
    wrong = [(text, mark) for text, mark in NOT_MARKED.items() if mark in analyse(text).marks]
    assert not wrong
    older, newer = analyse("older than 7 days"), analyse("newer than 7 days")
    assert opposed(older.marks, newer.marks) == [("age:older", "age:newer")]
    assert opposed(older.marks, older.marks) == []


NOT_MARKED = {
    "ignoring the case": "not:yes",
    "not modified in the last week": "age:newer",
    "under the directory for 7 days": "age:older",
    "the last 7 days": "end:last",
    "not only files": "not:yes",
}


SAME_WORDS = [
    ("Delete the folder", "remove the directory"),
    ("show running processes", "display the running process"),
    ("copy /a to /b", "copy /c to /d"),
]


TURNED: list[tuple[str, str, tuple[str, ...]]] = [
    ("Redirect http to https", "Redirect https to http", ("http", "https")),
    ("Replace foo with bar in x", "Replace bar with foo in x", ("foo", "bar")),
    ("Link the file 'x' to y", "Link y to the file 'x'", ("file", "y")),
    ("List what came before noon", "List what came after noon", ("came", "noon")),
    ("Read /a from /b", "Read /a into /b", ("/a", "/b")),
    ("Copy /a to /b", "Copy to /b from /a", ()),
    ("Convert from a to b", "Convert a to b", ()),
    ("Sort x, and copy y to z", "Copy y to z after a sort of x", ()),
    ("Copy a to b", "Copy a to b", ()),
    ("", "to", ()),
    ("to to from with", "from to with to", ()),
]


def test_what_stands_the_other_way_round_is_found() -> None:
    wrong = [
        (text, other, got)
        for text, other, turned in TURNED
        if (got := sorted(find_turned(text, other))) != sorted(turned)
    ]
    assert not wrong


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


def test_words_and_values_are_whole() -> None:
    assert {text: split_words(text) for text in WHOLE_WORDS} == WHOLE_WORDS
    for text, words in WHOLE_WORDS.items():
        assert split_words(unicodedata.normalize("NFD", text)) == words
    assert "müll@größe.de" in read_spelling("mail müll@größe.de").values


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_what_differs_names_whole_words(form: str) -> None:
    statement = unicodedata.normalize(form, "Restart nginx, falls gültig für Müller")
    said = [str(one) for one in judge(statement, NGINX).differs]
    for word in ("gültig", "für", "Müller"):
        assert any(one.endswith(f" {unicodedata.normalize(form, word)}") for one in said), said
