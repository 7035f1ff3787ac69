"""Each check on what a run did: it holds, it does not, and what it says of both."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.execution.cases.effects import find_effects
from catalog.execution.cases.runner import judge
from catalog.execution.sandbox import Call, Ended, Entry, Limits, Observation, RunObservation
from tests.catalog.execution.cases.writing import make_case


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
    """The state, the sentence and what happened instead."""
    case = make_case(check)
    observation = Observation(0, BEFORE, runs, None, {})
    result = judge(case, observation, Limits()).checks[0]
    return result.state.value, result.sentence, result.got


NGINX_TEST = {"command": "nginx", "args": ["-t"]}
ANY_SYSTEMCTL = {"command": "systemctl"}


CHECKS = [
    ({"check": "removed", "exactly": ["/srv/old"]}, {"after": DELETED}, {}, "removes exactly `/srv/old`",
     "not `/srv/old`; removes nothing"),
    ({"check": "removed", "exactly": []}, {}, {"after": DELETED}, "removes no file", "also `/srv/old`"),
    ({"check": "removed", "exactly": ["/srv"]}, {"after": {}}, {"after": DELETED}, "removes exactly `/srv`",
     "not `/srv`; removes `/srv/old`"),
    ({"check": "removed", "includes": ["/srv/old"]}, {"after": {}}, {}, "removes `/srv/old`, others or not",
     "not `/srv/old`; removes nothing"),
    ({"check": "added", "exactly": ["/bak/a"]}, {"after": MADE}, {"after": {**MADE, "/x": entry()}},
     "adds exactly `/bak/a`", "also `/x`"),
    ({"check": "changed", "exactly": ["/srv/old"]}, {"after": CHMOD}, {"after": TOUCHED},
     "changes (content, mode or target) exactly `/srv/old`",
     "not `/srv/old`; changes (content, mode or target) nothing"),
    ({"check": "touched", "exactly": ["/srv/old"]}, {"after": TOUCHED}, {"after": CHMOD},
     "changes only the time of exactly `/srv/old`", "not `/srv/old`; changes only the time of nothing"),
    ({"check": "content", "path": "/bak/a", "equals": "one\ntwo\n"}, {"after": MADE}, {},
     "`/bak/a` then reads `one\\ntwo\\n`", "there is no such file"),
    ({"check": "content", "path": "/bak/a", "lines": ["one", "two"]}, {"after": MADE},
     {"after": {"/bak/a": entry("two\none\n")}}, "`/bak/a` then has exactly the lines `one`, `two`",
     "it reads `two\\none\\n`"),
    ({"check": "content", "path": "/bak/a", "lines": ["one", "two"]}, {"after": MADE},
     {"after": {"/bak/a": entry("one\x1ctwo\n")}}, "`/bak/a` then has exactly the lines `one`, `two`",
     "it reads `one\\x1ctwo\\n`"),
    ({"check": "content", "path": "/bak/a", "matches": "^t.o$"}, {"after": MADE}, {"after": {"/bak/a": entry("to")}},
     "`/bak/a` then has a place that matches `^t.o$`", "it reads `to`"),
    ({"check": "mode", "path": "/srv/old", "equals": "600"}, {"after": CHMOD}, {},
     "the mode of `/srv/old` is then 0600", "it is 0644"),
    ({"check": "link", "path": "/srv/link", "target": "/b"}, {"after": RELINKED}, {},
     "`/srv/link` is then a link to `/b`", "it links to `/a`"),
    ({"check": "no_effect"}, {"calls": (TESTED,)}, {"calls": (TESTED, RESTARTED)},
     "changes no file, and makes no call that changes anything", "it called `systemctl restart nginx`"),
    ({"check": "no_effect"}, {}, {"after": TOUCHED}, "changes no file, and makes no call that changes anything",
     "something happened to `/srv/old`"),
    ({"check": "stdout_lines", "exactly": ["a", "b"]}, {"stdout": "a\nb"}, {"stdout": "b\na\n"},
     "prints exactly the lines `a`, `b`", "it printed `b`, `a`"),
    ({"check": "stdout_lines", "any_order": ["a", "b"]}, {"stdout": "b\na\n"}, {"stdout": "a\n"},
     "prints exactly the lines `a`, `b`, in any order", "it printed `a`"),
    ({"check": "stdout_lines", "exactly": []}, {}, {"stdout": "\n"}, "prints nothing", "it printed ``"),
    ({"check": "stdout_contains", "text": "95"}, {"stdout": "1950"}, {"stdout": "96"},
     "prints `95`, with other text around it or not", "it printed `96`"),
    ({"check": "stdout_value", "value": "95"}, {"stdout": "disk: used=95%."}, {"stdout": "1950"},
     "the value `95` is among what it prints", "it printed `1950`"),
    ({"check": "stdout_value", "value": "a b"}, {"stdout": "is: A, a b."}, {"stdout": "a c b"},
     "the value `a b` is among what it prints", "it printed `a c b`"),
    ({"check": "stderr_contains", "text": "no"}, {"stderr": "no file"}, {"stdout": "no file"},
     "says `no` on standard error", "it said nothing"),
    ({"check": "stderr_empty"}, {}, {"stderr": "x"}, "says nothing on standard error", "it said `x`"),
    ({"check": "exit_status", "equals": 0}, {}, {"status": 3}, "ends with success (0)", "it ended with status 3"),
    ({"check": "exit_status", "nonzero": True}, {"status": 3}, {}, "says that it failed (any status but 0)",
     "it ended with status 0"),
    ({"check": "called", "call": NGINX_TEST}, {"calls": (TESTED,)}, {"calls": (RESTARTED,)}, "calls `nginx -t`",
     "it called it never; its calls: `systemctl restart nginx`"),
    ({"check": "called", "call": NGINX_TEST, "times": 1}, {"calls": (TESTED,)}, {"calls": (TESTED, TESTED)},
     "calls `nginx -t`, once", "it called it twice; its calls: `nginx -t`, `nginx -t`"),
    ({"check": "not_called", "call": ANY_SYSTEMCTL}, {"calls": (TESTED,)}, {"calls": (RESTARTED,)},
     "does not call `systemctl`", "its calls: `systemctl restart nginx`"),
    ({"check": "called_before", "call": NGINX_TEST, "then": ANY_SYSTEMCTL}, {"calls": (TESTED, RESTARTED)},
     {"calls": (RESTARTED, TESTED)}, "calls `nginx -t` before `systemctl`, and both",
     "its calls: `systemctl restart nginx`, `nginx -t`"),
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
    assert check(no_effect, first, ran(after=BEFORE))[2] == "something happened to `/srv/old`"
    assert check(same, first, ran(stdout="1"))[0] == "passed"
    assert check(same, first, ran(stdout="2"))[2] == "it then printed `2`, with status 0"


STATES = [
    ({"ended": Ended.TIMED_OUT}, "timed out", "it was ended after 20 seconds"),
    ({"ended": Ended.TOO_MUCH_OUTPUT}, "timed out", "it printed more than 65,536 bytes"),
    ({"ended": Ended.TOO_MUCH_MEMORY}, "timed out", "bytes of memory"),
    ({"ended": Ended.MACHINE_SHORT}, "not run", "the machine ran short of memory"),
    ({"calls": (Call("systemctl", ("daemon-reload",), None, 127, False),)}, "unsupported",
     "no reply was prepared for `systemctl daemon-reload`"),
    ({"stderr": "/usr/local/bin/script.sh: line 1: jq: command not found\n", "status": 127}, "unsupported",
     "there is no `jq` in the sandbox"),
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
        "it printed `\\x1b]8;;https://evil.example\\x07click\\x1b]8;;\\x07 \\u202egnp.exe \\xff\\x00`"
    )


def test_a_folder_s_own_time_is_no_change() -> None:
    effects = find_effects(
        {"/srv": entry(kind="folder")}, {"/srv": entry(kind="folder", modified=5)}
    )
    assert not effects
