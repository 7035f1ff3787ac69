"""Tests for comparing the runs of an action on the page and through the API."""

from __future__ import annotations

from functools import partial

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.analysis import analyse
from core.web.public_keys import DRAFT, public_key
from pipeline import access, services
from pipeline.access import VisibleParts
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import Action, Configuration, Run, Stage
from tests.make import SCRIPT, make_action, make_draft, make_run
from tests.pipeline.rows import make_attempt, make_call
from tests.query_counts import count_queries

pytestmark = pytest.mark.django_db

OTHER = SCRIPT.replace("+30", "+31")


@pytest.fixture
def other() -> Configuration:
    """Return a configuration with a different assessor and without refinement."""
    made = Configuration.objects.create(name="other", title="Demo, by two", rounds=0)
    for setting in Configuration.objects.get(name="demo").roles.all():
        setting.pk, setting.configuration = None, made
        setting.model = "demo-smith-2" if setting.role == "assessor" else setting.model
        setting.save()
    return made


@pytest.fixture
def first(reviewer: User) -> Run:
    return make_run(by=reviewer, verdict="incorrect", feedback="- Minutes.", refined=OTHER)


def finish(run: Run, *, script: str = SCRIPT) -> Run:
    """Finish the run with one script that passed."""
    draft = make_draft(run, script=script, kind="generated", verdict="correct")
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(
        state="done", started_at=now, finished_at=now, verdict="correct", recommended=draft
    )
    run.refresh_from_db()
    return run


def start(action: Action, configuration: Configuration | None = None) -> Run:
    return services.start_run(
        action, by=action.asked_by, configuration=configuration, enqueue=False
    )


def spend(run: Run, stage: str, *, tokens: int, cost: int | None) -> None:
    """Create a stage with one answered call."""
    make_attempt(make_call(run, stage), input_tokens=tokens, output_tokens=1, cost=cost)
    number = run.stages.count() + 1
    Stage.objects.create(
        run=run, sequence=number, name=stage, state="done", ended_at=timezone.now()
    )


def address(run: Run, *runs: Run, **more: str) -> str:
    query = "&".join([*(f"run={one.pk}" for one in (run, *runs)), *map("=".join, more.items())])
    return f"{reverse('action-compare', args=[run.action_id])}?{query}"


def test_new_run_is_shown_for_comparison(client: Client, first: Run, other: Configuration) -> None:
    assert address(first).replace("&", "&amp;") in client.get(f"/runs/{first.pk}/").text
    started = client.post(address(first), {"configuration": "other"})
    second = first.action.runs.get(configuration=other)
    assert started["Location"] == address(first, second)
    assert second.uses_retrieval is False
    page = client.get(started["Location"]).text
    assert 'hx-trigger="every 1s"' in page, "it follows the run that is under way"
    assert "Demo, by two" in page and "demo model" in page


def test_changed_settings_come_first(client: Client, first: Run, other: Configuration) -> None:
    second = finish(start(first.action, other), script=OTHER)
    Run.objects.filter(pk=second.pk).update(
        spec={**second.spec, "prompts": {**second.spec["prompts"], "describe": "abcdefabcdef"}}
    )
    differences = client.get(address(first, second)).context["compared"].differences
    named = {line.what: [value for _run, value in line.values] for line in differences}
    assert named.pop("Prompt “describe”") == [first.spec["prompts"]["describe"], "abcdefabcdef"]
    assert named == {"Assessor": ["demo-smith", "demo-smith-2"], "Refinement rounds": ["1", "0"]}


def test_scripts_are_compared_by_word_recommended_or_first(client: Client, first: Run) -> None:
    second = finish(start(first.action))
    recommended = client.get(address(first, second)).text
    firsts = client.get(address(first, second, of="first")).text
    beside = client.get(address(first, second, view="side")).text
    assert '<del class="word">31</del>' in recommended
    assert "Differences below are due to chance" in recommended, "the settings are the same"
    assert "have identical scripts" in firsts
    assert "diff-side" in beside and "diff-side" not in recommended
    assert "Minutes." in recommended and "assessor: flagged" in recommended


def test_calls_tokens_and_cost_are_summed_by_stage_and_run(client: Client, first: Run) -> None:
    second = finish(start(first.action))
    spend(first, "generate", tokens=100, cost=1_000)
    spend(first, "explain", tokens=20, cost=500)
    spend(second, "generate", tokens=7, cost=None)
    said = client.get(address(first, second)).context["compared"]
    used = [(one.used.calls, one.used.input, one.used.cost) for one in said.runs]
    assert used == [(2, 120, 1_500), (1, 7, None)]
    lines = {line.name: [cell and cell.used.cost for cell in line.cells] for line in said.stages}
    assert lines == {"generate": [1_000, None], "explain": [500, None]}


def test_live_part_is_sent_only_where_it_would_look_different(client: Client, first: Run) -> None:
    second = start(first.action)
    seen = client.get(address(first, second)).context["seen"]
    status = address(first, second).replace("compare/", "compare/status/")
    htmx = {"HX-Request": "true"}
    assert client.get(f"{status}&seen={seen}", headers=htmx).status_code == 204
    finish(second)
    ended = client.get(f"{status}&seen={seen}", headers=htmx)
    assert ended.status_code == 200 and "hx-trigger" not in ended.text
    assert "All runs have ended" in ended["HX-Trigger"]
    assert client.get(status)["Location"] == address(first, second)


@pytest.mark.parametrize("page", ["/actions/{}/compare/", "/api/v1/actions/{}/compare/"])
def test_what_can_not_be_compared_is_refused(client: Client, first: Run, page: str) -> None:
    five = [first.pk, *(start(first.action).pk for _ in range(4))]
    here = page.format(first.action_id)
    for keys, said in (
        (five, "Choose 2 to 4 runs"),
        ([first.pk, make_run().pk], "These runs belong to different requests"),
        ([first.pk, "x"], "These runs belong to different requests"),
        ([first.pk, first.pk], "Choose 2 to 4 runs"),
    ):
        answer = client.get(here, {"run": keys})
        assert answer.status_code == 422
        assert said in answer.text


def test_runs_are_chosen_up_to_four(client: Client, first: Run) -> None:
    four = [first, *(start(first.action) for _ in range(3))]
    page = client.post(address(*four), {"configuration": "demo"})
    assert page.status_code == 422 and first.action.runs.count() == 4
    page = client.get(address(first)).text
    assert f'value="{first.pk}" checked' in page
    assert "Start comparison" in page
    empty = make_action("Say hello", by=first.asked_by)
    assert "No runs yet" in client.get(f"/actions/{empty.pk}/compare/").text


def test_hidden_parts_stay_out(client: Client, first: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    second = finish(start(first.action))
    monkeypatch.setattr(access, "VisibleParts", partial(VisibleParts, verdict=False, models=False))
    said = client.get(f"/api/v1/actions/{first.action_id}/compare/?run={first.pk}&run={second.pk}")
    for text in (client.get(address(first, second)).text, said.text):
        telling = ["assessor:", "demo-smith", "mtime", "Minutes", "incorrect", "Demo model"]
        assert [word for word in telling if word in _without_start(text)] == []
    assert said.json()["differences"] is None
    assert said.json()["runs"][0]["script"] is None


def test_user_without_rights_can_only_look(as_second_reviewer: Client, first: Run) -> None:
    second = finish(start(first.action))
    assert "Start comparison" not in as_second_reviewer.get(address(first, second)).text
    assert as_second_reviewer.post(address(first), {"configuration": "demo"}).status_code == 403
    assert first.action.runs.count() == 2


def test_a_program_gets_the_same(client: Client, first: Run, other: Configuration) -> None:
    second = finish(start(first.action, other), script=OTHER)
    spend(second, "generate", tokens=7, cost=250_000)
    said = client.get(
        f"/api/v1/actions/{first.action_id}/compare/", {"run": [first.pk, second.pk]}
    ).json()
    assert said["is_same_script"] is True
    assert said["differences"][0] == {"what": "Assessor", "values": ["demo-smith", "demo-smith-2"]}
    assert [one["verdict"] for one in said["runs"]] == ["incorrect", "correct"]
    assert [one["draft"] for one in said["runs"]] == [2, 1]
    assert said["runs"][0]["feedback"] == ["- Minutes."]
    assert said["runs"][1]["used"]["cost"] == 0.25
    assert said["stages"][0]["outcomes"] == [None, ""]


@pytest.mark.slow
def test_two_runs_or_four_take_the_same_number_of_queries(client: Client, first: Run) -> None:
    more = [finish(start(first.action)) for _ in range(3)]
    few = count_queries(client, address(first, more[0]))
    assert count_queries(client, address(first, *more)) == few
    assert few <= 19


def _without_start(page: str) -> str:
    """Return the page without the form for starting a run, because the form lists every configuration."""
    start, end = page.find("Run another configuration"), page.find("Start comparison")
    return page if start < 0 else page[:start] + page[end:]


def test_unjudged_commands_and_analyzed_lines_are_on_pages_and_in_the_api(
    client: Client, reviewer: User
) -> None:
    runs = [make_run(by=reviewer, script="frob\nfor do (( ;;\nls\n")]
    runs.append(finish(start(runs[0].action), script="frob --now\n"))
    for run in runs:
        draft = run.drafts.get()
        draft.findings.all().delete()
        keep_findings(draft, analyse(draft.script))
    client.force_login(reviewer)
    message = "No rule knows frob (line 1). Check what it does."

    for text in (client.get(f"/runs/{runs[0].pk}/").text, client.get(address(*runs)).text):
        assert f"Not checked: {message}" in text
        assert "2 of 3 lines analyzed" in text
    compared = client.get(
        f"/api/v1/actions/{runs[0].action_id}/compare/?run={runs[0].pk}&run={runs[1].pk}"
    )
    drafts = [
        client.get(f"/api/v1/drafts/{public_key(DRAFT, run.drafts.get().pk)}/").json()
        for run in runs
    ]
    for listed in (compared.json()["runs"], drafts):
        assert [message in one["not_judged"] for one in listed] == [True, True]
        assert [(one["analyzed_lines"], one["lines"]) for one in listed] == [(2, 3), (1, 1)]
