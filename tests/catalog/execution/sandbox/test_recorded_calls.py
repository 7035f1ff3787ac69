"""Tests for stubbed commands as the helper sees them: their input, calls through sudo, and limits."""

from __future__ import annotations

import pytest

from catalog.execution.cases.world import World
from catalog.execution.sandbox import Limits, Observation, PreparedRun, Sandbox

LIMITS = Limits(seconds=60)
WORLD = World.model_validate_json(
    '{"commands": {"mail": [{"args": ["**"]}], "psql": [{"args": ["**"]}], "systemctl": [{"args": ["**"]}]}}'
)


def run(sandbox: Sandbox, script: str) -> Observation:
    return sandbox.run(PreparedRun(script=script, commands=WORLD.list_commands(), limits=LIMITS))


@pytest.mark.parametrize("command", ["mail -s full ops", "psql -d app"])
def test_who_writes_to_one_that_reads_meets_no_closed_pipe(sandbox: Sandbox, command: str) -> None:
    seen = run(sandbox, f"set -o pipefail; seq 200000 | {command}; echo $?")
    assert seen.runs[0].stdout == "0\n"


def test_the_loop_around_one_that_reads_nothing_keeps_its_lines(sandbox: Sandbox) -> None:
    seen = run(
        sandbox, "printf '%s\\n' a b c | while read -r unit; do systemctl restart $unit; done"
    )
    assert [call.arguments[-1] for call in seen.runs[0].calls] == ["a", "b", "c"]


def test_sudo_gives_its_assignments_to_what_it_starts(sandbox: Sandbox) -> None:
    script = "sudo -u ada NAME='a b' LEVEL=2 bash -c 'echo $NAME-$LEVEL'; sudo -- A=1 env | grep ^A=; sudo echo x=y"
    assert run(sandbox, script).runs[0].stdout == "a b-2\nA=1\nx=y\n"


def test_a_call_that_is_dropped_leaves_no_verdict(sandbox: Sandbox) -> None:
    large = 'x=$(head -c 100000 /dev/zero | tr "\\0" x); systemctl "$x" "$x" "$x"'
    assert run(sandbox, large).cut == "a call of a stubbed command with more than 256 KB"


@pytest.mark.slow
def test_more_at_once_than_are_answered_leave_no_verdict(sandbox: Sandbox) -> None:
    script = "for i in {1..40}; do exec {held}<>/dev/tcp/127.255.255.254/1; done; sleep 1"
    seen = run(sandbox, script)
    assert seen.cut == "more than 32 calls of stubbed commands at once"
