"""Tests for reading, comparing and writing prompts in the browser and through the API."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.configurations import prompt_versions
from pipeline.configurations.prompt_checks import find_faults
from pipeline.flow import prompts
from pipeline.flow.stages import ASKED_STAGES
from pipeline.models import Configuration, PromptVersion
from tests.make import make_run
from tests.people import ClientFor
from tests.pipeline.configurations.test_prompts_of_runs import MARKED, changed
from tests.pipeline.rows import make_call
from tests.query_counts import count_queries

OWN_PROMPTS = [name for name, stage in ASKED_STAGES.items() if stage.prompt == name]
DESCRIBE = "/prompts/describe/"
NEW = f"{DESCRIBE}new/"


def test_the_list_has_every_prompt_in_the_order_of_the_pipeline(client: Client) -> None:
    page = client.get(reverse("prompt-list"))
    names = [shown.name for shown in page.context["prompts"]]
    assert names == OWN_PROMPTS, "every one, in the order that the stages declare"
    of_old = [
        "generate", "repair", "describe", "similarity", "difference", "explain", "refine",
        "shorten",
    ]  # fmt: skip
    assert [name for name in names if name in of_old] == of_old
    assert prompts.load("generate").version in page.text


def test_prompt_version_is_shown_and_compared(client: Client, administrator: User) -> None:
    current = prompts.load("describe").version
    sent = {"text": changed("describe").replace("\n", "\r\n"), "note": "Shorter answers"}
    response = client.post(NEW, sent)
    written = PromptVersion.objects.get(name="describe")
    assert response["Location"] == f"{DESCRIBE}?version={written.version}"
    assert written.text == changed("describe"), "the line ends of browsers make no other version"
    assert (written.source, written.created_by) == ("written", administrator)
    assert LogEntry.objects.get_for_object(written).get().additional_data == {"event": "written"}
    page = client.get(DESCRIBE, {"version": written.version, "from": current}).text
    assert MARKED.strip() in page and "Shorter answers" in page
    assert f"Version {current} and version {written.version}" in page
    assert client.get(DESCRIBE, {"version": "000000000000"}).status_code == 404


def test_where_a_version_is_used_is_said(client: Client, administrator: User) -> None:
    written = prompt_versions.write_prompt("describe", text=changed("describe"), by=administrator)
    Configuration.objects.filter(name="claude-peer-review").update(
        prompts={"describe": written.version}
    )
    run = make_run()
    for stage in ("describe", "similarity"):
        make_call(run, stage, prompt_version=prompts.load(stage).version)
    mine, products = (
        next(use for use in prompt_versions.uses_of("describe") if use.is_current is current)
        for current in (False, True)
    )
    assert [one.name for one in mine.configurations] == ["claude-peer-review"]
    assert (mine.calls, products.calls) == (0, 1)
    assert {one.name for one in products.configurations} == {
        "demo",
        "claude-self-reflection",
        "claude-strong-refiner",
        "local-peer-review",
    }
    assert "Opus writes, Sonnet assesses" in client.get(DESCRIBE).text


def test_faults_of_a_text_are_named(subtests: pytest.Subtests) -> None:
    cases = {
        "another task": ("Task: describe", "Task: praise", "first line"),
        "no parting": ("\n---\n", "\n", "Separate the system prompt"),
        "no slot": ("<<SCRIPT>>", "it", "slot <<SCRIPT>> is missing"),
        "a slot more": ("<<SCRIPT>>", "<<SCRIPT>>\n<<MOOD>>", "Unknown slot"),
        "slot in a line": ("<<SCRIPT>>", "the <<SCRIPT>>", "on its own line"),
        "slot twice": ("<<SCRIPT>>", "<<SCRIPT>>\n<<SCRIPT>>", "more than once"),
        "above": ("You describe", "<<SCRIPT>> You describe", "where slots are not filled"),
    }
    for name, (old, new, said) in cases.items():
        with subtests.test(name):
            faults = find_faults("describe", prompts.read("describe").replace(old, new))
            assert any(said in fault for fault in faults), faults


def test_the_products_own_prompts_are_without_faults() -> None:
    wrong = {
        name: got for name in prompts.names() if (got := find_faults(name, changed(name))) != []
    }
    assert not wrong


def test_refused_prompt_stays_on_page(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "a fault": (("<<SCRIPT>>", "it"), "&lt;&lt;SCRIPT&gt;&gt; is missing"),
        "nothing changed": (("Bash", "Bash"), "same as the built-in version"),
        "too long": (("<<SCRIPT>>", "<<SCRIPT>>\n" + "x" * 20_000), "at most 20,000"),
    }
    for name, (change, said) in cases.items():
        with subtests.test(name):
            text = prompts.read("describe").replace(*change)
            page = client.post(NEW, {"text": text, "note": "My note"})
            assert page.status_code == 422
            assert said in page.text
            assert "My note" in page.text and "what it acts on" in page.text
            assert not PromptVersion.objects.exists()


def test_the_same_text_is_kept_once(client: Client) -> None:
    client.post(NEW, {"text": changed("describe")})
    again = client.post(NEW, {"text": changed("describe") + "\n\n"})
    assert again.status_code == 422 and "already saved" in again.text
    assert PromptVersion.objects.count() == 1


def test_who_asks_reads_and_only_administrators_write(
    client_for: ClientFor, reviewer: User, manager: User, stranger: User
) -> None:
    for user, status in ((reviewer, 200), (manager, 200), (stranger, 403)):
        client = client_for(user)
        assert client.get(reverse("prompt-list")).status_code == status
        assert client.get(DESCRIBE).status_code == status
        assert client.get("/api/v1/prompts/describe/").status_code == status
        assert client.get(NEW).status_code == 403
        assert client.post(NEW, {"text": changed("describe")}).status_code == 403
    assert client_for(reviewer).get("/prompts/applaud/").status_code == 404
    assert not PromptVersion.objects.exists()


def test_a_program_lists_reads_and_writes_them(client: Client) -> None:
    listed = client.get("/api/v1/prompts/").json()
    assert sorted(one["name"] for one in listed) == sorted(OWN_PROMPTS)
    body = {"name": "describe", "text": changed("describe"), "note": "n"}
    made = client.post("/api/v1/prompts/", body, content_type="application/json")
    assert made.status_code == 201, made.text
    said = client.get("/api/v1/prompts/describe/").json()
    assert said["slots"] == ["SCRIPT"]
    assert [one["is_current"] for one in said["versions"]] == [True, False]
    assert said["versions"][1]["text"] == changed("describe")
    refused = client.post("/api/v1/prompts/", body, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "text")


def test_a_page_takes_a_fixed_number_of_queries(client: Client, administrator: User) -> None:
    few = [count_queries(client, address) for address in (reverse("prompt-list"), DESCRIBE)]
    for number in range(10):
        text = changed("describe").replace(MARKED, f"{MARKED} {number}")
        written = prompt_versions.write_prompt("describe", text=text, by=administrator)
        Configuration.objects.create(
            name=f"own-{number}", title="Own", prompts={"describe": written.version}
        )
    many = [count_queries(client, address) for address in (reverse("prompt-list"), DESCRIBE)]
    assert many == few
    assert max(few) <= 9
