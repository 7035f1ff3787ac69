"""Tests for the verdict and the text of each check of a sandbox test, and for when it is rejected or has no verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from catalog.execution.cases import CaseRefused, read_case_set, run_case
from catalog.execution.cases.effects import find_effects
from catalog.execution.cases.expressions import find_never_failing
from catalog.execution.cases.runner import judge
from catalog.execution.sandbox import Call, Ended, Entry, Limits, Observation, RunObservation
from tests.catalog.execution.cases.writing import case_data, make_case, set_data
from tests.catalog.execution.scripted import ScriptedSandbox, run_seen, world_seen


def entry(content: str = "x", kind: str = "file", mode: int = 0o644, **parts: Any) -> Entry:
    return Entry(
        **{
            "kind": kind, "mode": mode, "size": len(content), "modified": 1, "target": None,
            "content": content if kind == "file" else None,
            "sha256": content if kind == "file" else None,
        } | parts
    )  # fmt: skip


BEFORE = {
    "/srv": entry(kind="folder"),
    "/srv/old": entry(),
    "/srv/new": entry(),
    "/srv/link": entry(kind="link", target="/a"),
}
DELETED = {path: made for path, made in BEFORE.items() if path != "/srv/old"}
MADE = {**BEFORE, "/bak": entry(kind="folder"), "/bak/a": entry("one\ntwo\n")}
CHMOD = {**BEFORE, "/srv/old": entry(mode=0o600)}
TOUCHED = {**BEFORE, "/srv/old": entry(modified=9)}
RELINKED = {**BEFORE, "/srv/link": entry(kind="link", target="/b")}
TESTED = Call("nginx", ("-t",), None, 0, True)
RESTARTED = Call("systemctl", ("restart", "nginx"), None, 0, True)


def ran(**parts: Any) -> RunObservation:
    return RunObservation(
        **{
            "ended": Ended.FINISHED, "status": 0, "stdout": "", "stderr": "", "seconds": 0.1,
            "peak_memory": 0, "processes_seen": 1, "calls": (), "after": BEFORE,
        } | parts
    )  # fmt: skip


def check(check: dict[str, Any], *runs: RunObservation) -> tuple[str, str, str]:
    """Return the check's state, its sentence and the actual result."""
    case = make_case(check)
    observation = Observation(0, BEFORE, runs, None, {})
    result = judge(case, observation, Limits()).checks[0]
    return result.state.value, result.sentence, result.got


NGINX_TEST = {"command": "nginx", "args": ["-t"]}
ANY_SYSTEMCTL = {"command": "systemctl"}


CHECKS = [
    ({"check": "removed", "exactly": ["/srv/old"]}, {"after": DELETED}, {}, "removes exactly `/srv/old`",
     "missing: `/srv/old`; actual: nothing"),
    ({"check": "removed", "exactly": []}, {}, {"after": DELETED}, "removes no files", "unexpected: `/srv/old`"),
    ({"check": "removed", "exactly": ["/srv"]}, {"after": {}}, {"after": DELETED}, "removes exactly `/srv`",
     "missing: `/srv`; actual: `/srv/old`"),
    ({"check": "removed", "includes": ["/srv/old"]}, {"after": {}}, {}, "removes at least `/srv/old`",
     "missing: `/srv/old`; actual: nothing"),
    ({"check": "added", "exactly": ["/bak/a"]}, {"after": MADE}, {"after": {**MADE, "/x": entry()}},
     "adds exactly `/bak/a`", "unexpected: `/x`"),
    ({"check": "changed", "exactly": ["/srv/old"]}, {"after": CHMOD}, {"after": TOUCHED},
     "changes the content, mode or target of exactly `/srv/old`",
     "missing: `/srv/old`; actual: nothing"),
    ({"check": "touched", "exactly": ["/srv/old"]}, {"after": TOUCHED}, {"after": CHMOD},
     "changes only the timestamp of exactly `/srv/old`", "missing: `/srv/old`; actual: nothing"),
    ({"check": "content", "path": "/bak/a", "equals": "one\ntwo\n"}, {"after": MADE}, {},
     "leaves `/bak/a` containing exactly `one\\ntwo\\n`", "the path does not exist"),
    ({"check": "content", "path": "/bak/a", "lines": ["one", "two"]}, {"after": MADE},
     {"after": {"/bak/a": entry("two\none\n")}}, "leaves `/bak/a` containing exactly the lines `one`, `two`",
     "actual content: `two\\none\\n`"),
    ({"check": "content", "path": "/bak/a", "lines": ["one", "two"]}, {"after": MADE},
     {"after": {"/bak/a": entry("one\x1ctwo\n")}}, "leaves `/bak/a` containing exactly the lines `one`, `two`",
     "actual content: `one\\x1ctwo\\n`"),
    ({"check": "content", "path": "/bak/a", "matches": "^t.o$"}, {"after": MADE}, {"after": {"/bak/a": entry("to")}},
     "leaves `/bak/a` containing a match of `^t.o$`", "actual content: `to`"),
    ({"check": "mode", "path": "/srv/old", "equals": "600"}, {"after": CHMOD}, {},
     "leaves `/srv/old` with mode 0600", "actual mode: 0644"),
    ({"check": "link", "path": "/srv/link", "target": "/b"}, {"after": RELINKED}, {},
     "leaves `/srv/link` as a link to `/b`", "actual target: `/a`"),
    ({"check": "no_effect"}, {"calls": (TESTED,)}, {"calls": (TESTED, RESTARTED)},
     "changes no files and makes no calls that modify state", "calls that may modify state: `systemctl restart nginx`"),
    ({"check": "no_effect"}, {}, {"after": TOUCHED}, "changes no files and makes no calls that modify state",
     "affected files: `/srv/old`"),
    ({"check": "stdout_lines", "exactly": ["a", "b"]}, {"stdout": "a\nb"}, {"stdout": "b\na\n"},
     "prints exactly the lines `a`, `b`", "actual output: `b`, `a`"),
    ({"check": "stdout_lines", "any_order": ["a", "b"]}, {"stdout": "b\na\n"}, {"stdout": "a\n"},
     "prints exactly the lines `a`, `b`, in any order", "actual output: `a`"),
    ({"check": "stdout_lines", "exactly": []}, {}, {"stdout": "\n"}, "prints nothing", "actual output: ``"),
    ({"check": "stdout_contains", "text": "95"}, {"stdout": "1950"}, {"stdout": "96"},
     "prints output that contains `95`", "actual output: `96`"),
    ({"check": "stdout_value", "value": "95"}, {"stdout": "disk: used=95%."}, {"stdout": "1950"},
     "prints output that contains the value `95`", "actual output: `1950`"),
    ({"check": "stdout_value", "value": "a b"}, {"stdout": "is: A, a b."}, {"stdout": "a c b"},
     "prints output that contains the value `a b`", "actual output: `a c b`"),
    ({"check": "stderr_contains", "text": "no"}, {"stderr": "no file"}, {"stdout": "no file"},
     "writes `no` to standard error", "standard error was empty"),
    ({"check": "stderr_empty"}, {}, {"stderr": "x"}, "writes nothing to standard error", "actual standard error: `x`"),
    ({"check": "exit_status", "equals": 0}, {}, {"status": 3}, "exits 0", "actual exit code: 3"),
    ({"check": "exit_status", "nonzero": True}, {"status": 3}, {}, "exits non-zero",
     "actual exit code: 0"),
    ({"check": "called", "call": NGINX_TEST}, {"calls": (TESTED,)}, {"calls": (RESTARTED,)}, "calls `nginx -t`",
     "called 0 times; calls made: `systemctl restart nginx`"),
    ({"check": "called", "call": NGINX_TEST, "times": 1}, {"calls": (TESTED,)}, {"calls": (TESTED, TESTED)},
     "calls `nginx -t`, once", "called twice; calls made: `nginx -t`, `nginx -t`"),
    ({"check": "not_called", "call": ANY_SYSTEMCTL}, {"calls": (TESTED,)}, {"calls": (RESTARTED,)},
     "does not call `systemctl`", "calls made: `systemctl restart nginx`"),
    ({"check": "called_before", "call": NGINX_TEST, "then": ANY_SYSTEMCTL}, {"calls": (TESTED, RESTARTED)},
     {"calls": (RESTARTED, TESTED)}, "calls `nginx -t` before `systemctl` (both required)",
     "calls made: `systemctl restart nginx`, `nginx -t`"),
]  # fmt: skip


def test_a_check_says_what_is_to_hold_and_what_happened(subtests: pytest.Subtests) -> None:
    for data, good, bad, sentence, got in CHECKS:
        with subtests.test(sentence):
            assert check(data, ran(**good)) == ("passed", sentence, "")
            assert check(data, ran(**bad)) == ("failed", sentence, got)


def test_a_second_run_is_judged_from_what_the_first_left() -> None:
    no_effect = {"check": "second_run_no_effect"}
    same = {"check": "second_run_same_output"}
    first = ran(after=DELETED, stdout="1")
    assert check(no_effect, first, ran(after=DELETED))[0] == "passed"
    assert check(no_effect, first, ran(after=BEFORE))[2] == "affected files: `/srv/old`"
    assert check(same, first, ran(stdout="1"))[0] == "passed"
    assert check(same, first, ran(stdout="2"))[2] == "second output: `2`, exit code 0"


STATES = [
    ({"ended": Ended.TIMED_OUT}, "timed out", "stopped after 20 seconds"),
    ({"ended": Ended.TOO_MUCH_OUTPUT}, "timed out", "it printed more than 65,536 bytes"),
    ({"ended": Ended.TOO_MUCH_MEMORY}, "timed out", "bytes of memory"),
    ({"ended": Ended.MACHINE_SHORT}, "not run", "the machine was low on memory"),
    ({"calls": (Call("systemctl", ("daemon-reload",), None, 127, False),)}, "unsupported",
     "no stubbed reply for `systemctl daemon-reload`"),
    ({"stderr": "/usr/local/bin/script.sh: line 1: jq: command not found\n", "status": 127}, "unsupported",
     "the sandbox has no `jq`"),
]  # fmt: skip


def test_what_is_no_verdict_has_a_state_of_its_own(subtests: pytest.Subtests) -> None:
    for parts, state, got in STATES:
        with subtests.test(got):
            found = check({"check": "exit_status", "equals": 0}, ran(**parts))
            assert found[0] == state
            assert got in found[2]


def test_a_world_that_was_not_read_whole_is_no_verdict() -> None:
    case = make_case({"check": "removed", "exactly": []})
    seen = Observation(0, BEFORE, (ran(),), "folders more than 100 deep", {})
    assert judge(case, seen, Limits()).state == "unsupported"


@pytest.mark.slow
def test_a_pattern_that_backtracks_for_ever_is_given_up() -> None:
    slow = {"check": "content", "path": "/srv/old", "matches": "(a+)+$"}
    found = check(slow, ran(after={"/srv/old": entry("a" * 60 + "!")}))
    assert found[0] == "timed out"


def test_what_a_script_prints_is_shown_as_plain_text() -> None:
    printed = "\x1b]8;;https://evil.example\x07click\x1b]8;;\x07 \u202egnp.exe \udcff\x00"
    _, _, got = check({"check": "stdout_lines", "exactly": []}, ran(stdout=printed))
    assert got == (
        "actual output: `\\x1b]8;;https://evil.example\\x07click\\x1b]8;;\\x07 \\u202egnp.exe \\xff\\x00`"
    )


def test_a_folder_s_own_time_is_no_change() -> None:
    effects = find_effects(
        {"/srv": entry(kind="folder")}, {"/srv": entry(kind="folder", modified=5)}
    )
    assert not effects


AT = "/usr/local/bin/script.sh: line 3: "


def state(stderr: str, script: str = "x\n", status: int = 1, **world: Any) -> tuple[str, str]:
    case = make_case({"check": "exit_status", "equals": 0}, world=world)
    seen = world_seen(run_seen(status=status, stderr=f"{stderr}\n"))
    (found,) = run_case(case, script, ScriptedSandbox(lambda prepared: seen)).checks
    return found.state.value, found.got


OUTSIDE = [
    (f"{AT}tree: command not found", "unsupported", "the sandbox has no `tree`"),
    ("env: ‘node’: No such file or directory", "unsupported", "the sandbox has no `node`"),
    (f"{AT}fnid: command not found", "failed", ""),
    (f"{AT}/dev/tcp/10.0.0.1/80: Network is unreachable", "unsupported", "the script needs a network"),
    ("fatal: unable to access 'https://x/': Could not resolve host: x", "unsupported", "the script needs a network"),
    ("WARNING: Failed to establish a new connection: [Errno -3]", "unsupported", "the script needs a network"),
    (f"{AT}/proc/sys/vm/drop_caches: Permission denied", "unsupported", "needs kernel features"),
    ("mount: /mnt: permission denied.", "unsupported", "needs kernel features"),
    ("cp: error writing '/srv/b': No space left on device", "timed out", "the scenario's disk is full"),
    ("truncate: failed to truncate 'x' at 99999999: File too large", "timed out", "a file is too large"),
    ("cat: /srv/x: No such file or directory", "failed", ""),
]  # fmt: skip


def test_failure_outside_the_script_has_no_verdict() -> None:
    found = {stderr: state(stderr) for stderr, *_ in OUTSIDE}
    assert {stderr: found[stderr][0] for stderr in found} == {one: now for one, now, _ in OUTSIDE}
    assert [stderr for stderr, _, words in OUTSIDE if words not in found[stderr][1]] == []
    assert state(f"{AT}tree: command not found", status=0)[0] == "passed"
    assert state("curl: (6) Could not resolve host: x", status=0)[0] == "passed"


def test_words_of_the_script_or_of_the_case_are_no_sign_of_it() -> None:
    """Otherwise a script could exclude itself from the figures, and no sandbox test could prepare such a reply."""
    assert (
        state("No space left on device", script="echo No space left on device >&2; exit 1")[0]
        == "failed"
    )
    curl = {"curl": [{"exit": 6, "stderr": "curl: (6) Could not resolve host: x\n"}]}
    assert state("curl: (6) Could not resolve host: x", commands=curl)[0] == "failed"


RM = {"command": "rm", "args": ["-rf", "**"]}
NO_RM = {"check": "not_called", "call": RM}
SET = "\\A(?![\\s\\S]*PasswordAuthentication yes)"


def text_file(content: str) -> Entry:
    return Entry("file", 0o644, len(content), 1, content, None, content)


UNSEEN = [
    NO_RM,
    {"check": "called", "call": RM},
    {"check": "called_before", "call": {"command": "nginx"}, "then": RM},
    {"check": "together", "of": [{"check": "stderr_empty"}, NO_RM]},
]


def test_a_call_that_nobody_records_is_never_seen(subtests: pytest.Subtests) -> None:
    for expected in UNSEEN:
        with subtests.test(str(expected)):
            text = json.dumps(set_data(case_data(expected)))
            with pytest.raises(CaseRefused, match="calls of `rm` are not recorded"):
                read_case_set(text)
            assert read_case_set(text, is_kept=True).cases, (
                "what an earlier release accepted is still read"
            )
            read_case_set(
                json.dumps(
                    set_data(case_data(expected, world={"commands": {"rm": [{"args": ["**"]}]}}))
                )
            )


def test_a_pattern_that_forbids_a_text_can_fail() -> None:
    assert find_never_failing([SET, "\\A(?![\\s\\S]*Permit\\s+yes)", "^(?!x)"]) == []
    assert find_never_failing(["(?!x)", ".*", "x?"]) == ["(?!x)", ".*", "x?"]


LACKING = [
    ("PasswordAuthentication no\n", "passed", ""),
    ("PasswordAuthentication yes\n", "failed", "actual content: `PasswordAuthentication yes\\n`"),
    (None, "failed", "the path does not exist"),
]


def test_that_a_file_lacks_a_text_can_be_said_plainly(subtests: pytest.Subtests) -> None:
    for content, state, got in LACKING:
        with subtests.test(got):
            text = "PasswordAuthentication yes"
            case = make_case({"check": "content", "path": "/etc/ssh/sshd_config", "lacks": text})
            after = {} if content is None else {"/etc/ssh/sshd_config": text_file(content)}
            sandbox = ScriptedSandbox(lambda _run, after=after: world_seen(run_seen(after=after)))
            (found,) = run_case(case, ":", sandbox).checks
            assert (found.state.value, found.got) == (state, got)
            assert found.sentence == f"leaves `/etc/ssh/sshd_config` in place without `{text}`"


def test_several_checks_count_as_one_and_each_can_fail_it() -> None:
    case = make_case(
        {
            "check": "together",
            "of": [{"check": "exit_status", "equals": 0}, {"check": "added", "exactly": []},
                   {"check": "second_run_same_output"}],
        }
    )  # fmt: skip
    assert case.needs_second_run
    for first, second, got in (
        ({}, {}, ""),
        ({"status": 1}, {"status": 1}, "exits 0: actual exit code: 1"),
        ({"after": {"/x": text_file("")}}, {}, "adds no files: unexpected: `/x`"),
        ({}, {"stdout": "x"}, "gives the same output and exit code when run again:"
                              " second output: `x`, exit code 0"),
    ):  # fmt: skip
        seen = world_seen(run_seen(**first), run_seen(**second))
        (found,) = run_case(case, ":", ScriptedSandbox(lambda prepared, seen=seen: seen)).checks
        assert (found.state.value, found.got) == ("failed" if got else "passed", got)
    assert found.sentence == (
        "exits 0; adds no files; and gives the same output and exit code when run again"
    )


BAD_TODAY = {"check": "content", "path": "/srv/a", "matches": "[{date:%F}]"}


def test_pattern_spoiled_by_a_date_is_refused_or_not_run() -> None:
    """The pattern was valid on the day when it was saved, or an earlier release accepted it."""
    with pytest.raises(CaseRefused, match="A pattern is invalid"):
        read_case_set(json.dumps(set_data(case_data(BAD_TODAY))))
    case = read_case_set(json.dumps(set_data(case_data(BAD_TODAY))), is_kept=True).cases[0]
    seen = world_seen(run_seen(after={"/srv/a": text_file("x")}))
    result = run_case(case, ":", ScriptedSandbox(lambda prepared: seen))
    assert result.state == "not run"
    assert "the pattern is invalid: " in result.checks[0].got
