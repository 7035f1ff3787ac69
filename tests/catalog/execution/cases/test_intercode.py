"""InterCode's rule, with the holes that it has: what it gives is not changed here."""

from __future__ import annotations

import pytest

from catalog.execution.cases.intercode import Outcome, observe, reward
from catalog.execution.sandbox import Entry


def printing(text: str) -> Outcome:
    return Outcome(frozenset(), {}, text)


@pytest.mark.parametrize(
    "done, wanted, given",
    [
        pytest.param("112K /workspace", "4.0K", 0.67, id="one total or a line for each"),
        pytest.param("1", "Running within screen", 0.67, id="a count for a yes"),
        pytest.param("count 1", "count 2", 1.0, id="a word of one letter does not exist"),
        pytest.param("b two\na one", "a one\nb two", 1.0, id="nor does the order"),
        pytest.param("/x/Foo.txt", "/x/foo.txt", 1.0, id="nor do capitals"),
        pytest.param("same words", "same words", 1.0, id="equal"),
        pytest.param("", "", 1.0, id="nothing at all"),
        pytest.param("", " ", 0.67, id="nothing and a blank"),
        pytest.param("", "some words", 0.67, id="nothing and words"),
    ],
)
def test_what_is_printed_counts_by_its_words(done: str, wanted: str, given: float) -> None:
    assert reward(printing(done), printing(wanted)) == given


def test_words_around_the_value_cost_a_part() -> None:
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
    assert seen(WITH_NEW).changes == {("/t/n/", "??")}  # one entry for a wholly new folder
    assert seen({**BEFORE, "/t/empty": FOLDER, "/tmp/other": file()}).changes == frozenset()


def mode(bits: int) -> Entry:
    return Entry("file", bits, 1, 1, "x", None, "x")


def link(target: str) -> Entry:
    return Entry("link", 0o777, 0, 1, None, target, None)


def changes(before: dict[str, Entry], after: dict[str, Entry]) -> set[tuple[str, str]]:
    return set(observe({"/t": FOLDER, **before}, {"/t": FOLDER, **after}, "").changes)


@pytest.mark.parametrize(
    "before, after, listed",
    [
        pytest.param({"a": mode(0o644)}, {"a": mode(0o600)}, set(), id="git keeps no such mode"),
        pytest.param({"a": mode(0o644)}, {"a": mode(0o2666)}, set(), id="nor these"),
        pytest.param({"a": mode(0o644)}, {"a": mode(0o654)}, set(), id="nor who else may run it"),
        pytest.param({"a": mode(0o644)}, {"a": mode(0o755)}, {("/t/a", "M")}, id="may be run"),
        pytest.param({"a": link("x")}, {"a": link("y")}, {("/t/a", "M")}, id="another target"),
        pytest.param({"a": mode(0o644)}, {"a": link("y")}, {("/t/a", "T")}, id="a link for a file"),
        pytest.param(
            {"a": mode(0o644)}, {"a": FOLDER, "a/b": mode(0o644)},
            {("/t/a", "D"), ("/t/a/", "??")}, id="a folder in place of a file",
        ),
        pytest.param(
            {"a": FOLDER, "a/b": mode(0o644)}, {"a": mode(0o644)},
            {("/t/a/b", "D"), ("/t/a", "??")}, id="a file in place of a folder",
        ),
        pytest.param({}, {"a": file("", "fifo")}, set(), id="a FIFO is nothing to git"),
        pytest.param({"a": mode(0o644)}, {"a": file("", "fifo")}, {("/t/a", "D")}, id="nor in place of a file"),
    ],
)  # fmt: skip
def test_git_sees_content_target_and_who_may_run_it(
    before: dict[str, Entry], after: dict[str, Entry], listed: set[tuple[str, str]]
) -> None:
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


@pytest.mark.parametrize(
    "done, wanted, given",
    [
        pytest.param(WITHOUT_A, WITHOUT_A, 1.0, id="the same file removed"),
        pytest.param(BEFORE, WITHOUT_A, 0.72, id="one difference"),
        pytest.param({"/t": FOLDER}, BEFORE, 0.67, id="two differences"),
        pytest.param(WITH_NEW, {**WITH_NEW, "/t/n/m/x": file("2")}, 0.67, id="other content"),
        pytest.param(
            {**BEFORE, "/t/d/a": file("y")}, {**BEFORE, "/t/d/a": file("z")}, 1.0,
            id="a changed file is never compared",
        ),
    ],
)  # fmt: skip
def test_what_happened_to_files_counts(
    done: dict[str, Entry], wanted: dict[str, Entry], given: float
) -> None:
    assert reward(seen(done), seen(wanted)) == given
