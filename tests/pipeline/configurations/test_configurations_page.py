"""Tests for creating, changing and archiving configurations on the pages and through the API."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline import services
from pipeline.configurations import prompt_versions
from pipeline.flow import prompts
from pipeline.models import Configuration, Endpoint
from tests.make import make_action
from tests.pipeline.configurations.test_prompts_of_runs import changed
from tests.query_counts import count_queries

pytestmark = pytest.mark.django_db

NEW = "/configurations/new/"


def form(**typed: object) -> dict[str, object]:
    """Return the form data that a browser sends, with the demo model in every role."""
    roles = {
        f"{role}-{field}": value
        for role in ("generator", "assessor", "refiner")
        for field, value in (
            ("endpoint", "demo"),
            ("model", "demo-smith"),
            ("max_tokens", "4096"),
            ("effort", ""),
            ("temperature", ""),
        )
    }
    about = {"name": "mine", "title": "Mine", "note": "", "rounds": "2", "uses_examples": "on"}
    return {**roles, **about, **typed}


def address(name: str = "mine", do: str = "detail") -> str:
    return reverse(f"configuration-{do}", args=[name])


def test_preset_fills_in_roles_without_script(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "one model plays all": ("self_reflection", ["one", "one", "one"]),
        "another assesses": ("peer_review", ["one", "two", "one"]),
        "another refines": ("strong_refiner", ["one", "one", "two"]),
        "own": ("own", ["one", "one", "one"]),
    }
    for name, (preset, models) in cases.items():
        with subtests.test(name):
            step = {"preset": preset, "endpoint": "demo", "model": "one", "second_model": "two"}
            page = client.get(NEW, step)
            forms = page.context["forms"]
            assert [role["model"].value() for role in forms.roles] == models
            assert not Configuration.objects.filter(name="mine").exists()


def test_form_starts_from_a_preset_or_another_plan(client: Client) -> None:
    page = client.get(NEW, {"preset": "peer_review", "endpoint": "demo", "model": "one"})
    assert page.status_code == 422
    assert "needs a second model" in page.text
    assert 'value="one"' in page.text, "nothing typed is lost"
    forms = client.get(NEW, {"from": "claude-peer-review"}).context["forms"]
    assert forms.name["name"].value() == "claude-peer-review-copy"
    models = [role["model"].value() for role in forms.roles[:2]]
    assert models == ["claude-opus-5-5", "claude-sonnet-5-5"]
    assert client.get(NEW, {"from": "nothing"}).status_code == 404


def test_models_are_offered_from_checks_and_prices(client: Client) -> None:
    Endpoint.objects.filter(name="ollama").update(probe={"models": ["llama3.3:8b", 7]})
    Endpoint.objects.filter(name="demo").update(probe={"models": None})
    page = client.get(NEW).text
    assert '<option value="llama3.3:8b">Ollama on this machine</option>' in page
    assert '<option value="claude-opus-5-5">Claude</option>' in page


def test_new_one_can_be_chosen_at_once_and_is_in_log(client: Client, administrator: User) -> None:
    typed = form(**{"assessor-model": "demo-smith-2", "assessor-effort": "low"})
    assert client.post(NEW, typed)["Location"] == address()
    made = Configuration.objects.get(name="mine")
    assert (made.preset, made.rounds, made.uses_retrieval) == ("peer_review", 2, False)
    assert made.created_by == administrator
    assessor = made.roles.get(role="assessor")
    assert (assessor.model, assessor.effort) == ("demo-smith-2", "low")
    run = services.start_run(make_action(), by=None, configuration=made, enqueue=False)
    assert run.spec["roles"]["assessor"]["model"] == "demo-smith-2"
    logged = LogEntry.objects.get_for_object(made).get()
    assert logged.additional_data == {"event": "created"}
    assert logged.changes_dict["assessor"][1] == "demo, demo-smith-2, 4096 tokens, low"


def test_invalid_field_keeps_typed_text(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "taken": ({"name": "demo"}, "with this name already exists"),
        "no slug": ({"name": "two words"}, "Use only unaccented letters"),
        "an address": ({"name": "new"}, "name is reserved"),
        "long name": ({"name": "n" * 81}, "at most 80"),
        "long title": ({"title": "t" * 151}, "151 characters"),
        "five rounds": ({"rounds": "5"}, "not one of the available"),
        "endpoint": ({"assessor-endpoint": "nowhere"}, "not one of the"),
        "no model": ({"assessor-model": ""}, "required"),
        "too few tokens": ({"assessor-max_tokens": "3"}, "from 64 to"),
        "not taken": ({"assessor-temperature": "0.2"}, "does not accept a temperature"),
    }
    for name, (typed, said) in cases.items():
        with subtests.test(name):
            before = Configuration.objects.count()
            page = client.post(NEW, form(note="Why I want it", **typed))
            assert page.status_code == 422
            assert said in page.text
            assert "Why I want it" in page.text
            assert Configuration.objects.count() == before


def test_a_temperature_is_kept_where_the_endpoint_takes_one(client: Client) -> None:
    client.post(NEW, form(**{"refiner-endpoint": "ollama", "refiner-temperature": "0.2"}))
    assert Configuration.objects.get(name="mine").roles.get(role="refiner").temperature == 0.2
    hot = form(**{"name": "hot", "refiner-endpoint": "ollama", "refiner-temperature": "nan"})
    assert client.post(NEW, hot).status_code == 422


def test_all_of_it_can_be_changed_until_a_run_is_started(client: Client) -> None:
    client.post(NEW, form())
    client.post(address(), form(title="Better", **{"refiner-model": "demo-smith-2"}))
    changed_one = Configuration.objects.get(name="mine")
    assert (changed_one.title, changed_one.preset) == ("Better", "strong_refiner")
    logged = LogEntry.objects.get_for_object(changed_one).first()
    assert logged.changes_dict["title"] == ["Mine", "Better"]
    assert "rounds" not in logged.changes_dict, "only what changed is noted"


def test_once_runs_exist_title_and_note_can_be_changed_and_the_plan_can_not(client: Client) -> None:
    client.post(NEW, form())
    mine = Configuration.objects.get(name="mine")
    services.start_run(make_action(), by=None, configuration=mine, enqueue=False)
    page = client.get(address()).text
    assert "Duplicate it to make changes" in page and 'name="rounds"' not in page
    # The user opened this form before the first run started.
    refused = client.post(address(), form(rounds="4", note="Kept on the page"))
    assert refused.status_code == 409
    assert "Duplicate it instead" in refused.text and "Kept on the page" in refused.text
    assert client.post(address(), {"title": "Other", "note": "Why"}).status_code == 302
    mine.refresh_from_db()
    assert (mine.title, mine.note, mine.rounds) == ("Other", "Why", 2)


def test_saved_plan_applies_to_later_runs(client: Client) -> None:
    client.post(NEW, form())
    mine = Configuration.objects.get(name="mine")
    client.post(address(), form(rounds="3"))
    run = services.start_run(make_action(), by=None, configuration=mine, enqueue=False)
    assert run.spec["rounds"] == 3, "what is saved counts, not what the caller had read before"
    made = Configuration.objects.get(name="mine")
    run = services.start_run(make_action(), by=None, configuration=made, enqueue=False)
    assert (made.cases, run.spec["cases"]) == ("off", "off")
    assert set(run.spec["roles"]) == {"generator", "assessor", "refiner"}


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(client: Client) -> None:
    client.post(NEW, form())
    edition = client.get(address()).context["forms"].about["edition"].value()
    client.post(address(), form(title="Theirs"))
    refused = client.post(address(), form(title="Mine again", edition=edition))
    assert refused.status_code == 409
    assert "Another user" in refused.text and "Mine again" in refused.text
    assert Configuration.objects.get(name="mine").title == "Theirs"
    edition = refused.context["forms"].about["edition"].value()
    assert client.post(address(), form(title="Mine again", edition=edition)).status_code == 302


def test_a_prompt_version_is_pinned_and_unpinned(client: Client, administrator: User) -> None:
    text = changed("describe")
    version = prompt_versions.write_prompt("describe", text=text, by=administrator).version
    client.post(NEW, form(**{"prompts-describe": version}))
    mine = Configuration.objects.get(name="mine")
    assert mine.prompts == {"describe": version}
    client.post(address(), form())
    mine.refresh_from_db()
    assert mine.prompts == {}
    run = services.start_run(make_action(), by=None, configuration=mine, enqueue=False)
    assert run.spec["prompts"]["describe"] == prompts.load("describe").version


def test_default_configuration_can_be_changed_and_archived_ones_not(client: Client) -> None:
    client.post(NEW, form())
    client.post(address(do="archive"))
    assert Configuration.objects.get(name="mine").archived_at is not None
    assert client.post(address(do="archive")).status_code == 409
    assert client.post(address(do="default")).status_code == 409
    client.post(address(do="unarchive"))
    assert Configuration.objects.get(name="mine").archived_at is None
    assert client.post(address(do="unarchive")).status_code == 409
    assert client.post(address(do="default")).status_code == 302
    assert [one.name for one in Configuration.objects.filter(is_default=True)] == ["mine"]
    assert client.post(address(do="default")).status_code == 409


def test_what_others_rest_on_stays(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "the default": ("demo", "archive", "Set another default first"),
        "archive imported": ("imported", "archive", "Imports need this configuration"),
        "default imported": ("imported", "default", "can&#x27;t be the default"),
    }
    for label, (name, do, said) in cases.items():
        with subtests.test(label):
            page = client.post(address(name, do))
            assert page.status_code == 409
            assert said in page.text


@pytest.mark.slow
def test_its_page_takes_a_fixed_number_of_queries(client: Client) -> None:
    few = [count_queries(client, each) for each in (address("demo"), NEW)]
    for number in range(10):
        Endpoint.objects.create(name=f"local-{number}", title="Local", base_url="http://127.0.0.1")
        Configuration.objects.create(name=f"own-{number}", title="Own")
        services.start_run(make_action(), by=None, enqueue=False)
    assert count_queries(client, NEW) == few[1]
    assert count_queries(client, address("demo")) <= few[0]
    assert max(few) <= 18


def test_a_program_makes_changes_and_archives_one(client: Client) -> None:
    body = {"name": "mine", "title": "Mine", "like": "demo", "rounds": 0}
    made = client.post("/api/v1/configurations/", body, content_type="application/json")
    assert made.status_code == 201, made.text
    assert (made.json()["rounds"], made.json()["preset"]) == (0, "self_reflection")
    here = "/api/v1/configurations/mine/"
    assessor = {"role": "assessor", "endpoint": "demo", "model": "demo-smith-2"}
    change = {"roles": [assessor], "edition": made.json()["edition"]}
    said = client.patch(here, change, content_type="application/json").json()
    assert said["preset"] == "peer_review" and said["title"] == "Mine"
    assert client.patch(here, change, content_type="application/json").status_code == 409
    assert client.post(f"{here}archive/").json()["is_usable"] is False
    assert client.post(f"{here}make-default/").status_code == 409
    assert client.post(f"{here}unarchive/").json()["is_usable"] is True


def test_a_program_is_told_which_field_is_wrong(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "no roles": ({"name": "x", "title": "X"}, "roles"),
        "no name": ({"title": "X", "like": "demo"}, "name"),
        "9": ({"name": "x", "title": "X", "like": "demo", "rounds": 9}, "rounds"),
        "endpoint": (
            {
                "name": "x",
                "title": "X",
                "like": "demo",
                "roles": [{"role": "refiner", "endpoint": "no", "model": "m"}],
            },
            "refiner.endpoint",
        ),
        "prompt version": (
            {"name": "x", "title": "X", "like": "demo", "prompts": {"describe": "0"}},
            "prompts.describe",
        ),
    }
    for name, (body, field) in cases.items():
        with subtests.test(name):
            said = client.post("/api/v1/configurations/", body, content_type="application/json")
            assert said.status_code == 422
            assert said.json()["error"]["field"] == field
            assert not Configuration.objects.filter(name="x").exists()


def test_cases_are_written_by_assessor_or_named_role(client: Client) -> None:
    client.post(NEW, form(cases="feedback"))
    made = Configuration.objects.get(name="mine")
    assert made.cases == "feedback" and not made.roles.filter(role="case_author").exists()
    run = services.start_run(make_action(), by=None, configuration=made, enqueue=False)
    assert run.spec["cases"] == "feedback"
    assert run.spec["case_author"] == run.spec["roles"]["assessor"]
    named = {"case_author-endpoint": "demo", "case_author-model": "demo-smith-2"}
    client.post(NEW, form(name="other", cases="run", **named))
    other = Configuration.objects.get(name="other")
    run = services.start_run(make_action(), by=None, configuration=other, enqueue=False)
    assert run.spec["case_author"]["model"] == "demo-smith-2"
    page = client.get("/configurations/other/").text
    assert "Run: write tests from the request and run them" in page and "demo-smith-2" in page
    half = client.post(NEW, form(name="half", cases="run", **{"case_author-model": "demo-smith"}))
    assert half.status_code == 422 and "both an endpoint and a model" in half.text
    odd = client.post(NEW, form(name="odd", cases="always"))
    assert odd.status_code == 422 and not Configuration.objects.filter(name="odd").exists()
