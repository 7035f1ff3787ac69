"""Tests for the format of a test suite and for the error messages about invalid suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catalog.execution.cases import CaseRefused, json_schema, read_case_set
from catalog.execution.cases.dates import fill_dates
from catalog.execution.cases.personas import load_personas
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


REFUSED = {
    "bytes that are no text": (b"\xff", "Invalid JSON"),
    "nested for ever": ("[" * 5000, "Invalid JSON"),
    "nothing in it": ("{}", "statement: Field required"),
    "too large": (" " * (5 << 20), "larger than 4 MB"),
    "another format": (set_data(format=2), "format"),
    "a field nobody knows": (set_data(code="id"), "code: Extra inputs"),
    "one title twice": (set_data(*[case_data()] * 2), "wo tests have the title"),
    "about something else": (set_data(case_data(about="younger than an hour")), "which is not part of the statement"),
    "an unknown check": (set_data(case_data({"check": "python", "code": "1"})), "expect.1"),
    "13 checks": (set_data(case_data(*[{"check": "stderr_empty"}] * 13)), "at most 12"),
    "no check": (set_data(case_data(expect=[])), "at least 1 item"),
    "up and out": (files("/srv/../../etc/passwd"), "without . and .."),
    "up and out, by a date": (files("/srv/{date:..}/x"), "without . and .."),
    "no name, by a date": (files("/srv/{date:/}"), "not an absolute path"),
    "a relative path": (files("etc/passwd"), "not an absolute path"),
    "over a program": (files("/usr/bin/bash"), "is reserved for the programs"),
    "in proc": (files("/proc/1/environ"), "is reserved for the programs"),
    "a name with a line break": (files("/srv/a\nb"), "line break"),
    "a name with a NUL byte": (files("/srv/a\0b"), "without"),
    "one file twice": (files("/srv/a", "/srv/a"), "is listed twice"),
    "in a file": (files("/srv/a", "/srv/a/b"), "which is not a folder"),
    "10,000 files": (files(*(f"/srv/{n}" for n in range(10_000))), "at most 200"),
    "through a link": (world(files=[{"path": "/srv/out", "link": "/"}, {"path": "/srv/out/etc/x"}]),
     "which is not a folder"),
    "too many bytes": (world(files=[{"path": f"/srv/{n}", "size": 10 << 20} for n in range(2)]), "bytes in total"),
    "a file from the future": (world(files=[{"path": "/srv/a", "age": "-2h"}]), "age"),
    "two kinds": (world(files=[{"path": "/srv/a", "content": "x", "link": "y"}]), "only one of"),
    "another bash": (world(commands={"bash": []}), "bash can't be stubbed"),
    "a command with a path": (world(commands={"../x": []}), "commands"),
    "an answer of sudo": (world(commands={"sudo": []}), "so it can't have replies"),
    "LD_PRELOAD": (world(environment={"LD_PRELOAD": "x"}), "change the shell"),
    "a path in proc": (world(proc={"../x": ""}), "can't be set"),
    "a folder above all": (world(cwd="/.."), "without . and .."),
    "no paths": (set_data(case_data({"check": "removed", "includes": []})), "never fail"),
    "an empty text": (set_data(case_data({"check": "stdout_contains", "text": ""})), "at least 1 character"),
    "no value": (set_data(case_data({"check": "stdout_value", "value": "..."})), "must contain a letter or a digit"),
    "any status": (set_data(case_data({"check": "exit_status"})), "either"),
    "a pattern of everything":
     (set_data(case_data({"check": "content", "path": "/srv/a", "matches": ".*"})), "can never fail"),
    "no pattern":
     (set_data(case_data({"check": "content", "path": "/srv/a", "matches": "(a"})), "A pattern is invalid"),
    "a date that a minute changes":
     (set_data(case_data({"check": "stdout_contains", "text": "{date:%H}"})), "is not a valid date"),
}  # fmt: skip


def test_invalid_case_is_refused_in_plain_text() -> None:
    said = {name: refusal(data) for name, (data, _words) in REFUSED.items()}
    assert {
        name: said[name] for name, (_, words) in REFUSED.items() if words not in said[name]
    } == {}
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


def test_case_set_is_frozen_and_hashed_by_content() -> None:
    made = make_set()
    assert make_set(author={"kind": "model", "name": "m"}).sha256 == made.sha256
    assert make_set(case_data(kind="border")).sha256 != made.sha256
    assert make_set(parameters={"DAYS": "7"}).sha256 != made.sha256
    with pytest.raises(ValueError, match="frozen"):
        make_set().cases[0].title = "other"


def test_the_published_schema_is_the_format() -> None:
    published = ROOT / "docs" / "case-format.schema.json"
    assert json.loads(published.read_text()) == json_schema()


DATES = [
    ("backup-{date:%F}.gz", "backup-2024-03-01.gz"),
    ("{date:%Y%m%d:-1d}", "20240229"),
    ("{date:%d %b:+1w}", "08 Mar"),
    ("{data} ${date} {}", "{data} ${date} {}"),
]


def test_dates_are_those_of_the_day_of_the_run() -> None:
    day = 1709251200 + 60
    assert [(text, *fill_dates({"a": [text]}, day)["a"]) for text, _filled in DATES] == DATES
    case = make_case(
        {"check": "added", "exactly": ["/srv/{date:%F}"]},
        world={"commands": {"x": [{"args": ["{date:%F}"]}]}},
    ).with_dates(0)
    assert case.expect[0].sentence() == "adds exactly `/srv/1970-01-01`"
    assert case.world.commands["x"][0].args == ("1970-01-01",)


def test_recorded_commands_are_never_the_host_s_own() -> None:
    assert {command["name"] for command in World().list_commands()} == set(load_personas())
