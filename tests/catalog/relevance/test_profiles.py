"""What a statement asks for, about what, and what turns its meaning."""

from __future__ import annotations

import pytest

from catalog.relevance import analyse
from catalog.relevance.statement.actions import disagree, unmatched
from catalog.relevance.statement.qualifiers import opposed


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        pytest.param("Delete old files", {"delete"}, id="imperative"),
        pytest.param("deletes old files", {"delete"}, id="third person"),
        pytest.param("find old files and delete them", {"find", "delete"}, id="two"),
        pytest.param("recursively copy the folder", {"copy"}, id="after an adverb"),
        pytest.param("How do I restart nginx?", {"restart"}, id="a question"),
        pytest.param("please back up the database", {"backup"}, id="two words"),
        pytest.param("roll back the release", {"rollback"}, id="rolled back"),
        pytest.param("list deleted files", {"list"}, id="a participle is none"),
        pytest.param("list the backup directory", {"list"}, id="a noun is none"),
        pytest.param("show mounted volumes", {"show"}, id="mounted is none"),
        pytest.param("how many users are logged in", {"count"}, id="how many"),
        pytest.param("print the number of lines", {"print", "count"}, id="number of"),
        pytest.param("print line numbers", {"print"}, id="numbers are no count"),
        pytest.param("create an archive of the logs", {"archive"}, id="making an archive"),
        pytest.param("do not restart nginx", set(), id="negated"),
        pytest.param("disk usage of /var", set(), id="none at all"),
        pytest.param("compress the logs, then remove them", {"compress", "remove"}, id="then"),
        pytest.param("find files, folders, symlinks", {"find"}, id="a list of nouns"),
    ],
)
def test_verbs_are_told_from_nouns_and_participles(text: str, verbs: set[str]) -> None:
    assert analyse(text).actions == verbs


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param("delete x", "remove x", False, id="synonyms"),
        pytest.param("find and delete x", "delete x", False, id="looking first"),
        pytest.param("restart x", "stop x", True, id="restart and stop"),
        pytest.param("restart x", "reload x", True, id="restart and reload"),
        pytest.param("start x", "stop x", True, id="start and stop"),
        pytest.param("enable x", "disable x", True, id="enable and disable"),
        pytest.param("mount x", "unmount x", True, id="mount and unmount"),
        pytest.param("install x", "uninstall x", True, id="install and uninstall"),
        pytest.param("remove x", "uninstall x", False, id="remove a package"),
        pytest.param("grant x", "revoke x", True, id="grant and revoke"),
        pytest.param("encrypt x", "decrypt x", True, id="encrypt and decrypt"),
        pytest.param("compress x", "extract x", True, id="compress and extract"),
        pytest.param("backup x", "restore x", True, id="backup and restore"),
        pytest.param("allow x", "block x", True, id="allow and block"),
        pytest.param("open x", "close x", True, id="open and close"),
        pytest.param("list x", "delete x", True, id="list and delete"),
        pytest.param("count x", "list x", True, id="count and list"),
        pytest.param("copy x", "move x", True, id="copy and move"),
        pytest.param("show x", "list x", False, id="ways of looking"),
        pytest.param("x of y", "delete x", False, id="nothing asked"),
    ],
)
def test_verbs_contradict_each_other(one: str, other: str, expected: bool) -> None:
    assert disagree(analyse(one).actions, analyse(other).actions) is expected


def test_what_one_does_beyond_the_other_is_named() -> None:
    both, one = analyse("compress and delete logs"), analyse("compress logs")

    assert unmatched(both.actions, one.actions) == {"delete"}
    assert unmatched(one.actions, both.actions) == set()


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        pytest.param("list all files in the directory /tmp", {"file"}, id="a place is none"),
        pytest.param("list files and directories", {"file", "directory"}, id="both"),
        pytest.param("search the current directory for files", {"file"}, id="searched place"),
        pytest.param("show the processes of user joe", {"process", "user"}, id="processes"),
        pytest.param("show the file systems", set(), id="a file system is no file"),
        pytest.param("list folders", {"directory"}, id="synonym"),
        pytest.param("who is logged in", set(), id="a participle is none"),
    ],
)
def test_things_are_told_from_places(text: str, objects: set[str]) -> None:
    assert analyse(text).objects == objects


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        pytest.param("files older than 7 days", "age:older", id="older"),
        pytest.param("files not modified in the last 7 days", "age:older", id="not in the last"),
        pytest.param(
            "not been changed in /srv for 7 days", "age:older", id="not for, with a place"
        ),
        pytest.param("files that haven't changed for 7 days", "age:older", id="haven't changed"),
        pytest.param("files unmodified for 7 days", "age:older", id="unmodified"),
        pytest.param("modified more than 7 days ago", "age:older", id="more than ago"),
        pytest.param("at least 7 days old", "age:older", id="at least"),
        pytest.param("files newer than 7 days", "age:newer", id="newer"),
        pytest.param("modified within the last hour", "age:newer", id="within the last"),
        pytest.param("not older than 7 days", "age:newer", id="not older"),
        pytest.param("less than 7 days old", "age:newer", id="less than"),
        pytest.param("exactly 7 days ago", "age:exact", id="exactly"),
        pytest.param("larger than 5 MB", "size:more", id="larger"),
        pytest.param("below 5 MB", "size:less", id="below"),
        pytest.param("more than 90% full", "amount:more", id="more than a share"),
        pytest.param("the largest files", "rank:largest", id="largest"),
        pytest.param("the oldest file", "rank:oldest", id="oldest"),
        pytest.param("the first 5 lines", "end:first", id="first"),
        pytest.param("the last 5 lines", "end:last", id="last"),
        pytest.param("all files except /tmp", "except:yes", id="except"),
        pytest.param("do not overwrite", "not:yes", id="do not"),
        pytest.param("never delete files older than 7 days", "not:yes", id="never"),
        pytest.param("empty files", "fill:empty", id="empty"),
        pytest.param("non-empty files", "fill:full", id="non-empty"),
        pytest.param("ignoring the case", "case:any", id="any case"),
        pytest.param("accessed today", "time:access", id="access"),
        pytest.param("the number of lines", "counted:line", id="what is counted"),
    ],
)
def test_turns_of_meaning_are_marked(text: str, mark: str) -> None:
    assert mark in analyse(text).marks


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        pytest.param("ignoring the case", "not:yes", id="ignoring the case is no negation"),
        pytest.param("not modified in the last week", "age:newer", id="negated newer"),
        pytest.param("under the directory for 7 days", "age:older", id="under is not un-"),
        pytest.param("the last 7 days", "end:last", id="last days are no last lines"),
        pytest.param("not only files", "not:yes", id="not only"),
    ],
)
def test_other_words_are_not_taken_for_turns(text: str, mark: str) -> None:
    assert mark not in analyse(text).marks


def test_marks_oppose_each_other_on_one_axis() -> None:
    older, newer = analyse("older than 7 days"), analyse("newer than 7 days")

    assert opposed(older.marks, newer.marks) == [("age:older", "age:newer")]
    assert opposed(older.marks, older.marks) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Delete the folder", "remove the directory", id="synonyms"),
        pytest.param("show running processes", "display the running process", id="inflections"),
        pytest.param("copy /a to /b", "copy /c to /d", id="literals are no words"),
    ],
)
def test_words_are_compared_in_base_form(one: str, other: str) -> None:
    assert analyse(one).words == analyse(other).words
