"""Tests that a run keeps the prompt versions that it started with, even if files or its configuration change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from core.errors import BadInput
from pipeline.configurations import prompt_versions
from pipeline.execution import run_worker
from pipeline.flow import prompts
from pipeline.flow.ports import FlowInput
from pipeline.flow.run_flow import Flow
from pipeline.models import Configuration, Draft, ModelCall, PromptVersion, Run
from pipeline.types import Problem
from tests.pipeline.flow.test_flow import LIST, ScriptedPorts
from tests.pipeline.rows import interrupt, queue_run
from tests.standin_process import StandIn

MARKED = "Answer in few words. "


def changed(name: str) -> str:
    """Return the product's text of a prompt with a few words added."""
    return prompts.read(name).replace("\n---\n", f"\n{MARKED}\n---\n")


@pytest.fixture
def new_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Simulate a product update that changes every prompt."""
    texts = {name: changed(name) for name in prompts.names()}
    monkeypatch.setattr(prompts, "read", texts.__getitem__)
    monkeypatch.setattr(prompts, "load", lambda name: prompts.parse(texts[name]))
    yield


def versions_asked(run: Run) -> dict[str, str]:
    return dict(ModelCall.objects.filter(run=run).values_list("prompt", "prompt_version"))


def test_the_flow_asks_by_the_templates_of_its_task() -> None:
    other = prompts.parse(changed("describe"))
    ports = ScriptedPorts(
        generate=[{"script": LIST}],
        describe=[{"functionality": "Lists /var/log."}],
        similarity=[{"verdict": "match", "reason": "same"}],
        difference=[{"verdict": "match", "differences": [], "reason": "none"}],
    )
    Flow(FlowInput("list", templates={**prompts.load_all(), "describe": other}), ports).carry_out()
    asked = {question.prompt: question for question in ports.asked}
    assert MARKED.strip() in asked["describe"].system
    assert asked["describe"].prompt_version == other.version
    assert asked["generate"].prompt_version == prompts.load("generate").version


@pytest.mark.django_db
def test_the_products_versions_are_kept_from_their_first_use_on() -> None:
    assert not PromptVersion.objects.exists()
    run = queue_run()
    queue_run()
    kept = {row.name: row for row in PromptVersion.objects.all()}
    assert {name: row.version for name, row in kept.items()} == run.spec["prompts"]
    assert kept["describe"].text == prompts.read("describe")
    assert kept["describe"].source == "file"


@pytest.mark.django_db
def test_a_pinned_version_is_asked_by_and_recorded(standin: StandIn, administrator: User) -> None:
    written = prompt_versions.write_prompt("describe", text=changed("describe"), by=administrator)
    Configuration.objects.filter(name="demo").update(prompts={"describe": written.version})
    run = run_worker.run_to_end(queue_run().pk, give_up_after=60)
    assert run.state == "done"
    assert versions_asked(run)["describe"] == written.version == run.spec["prompts"]["describe"]
    assert versions_asked(run)["generate"] == prompts.load("generate").version
    call = ModelCall.objects.get(run=run, stage="describe")
    assert MARKED.strip() in call.request["system"]
    draft = Draft.objects.get(run=run)
    assert draft.assessment.prompt_versions["describe"] == written.version


@pytest.mark.django_db
def test_a_run_taken_up_again_keeps_its_versions_when_the_files_have_changed(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    before = prompts.versions()
    run = queue_run()
    interrupt(standin, run, task="similarity")
    request.getfixturevalue("new_files")
    assert prompts.versions() != before
    done = run_worker.run_to_end(run.pk, give_up_after=60)
    assert done.state == "done", done.problem
    assert versions_asked(done).items() <= before.items()
    assert (
        MARKED.strip() not in ModelCall.objects.get(run=run, stage="similarity").request["system"]
    )
    assert queue_run().spec["prompts"] == prompts.versions(), "a new run asks by the new files"


@pytest.mark.django_db
def test_a_version_that_is_not_kept_fails_the_run_with_words(subtests: pytest.Subtests) -> None:
    cases = {
        "unknown": ({"describe": "000000000000"}, "is not stored here"),
        "nothing": ({"describe": None}, "is not stored here"),
        "no text": ({"describe": ["x"]}, "is not stored here"),
        "no prompts at all": (None, "Version unknown of"),
    }
    for name, (spoil, said) in cases.items():
        with subtests.test(name):
            run = queue_run()
            run.spec["prompts"] = {**run.spec["prompts"], **spoil} if spoil else "spoiled"
            run.save(update_fields=["spec"])
            run_worker.advance(run.pk)
            run.refresh_from_db()
            assert run.state == "failed"
            assert said in run.problem


@pytest.mark.django_db
def test_invalid_prompt_version_is_a_problem(administrator: User) -> None:
    for name, said in (
        ("describe", "has no version 000000000000"),
        ("applaud", "Prompt “applaud” does not exist"),
    ):
        with pytest.raises(BadInput, match=said):
            prompt_versions.choose_versions({name: "000000000000"})
    text = prompts.read("describe").replace("<<SCRIPT>>", "<<SCRIPT>>\n<<MOOD>>")
    old = PromptVersion.objects.create(
        name="describe", version=prompts.parse(text).version, text=text
    )
    with pytest.raises(Problem, match="has slots that no longer exist"):
        prompt_versions.templates_of({**prompts.versions(), "describe": old.version})
    with pytest.raises(BadInput, match="has unknown slots"):
        prompt_versions.check_pins({"describe": old.version})
    written = prompt_versions.write_prompt("describe", text=changed("describe"), by=administrator)
    PromptVersion.objects.filter(pk=written.pk).update(text=prompts.read("describe"))
    with pytest.raises(Problem, match="is not stored here"):
        prompt_versions.templates_of({**prompts.versions(), "describe": written.version})
