"""What a case set may be, and in which words anything else is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catalog.execution.cases import CaseRefused, json_schema, read_case_set
from catalog.execution.cases.dates import fill_dates
from catalog.execution.cases.personas import load_personas, only_reads
from catalog.execution.cases.world import World
from tests.catalog.execution.cases.writing import case_data, make_case, make_set, set_data

ROOT = Path(__file__).parents[4]


def refusal(data: Any) -> str:
    with pytest.raises(CaseRefused) as refused:
        read_case_set(data if isinstance(data, (str, bytes)) else json.dumps(data))
    assert refused.value.complaints
    return str(refused.value)


def world(**parts: Any) -> dict[str, Any]:
    return set_data(case_data(world=parts))


def files(*paths: str) -> dict[str, Any]:
    return world(files=[{"path": path} for path in paths])


@pytest.mark.parametrize(
    "data, words",
    [
        pytest.param(b"\xff", "Invalid JSON", id="bytes that are no text"),
        pytest.param("[" * 5000, "Invalid JSON", id="nested for ever"),
        pytest.param("{}", "statement: Field required", id="nothing in it"),
        pytest.param(" " * (5 << 20), "at most 4 MB", id="too large"),
        pytest.param(set_data(format=2), "format", id="another format"),
        pytest.param(set_data(code="id"), "code: Extra inputs", id="a field nobody knows"),
        pytest.param(set_data(*[case_data()] * 2), "wo cases have the title", id="one title twice"),
        pytest.param(
            set_data(case_data(about="younger than an hour")),
            "which the statement does not say",
            id="about something else",
        ),
        pytest.param(
            set_data(case_data({"check": "python", "code": "1"})), "expect.1", id="an unknown check"
        ),
        pytest.param(
            set_data(case_data(*[{"check": "stderr_empty"}] * 13)), "at most 12", id="13 checks"
        ),
        pytest.param(set_data(case_data(expect=[])), "at least 1 item", id="no check"),
        pytest.param(files("/srv/../../etc/passwd"), "without . and ..", id="up and out"),
        pytest.param(files("/srv/{date:..}/x"), "without . and ..", id="up and out, by a date"),
        pytest.param(files("/srv/{date:/}"), "not an absolute path", id="no name, by a date"),
        pytest.param(files("etc/passwd"), "not an absolute path", id="a relative path"),
        pytest.param(files("/usr/bin/bash"), "keeps its programs", id="over a program"),
        pytest.param(files("/proc/1/environ"), "keeps its programs", id="in proc"),
        pytest.param(files("/srv/a\nb"), "line break", id="a name with a line break"),
        pytest.param(files("/srv/a\0b"), "without", id="a name with a NUL byte"),
        pytest.param(files("/srv/a", "/srv/a"), "is there twice", id="one file twice"),
        pytest.param(files("/srv/a", "/srv/a/b"), "which is no folder", id="in a file"),
        pytest.param(
            files(*(f"/srv/{n}" for n in range(10_000))), "at most 200", id="10,000 files"
        ),
        pytest.param(
            world(files=[{"path": "/srv/out", "link": "/"}, {"path": "/srv/out/etc/x"}]),
            "which is no folder",
            id="through a link",
        ),
        pytest.param(
            world(files=[{"path": f"/srv/{n}", "size": 10 << 20} for n in range(2)]),
            "larger than",
            id="too many bytes",
        ),
        pytest.param(
            world(files=[{"path": "/srv/a", "age": "-2h"}]), "age", id="a file from the future"
        ),
        pytest.param(
            world(files=[{"path": "/srv/a", "content": "x", "link": "y"}]), "one of", id="two kinds"
        ),
        pytest.param(world(commands={"bash": []}), "always the real one", id="another bash"),
        pytest.param(world(commands={"../x": []}), "commands", id="a command with a path"),
        pytest.param(world(commands={"sudo": []}), "has no replies", id="an answer of sudo"),
        pytest.param(world(environment={"LD_PRELOAD": "x"}), "change the shell", id="LD_PRELOAD"),
        pytest.param(world(proc={"../x": ""}), "cannot be prepared", id="a path in proc"),
        pytest.param(world(cwd="/.."), "without . and ..", id="a folder above all"),
        pytest.param(
            set_data(case_data({"check": "removed", "includes": []})), "never fail", id="no paths"
        ),
        pytest.param(
            set_data(case_data({"check": "stdout_contains", "text": ""})),
            "at least 1 character",
            id="an empty text",
        ),
        pytest.param(
            set_data(case_data({"check": "stdout_value", "value": "..."})),
            "neither a letter nor a digit",
            id="no value",
        ),
        pytest.param(set_data(case_data({"check": "exit_status"})), "either", id="any status"),
        pytest.param(
            set_data(case_data({"check": "content", "path": "/srv/a", "matches": ".*"})),
            "could never fail",
            id="a pattern of everything",
        ),
        pytest.param(
            set_data(case_data({"check": "content", "path": "/srv/a", "matches": "(a"})),
            "cannot be read",
            id="no pattern",
        ),
        pytest.param(
            set_data(case_data({"check": "stdout_contains", "text": "{date:%H}"})),
            "is no date of a case",
            id="a date that a minute changes",
        ),
    ],
)
def test_what_is_no_case_is_refused_in_words(data: Any, words: str) -> None:
    assert words in refusal(data)


def test_a_refusal_repeats_nothing_that_could_move_a_cursor() -> None:
    said = refusal(set_data(case_data(about="\x1b[2J\x1b]8;;http://x\x07 \u202e")))
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\\x1b" in said


def test_what_is_read_is_written_the_same_again() -> None:
    made = make_set(
        case_data(
            {"check": "removed", "exactly": ["/var/log/a"]},
            world={
                "files": [{"path": "/var/log/a", "age": "193h", "mode": "0640"}],
                "commands": {"systemctl": [{"args": ["x"], "if": {"a": "b"}, "sets": {"a": "c"}}]},
            },
        )
    )
    again = read_case_set(made.model_dump_json(by_alias=True))
    assert again == made
    assert again.sha256 == made.sha256


def test_the_hash_is_of_what_is_tested_and_not_of_who_wrote_it() -> None:
    made = make_set()
    assert make_set(author={"kind": "model", "name": "m"}).sha256 == made.sha256
    assert make_set(case_data(kind="border")).sha256 != made.sha256
    assert make_set(parameters={"DAYS": "7"}).sha256 != made.sha256


def test_a_case_set_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        make_set().cases[0].title = "other"  # type: ignore[misc]


def test_the_published_schema_is_the_format() -> None:
    published = ROOT / "docs" / "case-format.schema.json"
    assert json.loads(published.read_text()) == json_schema()


@pytest.mark.parametrize(
    "text, filled",
    [
        ("backup-{date:%F}.gz", "backup-2024-03-01.gz"),
        ("{date:%Y%m%d:-1d}", "20240229"),
        ("{date:%d %b:+1w}", "08 Mar"),
        ("{data} ${date} {}", "{data} ${date} {}"),
    ],
)
def test_a_date_is_that_of_the_day_it_runs(text: str, filled: str) -> None:
    assert fill_dates({"a": [text]}, 1709251200 + 60) == {"a": [filled]}


def test_dates_reach_paths_replies_and_expectations() -> None:
    case = make_case(
        {"check": "added", "exactly": ["/srv/{date:%F}"]},
        world={"commands": {"x": [{"args": ["{date:%F}"]}]}},
    ).with_dates(0)
    assert case.expect[0].sentence() == "adds exactly `/srv/1970-01-01`"
    assert case.world.commands["x"][0].args == ("1970-01-01",)


def test_forty_commands_are_never_the_host_s_own() -> None:
    named = set(load_personas())
    assert len(named) >= 25
    assert named >= {
        "systemctl", "service", "journalctl", "kubectl", "docker", "podman", "psql", "mysql",
        "redis-cli", "nginx", "apachectl", "curl", "wget", "ssh", "scp", "apt-get", "yum", "dnf",
        "crontab", "mail", "ip", "ss", "iptables", "mount", "umount", "df", "lsblk", "dig", "host",
        "reboot", "shutdown", "sudo", "su", "runuser", "chown",
    }  # fmt: skip
    assert {command["name"] for command in World().list_commands()} == named


@pytest.mark.parametrize(
    "call, reads",
    [
        ("systemctl status nginx", True),
        ("systemctl restart nginx", False),
        ("kubectl get pods -A", True),
        ("kubectl delete pod x", False),
        ("nginx -t", True),
        ("nginx -s reload", False),
        ("sudo systemctl restart nginx", True),  # the call below it is the one that changes
        ("unknown", False),
    ],
)
def test_which_calls_only_read_is_known(call: str, reads: bool) -> None:
    command, *arguments = call.split()
    assert only_reads(command, tuple(arguments)) is reads
