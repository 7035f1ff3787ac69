"""Tests for the command with the real client and a separate demo model process, without database rows."""

from __future__ import annotations

import io
import json
from pathlib import Path

import anthropic
import pytest
from django.core.management import CommandError, call_command

from pipeline.error_model.rates import Simulation, load_presets
from tests.standin_process import StandIn

FIGURE = {"numerator", "denominator", "value", "low", "high", "closed_form", "agrees"}


def run(*arguments: str) -> tuple[str, str]:
    """Run the command, and return its standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command("simulate", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.slow
def test_the_json_is_the_documented_one_and_the_same_whatever_the_threads() -> None:
    asked = ("--items", "12", "--rounds", "2", "--preset", "paper", "--recall", "0.6", "--json")
    said, progress = run(*asked)
    report = json.loads(said)
    assert set(report) == {"simulated", "seed", "items", "configurations", "agreement"}
    assert set(report["agreement"]) == {"figures", "outside", "outside_together"}
    paper, own = report["configurations"]
    assert (paper["name"], own["name"], own["rates"]["recall"]) == ("paper", "own", "3/5")
    assert set(paper) == {"name", "title", "note", "rates", "prices", "figures", "rounds"}
    assert [each["rounds"] for each in paper["rounds"]] == [0, 2]
    assert set(paper["rounds"][1]) == {
        "rounds",
        "figures",
        "tokens_per_item",
        "cost",
        "cost_per_item",
        "cost_per_right_gained",
    }
    assert set(paper["rounds"][1]["figures"]["net_as_recommended"]) == FIGURE
    assert paper["figures"]["first_pass_accuracy"] == own["figures"]["first_pass_accuracy"]
    assert paper["rounds"][0]["cost"] > 0
    assert "24 of 24 items" in progress
    assert run(*asked, "--workers", "1")[0] == said


@pytest.mark.slow
def test_people_read_that_it_is_simulated() -> None:
    said, _ = run("--items", "3", "--rounds", "1", "--unreadable", "1")
    assert "Simulated: 3 items" in said and "No model was called" in said
    assert "assessor_unknown" in said and "3/3" in said
    assert "guard ignored" in said


def test_what_cannot_be_simulated_is_refused(subtests: pytest.Subtests) -> None:
    cases = {
        "rate above 1": (("--generator", "1.5"), "generator"),
        "no number": (("--recall", "often"), "recall"),
        "no such file": (("--configuration", "/nowhere.yaml"), "nowhere"),
        "more rounds than there are": (("--rounds", "5"), "from 0 to 4"),
        "no items": (("--items", "0"), "from 1"),
    }
    for name, (arguments, says) in cases.items():
        with subtests.test(name), pytest.raises(CommandError, match=says):
            run(*arguments)


def test_two_configurations_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "rates.json"
    paper = load_presets()["paper"].model_dump_json()
    file.write_text(f'{{"configurations": [{paper}]}}')
    with pytest.raises(CommandError, match="Two configurations") as refused:
        run("--configuration", str(file), "--preset", "paper")
    assert refused.value.returncode == 2


@pytest.mark.slow
def test_the_stand_in_in_simulation_mode_answers_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "rates.json"
    simulation = Simulation(seed=1, configurations=(load_presets()["paper"],))
    file.write_text(simulation.model_dump_json())
    with StandIn("--simulate", str(file)) as standin:
        client = anthropic.Anthropic(api_key="none", base_url=standin.url, max_retries=0)
        with pytest.raises(anthropic.NotFoundError, match="demo-smith"):
            _ask(client, "demo-smith")
        assert "answers only the tasks of its pipeline" in str(
            _ask(client, "simulated-paper").content
        )


def _ask(client: anthropic.Anthropic, model: str) -> anthropic.types.Message:
    return client.messages.create(
        model=model,
        max_tokens=100,
        system="Task: generate",
        messages=[{"role": "user", "content": "<statement-1>\nlist /etc\n</statement-1>"}],
    )
