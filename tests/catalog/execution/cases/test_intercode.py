"""Tests that InterCode's rule reproduces its original scores, including its known gaps."""

from __future__ import annotations

import pytest

from catalog.execution.cases.intercode import Outcome, observe, reward
from catalog.execution.sandbox import Entry


def printing(text: str) -> Outcome:
    return Outcome(frozenset(), {}, text)


PRINTED = [
    ("112K /workspace", "4.0K", 0.67),
    ("1", "Running within screen", 0.67),
    ("count 1", "count 2", 1.0),
    ("b two\na one", "a one\nb two", 1.0),
    ("/x/Foo.txt", "/x/foo.txt", 1.0),
    ("same words", "same words", 1.0),
    ("", "", 1.0),
    ("", " ", 0.67),
    ("", "some words", 0.67),
]


def test_printed_words_count(subtests: pytest.Subtests) -> None:
    for done, wanted, given in PRINTED:
        with subtests.test(f"{done} {wanted}"):
            assert reward(printing(done), printing(wanted)) == given
    done = printing("IP address of google.com is 142.250.80.46")
    assert 0.67 < reward(done, printing("142.250.80.46")) < 1.0


def file(content: str = "x", kind: str = "file") -> Entry:
    return Entry(kind, 0o644, len(content), 1, content, None, content)


FOLDER = file("", "folder")
BEFORE = {"/t": FOLDER, "/t/d": FOLDER, "/t/d/a": file(), "/t/d/b": file()}
WITHOUT_A = {path: entry for path, entry in BEFORE.items() if path != "/t/d/a"}
WITH_NEW = {**BEFORE, "/t/n": FOLDER, "/t/n/m": FOLDER, "/t/n/m/x": file("1")}


def seen(after: dict[str, Entry]) -> Outcome:
    return observe(BEFORE, after, "")


def test_changes_are_what_git_would_list() -> None:
    assert seen(WITHOUT_A).changes == {("/t/d/a", "D")}
    assert seen({**BEFORE, "/t/d/a": file("y")}).changes == {("/t/d/a", "M")}
    assert seen({**BEFORE, "/t/d/c": file()}).changes == {("/t/d/c", "??")}
    assert seen(WITH_NEW).changes == {("/t/n/", "??")}  # one entry for a completely new folder
    assert seen({**BEFORE, "/t/empty": FOLDER, "/tmp/other": file()}).changes == frozenset()


def mode(bits: int) -> Entry:
    return Entry("file", bits, 1, 1, "x", None, "x")


def link(target: str) -> Entry:
    return Entry("link", 0o777, 0, 1, None, target, None)


def changes(before: dict[str, Entry], after: dict[str, Entry]) -> set[tuple[str, str]]:
    return set(observe({"/t": FOLDER, **before}, {"/t": FOLDER, **after}, "").changes)


CHANGES = {
    "git keeps no such mode": ({"a": mode(0o644)}, {"a": mode(0o600)}, set()),
    "nor these": ({"a": mode(0o644)}, {"a": mode(0o2666)}, set()),
    "nor who else may run it": ({"a": mode(0o644)}, {"a": mode(0o654)}, set()),
    "may be run": ({"a": mode(0o644)}, {"a": mode(0o755)}, {("/t/a", "M")}),
    "another target": ({"a": link("x")}, {"a": link("y")}, {("/t/a", "M")}),
    "a link for a file": ({"a": mode(0o644)}, {"a": link("y")}, {("/t/a", "T")}),
    "a folder in place of a file":
     ({"a": mode(0o644)}, {"a": FOLDER, "a/b": mode(0o644)}, {("/t/a", "D"), ("/t/a/", "??")}),
    "a file in place of a folder":
     ({"a": FOLDER, "a/b": mode(0o644)}, {"a": mode(0o644)}, {("/t/a/b", "D"), ("/t/a", "??")}),
    "a FIFO is nothing to git": ({}, {"a": file("", "fifo")}, set()),
    "nor in place of a file": ({"a": mode(0o644)}, {"a": file("", "fifo")}, {("/t/a", "D")}),
}  # fmt: skip


def test_git_sees_content_target_and_who_may_run_it(subtests: pytest.Subtests) -> None:
    for name, (before, after, listed) in CHANGES.items():
        with subtests.test(name):

            def below(entries: dict[str, Entry]) -> dict[str, Entry]:
                return {f"/t/{name}": entry for name, entry in entries.items()}

            assert changes(below(before), below(after)) == listed


def test_links_and_files_that_were_not_read_are_compared_by_what_they_are() -> None:
    def hashed(**made: Entry) -> dict[str, str]:
        after = {"/t": FOLDER, **{f"/t/{name}": entry for name, entry in made.items()}}
        return dict(observe({"/t": FOLDER, "/t/z": file()}, {**after, "/t/z": file()}, "").hashes)

    assert hashed(a=link("z")) == {"/t/a": "x"}, "md5sum follows it"
    assert hashed(a=link("/t/z")) == hashed(a=link("../t/z")) == {"/t/a": "x"}
    assert hashed(a=link("gone")) != hashed(a=link("lost"))
    assert hashed(a=link("b"), b=link("a"))["/t/a"] == "link to b"
    large = [Entry("file", 0o644, size, 1, None, None, None) for size in (1 << 30, 1 << 31)]
    assert hashed(a=large[0]) != hashed(a=large[1])


FILES = {
    "the same file removed": (WITHOUT_A, WITHOUT_A, 1.0),
    "one difference": (BEFORE, WITHOUT_A, 0.72),
    "two differences": ({"/t": FOLDER}, BEFORE, 0.67),
    "other content": (WITH_NEW, {**WITH_NEW, "/t/n/m/x": file("2")}, 0.67),
    "a changed file is never compared": ({**BEFORE, "/t/d/a": file("y")}, {**BEFORE, "/t/d/a": file("z")}, 1.0),
}  # fmt: skip


def test_what_happened_to_files_counts() -> None:
    found = {
        name: reward(seen(done), seen(wanted)) for name, (done, wanted, _given) in FILES.items()
    }
    assert found == {name: given for name, (_done, _wanted, given) in FILES.items()}
