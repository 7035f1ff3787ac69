"""Tests for which lines are recovered and which stay unread if the grammar cannot read a whole script."""

from __future__ import annotations

import random
import threading
import time

import pytest

from catalog.analysis import Risk, analyse_static, find_parameters
from catalog.analysis.shell import parsing

# Each row has the unread lines, the risk, and the number of analyzed lines.
UNREAD = {
    "one line": ("ls\nls )\nls\n", (2, None), Risk.HIGH, 2),
    "two lines": ("ls\nls )\nls |)\nls\n", (2, 3), Risk.HIGH, 2),
    "line in a function": ("f() {\n  ls )\n}\nf\n", (2, None), Risk.HIGH, 3),
    "line in a loop": ("for a in b; do\n  ls\n  ls )\ndone\n", (3, None), Risk.HIGH, 3),
    "assignment": ("ls\nx=(a\n", (2, None), Risk.HIGH, 1),
    "variable as a command": ("ls\n$x )\n", (2, None), Risk.HIGH, 1),
    "open string": ('ls\nls "a\n', (2, None), Risk.HIGH, 1),
    "text of a shell": ("bash <<'E'\nls\nls )\nE\n", (3, None), Risk.HIGH, 3),
    "bracket alone": ("ls\n)\nls\n", (2, None), Risk.LOW, 2),
    "brackets and a comment": ("ls\n# a word\n) )\nls\n", (3, None), Risk.LOW, 3),
    "operator alone": ("ls\n&&\nls\n", (2, None), Risk.LOW, 2),
}


def test_unread_lines_are_a_finding_that_raises_the_risk(subtests: pytest.Subtests) -> None:
    for name, (script, lines, risk, analyzed) in UNREAD.items():
        with subtests.test(name):
            report = analyse_static(script)
            unread = [one for one in report.findings if one.code in ("unparsed", "skipped")]
            assert [(one.line, one.end_line) for one in unread] == [lines]
            # A script with an unread line is never called read-only.
            assert report.risk is max(risk, Risk.MEDIUM, key=list(Risk).index)
            assert report.coverage == (analyzed, len(script.splitlines()))


def test_unread_lines_yield_no_parameters() -> None:
    script = "cat <<EOF>f\n${HOST:?name of the host}\nEOF\nls ) ${PORT:?port}\nX=${X:-1} )\n"
    assert [parameter.name for parameter in find_parameters(script)] == ["HOST"]


CPU_SECONDS = 3.0  # several times what an input needs, and much less than quadratic time
PIPES = ("a|", "}|", "~|\n", "=|&", "../|", "|*", "|do ", "a|\n", "a |& ", "|,", "'|'|")
OTHER_FRAGMENTS = (
    "|", "<<E\n", "cat <<E>f\n", "cat <<E>f\nE\n", "a=(", "+&&$[", "a()", ")", ")-[", "2>?$[", "{;;)",
    '"$(', "${x%", "f() {\n", "ls )\n", "f() {\n  rm )\n}\n", "some prose; (quite) long\n", "ls\n",
)  # fmt: skip
TOKENS = (
    "a | || && ; \n ( ) { } [ [[ $( ` \" ' <<E < > <( ${ if then while do done case in esac a=( a= ! & "
    "\\ $ a() <<< @( ${a a[ )) $[ - * time elif fi \nE\n ;; =~ "
)


def _check_cpu_time(script: str) -> None:
    started = time.thread_time()
    analyse_static(script[:1_000_000])
    assert time.thread_time() - started < CPU_SECONDS


@pytest.mark.parametrize("fragment", PIPES)
def test_many_pipes_are_refused_before_parsing(fragment: str) -> None:
    _check_cpu_time(fragment * 20_000)
    assert analyse_static(fragment * 20_000).risk is Risk.HIGH


@pytest.mark.slow
@pytest.mark.parametrize("fragment", OTHER_FRAGMENTS)
def test_one_megabyte_of_a_fragment_takes_bounded_cpu_time(fragment: str) -> None:
    _check_cpu_time(fragment * 1_000_000)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(40))
def test_random_fragment_takes_bounded_cpu_time(seed: int) -> None:
    chosen = random.Random(seed)
    fragment = "".join(chosen.choices(TOKENS.split(" "), k=chosen.randint(1, 4))) or " "
    _check_cpu_time(fragment * (100_000 // len(fragment)) + chosen.choice(["", "\n", " x; }"]))


def test_text_with_many_errors_is_parsed_a_bounded_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parse_once, parsed = parsing._parse_once, []

    def count(*arguments: object) -> object:
        parsed.append(arguments)
        return parse_once(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(parsing, "_parse_once", count)
    monkeypatch.setattr(parsing, "PARSE_SECONDS", 60.0)
    monkeypatch.setattr(parsing, "MAXIMUM_PARTS", 500)
    report = analyse_static("f() {\nls )\n" * 2_000)
    assert report.risk is Risk.HIGH
    assert len(parsed) < 600


@pytest.mark.slow
def test_other_threads_run_while_a_large_text_is_parsed() -> None:
    clock = time.pthread_getcpuclockid(threading.get_ident())
    ticks, is_done = [], threading.Event()

    def tick() -> None:
        while not is_done.wait(0.01):
            ticks.append(time.clock_gettime(clock))

    ticker = threading.Thread(target=tick)
    ticker.start()
    for fragment in ("a|" * 750 + "\n", "a=(", "<<E\n", "+&&$[", "ls )\n"):
        analyse_static(fragment * (1_000_000 // len(fragment)))
    is_done.set()
    ticker.join()
    # The CPU time between two ticks of this thread does not depend on other load.
    assert max(after - before for before, after in zip(ticks, ticks[1:], strict=False)) < 0.4
