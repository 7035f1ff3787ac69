"""Tests for the contents of a prepared scenario, and that building a scenario writes nothing outside it."""

from __future__ import annotations

import pytest

from catalog.execution.helper.messages import CommandRequest, FileRequest
from catalog.execution.sandbox import CannotBePrepared, Limits, Observation, PreparedRun, Sandbox

LIMITS = Limits(seconds=30)


def run(sandbox: Sandbox, script: str, *files: FileRequest) -> str:
    seen = sandbox.run(PreparedRun(script=script, files=files, limits=LIMITS)).runs[0]
    assert seen.stderr == ""
    return seen.stdout


def test_files_have_their_content_mode_size_and_age(sandbox: Sandbox) -> None:
    printed = run(
        sandbox,
        "stat -c '%a %s' /etc/app.conf; du -k /srv/big | cut -f 1;"
        "find /var/log -type f -mtime +7; find /var/log -type f -amin -60; readlink /srv/link;"
        "cat /var/log/app/a.log",
        {"path": "/var/log/app/a.log", "kind": "file", "content": "text\n", "age": 200 * 3600.0},
        {"path": "/var/log/b.log", "kind": "file", "age": 190 * 3600.0, "accessed": 60.0},
        {"path": "/etc/app.conf", "kind": "file", "content": "x", "mode": 0o640},
        {"path": "/srv/big", "kind": "file", "size": 1_000_000},
        {"path": "/srv/link", "kind": "link", "target": "/etc/passwd"},
    )
    assert printed.splitlines() == [
        "640 1",
        "980",
        "/var/log/app/a.log",
        "/var/log/b.log",
        "/etc/passwd",
        "text",
    ]


LEADING_OUT = [
    "relative", "/a/../b", "/a/./b", "/a//b", "/", "", "/usr/bin/x", "/proc/x", "/dev/x",
    "/etc/alternatives/awk", "/bin/x", "/nul\0",
]  # fmt: skip


def test_dangerous_preparation_is_refused(subtests: pytest.Subtests) -> None:
    for path in LEADING_OUT:
        with subtests.test(path), pytest.raises(CannotBePrepared):
            PreparedRun(script=":", files=({"path": path, "kind": "file"},))
    for name in VARIABLES:
        with subtests.test(name), pytest.raises(CannotBePrepared):
            PreparedRun(script=":", environment={name: "x"})
    for name in UNRECORDABLE:
        with subtests.test(name), pytest.raises(CannotBePrepared):
            PreparedRun(script=":", commands=({"name": name, "mode": "reply", "rules": []},))


TARGETS = ["/etc", "../../../..", "/", "."]


def test_a_link_of_the_case_is_never_followed(sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    """Links are created last, and the parent folders of files are never links."""
    for target in TARGETS:
        with subtests.test(target):
            files: tuple[FileRequest, ...] = (
                {"path": "/srv/out", "kind": "link", "target": target},
                {"path": "/srv/out/file", "kind": "file", "content": "x"},
            )
            with pytest.raises(CannotBePrepared, match="/srv/out"):
                sandbox.run(PreparedRun(script=":", files=files))


def test_impossible_file_is_refused(sandbox: Sandbox) -> None:
    files: tuple[FileRequest, ...] = ({"path": "/var/run/x", "kind": "file"},)
    with pytest.raises(CannotBePrepared, match="/var/run/x"):
        sandbox.run(PreparedRun(script=":", files=files))
    files: tuple[FileRequest, ...] = ({"path": "/srv/x", "kind": "file", "size": 64 << 20},)
    with pytest.raises(CannotBePrepared, match="No space left"):
        sandbox.run(PreparedRun(script=":", files=files))


def test_arguments_input_environment_and_folder_reach_the_script(sandbox: Sandbox) -> None:
    seen = sandbox.run(
        PreparedRun(
            script='printf "%s|" "$@" "$LEVEL" "$PWD" "$(cat)" "$HOSTNAME"',
            arguments=("a b", "$(id)", "-n"),
            stdin="given\n",
            environment={"LEVEL": "`id`"},
            cwd="/srv",
            hostname="db-7",
        )
    )
    assert seen.runs[0].stdout == "a b|$(id)|-n|`id`|/srv|given|db-7|"


VARIABLES = ["BASH_ENV", "LD_PRELOAD", "A B", "1A", "BASH_FUNC_x%%"]


def test_prepared_processes_and_figures_of_proc_are_seen(sandbox: Sandbox) -> None:
    seen = sandbox.run(
        PreparedRun(
            script="pgrep -x nginx | wc -l; cut -d ' ' -f 1 /proc/loadavg; pkill nginx; echo $?",
            processes=("nginx", "nginx"),
            proc={"loadavg": "9.50 4.20 1.10 2/300 1234\n"},
        )
    )
    assert seen.runs[0].stdout == "2\n9.50\n0\n"


NGINX: tuple[CommandRequest, ...] = (
    {"name": "systemctl", "mode": "reply",
     "rules": [{"args": ["restart", "nginx"], "sets": {"nginx": "active"}}, {"args": ["is-active", "*"],
     "requires": {"nginx": "active"}, "stdout": "active\n"}, {"args": ["is-active", "*"], "stdout": "inactive\n",
     "exit": 3}, {"args": ["list-units", "**"], "stderr": "none\n"}]},
    {"name": "sudo", "mode": "sudo", "rules": []},
    {"name": "su", "mode": "su", "rules": []},
    {"name": "chown", "mode": "real", "rules": []},
    {"name": "psql", "mode": "reply", "rules": [{"stdin": "*DELETE*", "stdout": "DELETE 3\n"}]},
)  # fmt: skip


def call(sandbox: Sandbox, script: str, failing_call: int | None = None) -> Observation:
    return sandbox.run(PreparedRun(script=script, commands=NGINX, failing_call=failing_call))


def test_a_recorded_command_answers_from_its_state_by_any_path(sandbox: Sandbox) -> None:
    seen = call(
        sandbox,
        "systemctl is-active nginx; echo $?; /usr/bin/systemctl restart nginx;"
        "PATH=/bin; systemctl is-active nginx; /usr/sbin/systemctl list-units --failed 'a b'",
    ).runs[0]
    assert seen.stdout == "inactive\n3\nactive\n"
    assert seen.stderr == "none\n"
    assert [made.arguments for made in seen.calls] == [
        ("is-active", "nginx"),
        ("restart", "nginx"),
        ("is-active", "nginx"),
        ("list-units", "--failed", "a b"),
    ]


def test_a_call_nobody_prepared_ends_with_127_and_is_noted(sandbox: Sandbox) -> None:
    seen = call(sandbox, "systemctl daemon-reload; echo $?").runs[0]
    assert seen.stdout == "127\n"
    assert [(made.prepared, made.status) for made in seen.calls] == [(False, 127)]


def test_a_command_that_changes_the_user_goes_on_to_what_it_would_run(sandbox: Sandbox) -> None:
    seen = call(
        sandbox,
        "sudo -u www-data LEVEL=1 systemctl restart nginx; su - app -c 'echo $((6 * 7))';"
        "sudo -n -- chown www-data /srv && echo changed",
    ).runs[0]
    assert seen.stdout == "42\nchanged\n"
    assert [made.command for made in seen.calls] == ["sudo", "systemctl", "su", "sudo", "chown"]


@pytest.mark.slow
def test_the_input_of_a_command_is_recorded_where_a_rule_asks_for_it(sandbox: Sandbox) -> None:
    script = "psql orders <<< 'DELETE FROM old'; echo 'SELECT 1' | psql; echo $?"
    seen = call(sandbox, script).runs[0]
    assert seen.stdout == "DELETE 3\n127\n"
    assert [made.stdin for made in seen.calls] == ["DELETE FROM old\n", "SELECT 1\n"]


def test_a_recorded_call_can_fail_once(sandbox: Sandbox) -> None:
    script = "systemctl restart nginx || echo failed; systemctl restart nginx && echo done"
    assert call(sandbox, script, failing_call=0).runs[0].stdout == "failed\ndone\n"


CHANGING = [
    "systemctl() { :; }; printf() { :; }; export -f printf",
    "echo exit > /tmp/env; export BASH_ENV=/tmp/env",
    "export PATH=/nowhere SHELLOPTS",
    "export IFS=0; set -f",
]


def test_script_can_not_change_recordings(sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    for script in CHANGING:
        with subtests.test(script):
            seen = call(sandbox, f"{script}; /usr/bin/systemctl restart nginx").runs[0]
            assert [made.arguments for made in seen.calls] == [("restart", "nginx")]


def test_noise_on_the_reply_port_is_no_call_and_stops_nothing(sandbox: Sandbox) -> None:
    script = (
        'for i in {1..40}; do eval "exec $((i + 10))<>/dev/tcp/127.255.255.254/1"; done 2>/dev/null;'
        "printf 'x\\0junk\\0' >&11; printf 'systemctl\\099999\\0' >&12; exec 13>&-;"
        'for i in {1..40}; do eval "exec $((i + 10))>&-"; done;'
        "systemctl restart nginx && echo answered"
    )
    assert call(sandbox, script).runs[0].stdout == "answered\n"


@pytest.mark.slow
def test_a_command_that_calls_itself_ends_with_the_run(sandbox: Sandbox) -> None:
    commands: tuple[CommandRequest, ...] = ({"name": "sudo", "mode": "sudo", "rules": []},)
    script = 'f=(sudo); for i in {1..200}; do f+=(sudo); done; "${f[@]}" echo deep'
    seen = sandbox.run(PreparedRun(script=script, commands=commands, limits=LIMITS)).runs[0]
    assert seen.stdout == "deep\n"


UNRECORDABLE = ["bash", "sh", "base64", "../x", "a/b", "", "-x", "a\nb"]


def test_the_second_run_finds_what_the_first_left(sandbox: Sandbox) -> None:
    seen = sandbox.run(PreparedRun(script="echo x >> /srv/log; wc -l < /srv/log", runs=2))
    assert [made.stdout for made in seen.runs] == ["1\n", "2\n"]
    assert [made.after["/srv/log"].size for made in seen.runs] == [2, 4]
    assert "/srv/log" not in seen.before


def test_a_program_whose_reader_is_gone_ends_without_a_word(sandbox: Sandbox) -> None:
    """Outside the sandbox, a closed pipe also kills its writer, and `pipefail` reports this."""
    assert run(sandbox, "yes | head -n 1; echo ${PIPESTATUS[0]}") == "y\n141\n"
