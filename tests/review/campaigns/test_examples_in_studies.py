"""Tests that check the stored prompts for reference answers shown to a study's generator."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from catalog.exchange.services.importing import load_starter
from catalog.models import Entry
from pipeline.execution.run_worker import run_to_end
from pipeline.models import Configuration, ModelCall, Run
from pipeline.standin.prompt_contract import parse_prompt
from review.campaigns.services import editing, rules
from review.campaigns.services.runs import ask_for_runs, start_asked
from review.models import Campaign
from review.report.threats.counts import report_threats
from tests.catalog.shelf import shelve
from tests.make import make_action
from tests.pipeline.conftest import standin, standin_process
from tests.standin_process import StandIn

__all__ = ["standin", "standin_process"]

pytestmark = pytest.mark.django_db
STATEMENT = "Delete log files older than 30 days in /var/log/app"
TITLE, SCRIPT = "Report which log volumes of /var are almost full", "df -h /var | awk '$5+0 > 90'\n"
REFERENCE = "find /var/log/app -name '*.log' -type f -mtime +30 -delete\n"


def run_study(asked: dict[str, str], *, by: User, **given: object) -> Campaign:
    """Generate scripts for statements with references, using the default configuration, and return the study."""
    campaign = rules.create_campaign(
        "Study",
        by=by,
        rules=rules.Rules(**given),
        configurations=[Configuration.objects.get(name="demo")],
    )
    actions = [make_action(statement, reference=script) for statement, script in asked.items()]
    editing.add_actions(campaign, actions, by=by)
    ask_for_runs(campaign, by=by)
    start_asked(campaign)
    for run in Run.objects.filter(batch=campaign.batch):
        run_to_end(run.pk, give_up_after=60)
    return campaign


def examples() -> Iterator[tuple[Run, list[str]]]:
    """Yield each run of a study with the example scripts in its generator's prompt."""
    for call in ModelCall.objects.filter(stage="generate", run__origin="campaign"):
        prompt = parse_prompt("", call.request["messages"][0]["content"])
        yield call.run, prompt.all("EXAMPLE_SCRIPT")


def lines(script: str) -> str:
    return "\n".join(line.strip() for line in script.splitlines() if line.strip("# \t"))


@pytest.mark.slow
def test_no_prompt_of_a_study_contains_the_verified_script_of_its_statements(
    manager: User, standin: StandIn
) -> None:
    """Only the starter catalogue has entries that are as similar to each other as in a team's catalogue."""
    load_starter()
    entries = Entry.objects.answering().order_by("pk")[::9][:10]
    verified = {one.title: one.versions.get(state="verified").script for one in entries}
    assert len(verified) == 10
    # Half of the statements have no reference, so only the catalogue has their answer.
    asked = {title: verified[title] * (place % 2) for place, title in enumerate(verified)}
    run_study(asked, by=manager, uses_examples=True)

    found = list(examples())
    assert len(found) == 10 and sum(len(scripts) for _run, scripts in found) >= 10
    leaks = [
        run.action.statement
        for run, scripts in found
        for script in scripts
        if SequenceMatcher(
            None, lines(script), lines(verified[run.action.statement]), autojunk=False
        ).ratio()
        > 0.8
    ]
    assert not leaks


def test_examples_are_off_unless_study_and_configuration_have_them_on(
    manager: User, standin: StandIn, subtests: pytest.Subtests
) -> None:
    shelve(TITLE, script=SCRIPT)
    for in_study, in_configuration in ((None, True), (False, True), (True, True), (True, False)):
        with subtests.test(study=in_study, configuration=in_configuration):
            Configuration.objects.filter(name="demo").update(uses_examples=in_configuration)
            given = {} if in_study is None else {"uses_examples": in_study}
            campaign = run_study({STATEMENT: REFERENCE}, by=manager, **given)
            [(run, scripts)] = examples()
            are_on = bool(in_study and in_configuration)
            assert (run.spec["uses_examples"], scripts) == (are_on, [SCRIPT] if are_on else [])
            counts = report_threats(campaign)["examples"]
            assert (counts["off"], counts["guarded"]) == (not are_on, are_on)
            assert counts["unguarded"] == 0
            ModelCall.objects.all().delete()
            Campaign.objects.filter(pk=campaign.pk).update(name=f"Study {campaign.pk}")


def test_table_of_the_first_study_guide_yields_a_script_for_each_statement(
    manager: User, standin: StandIn
) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "first-study.md").read_text()
    rows = csv.DictReader(guide.partition("```csv\n")[2].partition("```")[0].splitlines())
    asked = {row["statement"]: "" for row in rows}
    campaign = run_study(asked, by=manager)
    runs = Run.objects.filter(batch=campaign.batch)
    assert len(asked) == runs.filter(state="done", drafts__kind="generated").count() == 6
    assert not any(run.spec["uses_examples"] for run in runs)


def test_manager_switches_examples_on_before_the_study_opens(boss: Client, manager: User) -> None:
    made = rules.create_campaign("Study", by=manager)
    address = f"/campaigns/{made.pk}/setup/arms/"
    assert "Show verified entries to the generator as examples" in boss.get(address).text
    boss.post(address, {"configurations": ["demo"], "uses_examples": "on"})
    api = f"/api/v1/campaigns/{made.pk}/"
    assert boss.get(api).json()["uses_examples"] is True
    boss.post(address, {"configurations": ["demo"]})
    assert boss.get(api).json()["uses_examples"] is False
    boss.patch(api, {"uses_examples": True}, content_type="application/json")
    assert Campaign.objects.get(pk=made.pk).uses_examples
    Campaign.objects.filter(pk=made.pk).update(state="open")
    assert boss.post(address, {"configurations": ["demo"]}).status_code == 409


Change = Callable[[Run], object]


def _ask(statement: str, script: str) -> Change:
    """Return a change that stores a prompt with this example."""

    def change(run: Run) -> None:
        call = run.calls.get(stage="generate")
        words = call.request["messages"][0]["content"]
        call.request["messages"][0]["content"] = words.replace(TITLE, statement).replace(
            SCRIPT.rstrip("\n"), script.rstrip("\n")
        )
        call.save()

    return change


def test_threats_count_items_of_old_studies_that_were_shown_the_answer(
    boss: Client, manager: User, standin: StandIn, subtests: pytest.Subtests
) -> None:
    shelve(TITLE, script=SCRIPT)
    campaign = run_study({STATEMENT: REFERENCE}, by=manager, uses_examples=True)
    run = campaign.items.get().run
    assert run is not None
    del run.spec["guards_examples"]
    run.save()
    cases: dict[str, tuple[Change, int]] = {
        "another entry": (_ask(TITLE, SCRIPT), 0),
        "the reference": (_ask(TITLE, REFERENCE), 1),
        "the statement": (_ask(STATEMENT, SCRIPT), 1),
        "a close entry": (_ask("Remove log files older than 30 days from /var/log/app", SCRIPT), 1),
        "what retrieval matched": (lambda one: one.matches.update(answer="match"), 1),
        "no prompt": (lambda one: one.calls.all().delete(), 0),
    }
    stored = run.calls.get(stage="generate").request
    for name, (change, revealed) in cases.items():
        with subtests.test(name):
            run.calls.update(request=stored)
            run.matches.update(answer="none")
            cache.clear()
            change(run)
            counts = report_threats(campaign)["examples"]
            assert (counts["unguarded"], counts["revealed"]) == (1, revealed)
            assert counts["read"] == (name != "no prompt")
    cache.clear()
    page = boss.get(f"/campaigns/{campaign.pk}/report/threats/").text
    assert (
        "Answers among the examples" in page
        and "Items with the nearest entries as examples" in page
    )
