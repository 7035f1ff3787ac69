"""Tests for the exact JSON and exit codes of the command, because users call it in scripts."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from pipeline.models import Action, Run
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db
EXPORTS = "delete files older than 30 days in /var/tmp/exports"


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("run_pipeline", *arguments, stdout=out)
    return out.getvalue()


def test_the_json_is_the_documented_one(standin: StandIn) -> None:
    report = json.loads(run(EXPORTS, "--json"))
    assert set(report) == {
        "run",
        "state",
        "origin",
        "configuration",
        "demo",
        "stages",
        "drafts",
        "verdict",
        "recommended",
        "script",
        "calls",
        "tokens",
        "cost",
    }
    assert set(report["stages"][0]) == {
        "name",
        "round",
        "outcome",
        "milliseconds",
        "input_tokens",
        "output_tokens",
    }
    assert set(report["drafts"][0]) == {"number", "kind", "sha256", "script", "verdict"}
    assert report["tokens"]["input"] > 0 and report["tokens"]["output"] > 0
    assert (report["verdict"], report["recommended"], report["demo"]) == ("correct", 1, True)
    assert report["script"] == report["drafts"][0]["script"]


def test_without_json_people_can_read_it(standin: StandIn) -> None:
    said = run(EXPORTS)
    assert "not reviewed yet" in said and "find /var/tmp/exports" in said


@pytest.mark.slow
def test_it_starts_a_demo_model_where_none_runs() -> None:
    assert json.loads(run(EXPORTS, "--json"))["state"] == "done"


def test_what_cannot_be_used_is_refused_and_leaves_nothing(subtests: pytest.Subtests) -> None:
    cases = {
        "empty": ("  ",),
        "100 kB": ("x" * 100_000,),
        "binary": ("a\0b",),
        "no such configuration": (EXPORTS, "--configuration", "nobody"),
        "endpoint switched off": (EXPORTS, "--configuration", "claude-peer-review"),
    }
    for name, arguments in cases.items():
        with subtests.test(name):
            with pytest.raises(CommandError) as refused:
                run(*arguments, "--json")
            assert refused.value.returncode == 2
            assert not Run.objects.exists()
            assert not Action.objects.exists()


def test_a_failed_run_prints_its_document_and_exits_1(standin: StandIn) -> None:
    standin.faults({"kind": "refusal", "task": "generate"})
    out = io.StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("run_pipeline", EXPORTS, "--json", stdout=out)
    assert failed.value.returncode == 1
    report = json.loads(out.getvalue())
    assert (report["state"], report["script"]) == ("failed", None)
    assert "refused" in report["problem"]
