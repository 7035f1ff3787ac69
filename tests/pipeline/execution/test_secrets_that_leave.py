"""Tests for the number of planted secrets that reach a remote model, for every way to request a script."""

from __future__ import annotations

import json
from typing import Any

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from catalog.analysis import find_secrets
from pipeline import services
from pipeline.clients.model_client import model_client
from pipeline.configurations.prompt_versions import templates_of
from pipeline.execution import run_worker
from pipeline.execution.database_ports import roles_of
from pipeline.flow.prompts import names, read
from pipeline.flow.stages import ASKED_STAGES
from pipeline.ledger.model_calls import OpenedAttempt, open_calls
from pipeline.ledger.outgoing_secrets import SecretsRule
from pipeline.message_batches import background
from pipeline.message_batches.collecting import collect_waiting
from pipeline.models import Action, Batch, Configuration, Endpoint, MessageBatch, ModelCall, Run
from pipeline.runs.page_data.masked_secrets import show_secrets
from pipeline.scheduling import run_leases
from pipeline.types import SecretsChoice
from review.campaigns.services import editing, rules, runs
from review.tasks import start_runs
from scriptsmith_site.integrations.alerts.services import sources
from scriptsmith_site.models import AlertRule, Profile
from tests import people
from tests.catalog.analysis.planted import planted_secrets
from tests.first_cases import first_cases
from tests.make import make_action
from tests.people import make_person
from tests.pipeline.flow.test_stages import TEXTS
from tests.pipeline.rows import interrupt
from tests.site.alerts import payloads as sent
from tests.site.alerts.conftest import Door, door, open_door
from tests.standin_process import StandIn

browser = people.as_reviewer

__all__ = ["door", "open_door"]

pytestmark = pytest.mark.django_db

PLANTED = planted_secrets()
LOG = "\n".join(one.text for one in PLANTED)
ASKED = "Delete files older than 30 days in /var/tmp/exports"


@pytest.fixture(autouse=True)
def remote(standin: StandIn) -> Endpoint:
    Endpoint.objects.filter(name="demo").update(treat_as_remote=True)
    # Runs that the catalogue answers would call no model.
    Configuration.objects.update(uses_retrieval=False)
    return Endpoint.objects.get(name="demo")


def reached(standin: StandIn) -> int:
    """Return the number of planted secrets that were sent to the demo model."""
    calls = standin.calls()
    assert calls, "it was asked nothing"
    log = "\n".join(_texts(one["request"]) for one in calls)
    return reached_text(log)


def reached_text(text: str) -> int:
    """Return the number of planted secrets in a text."""
    return sum(one.secret in text for one in PLANTED)


def _texts(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(map(_texts, value.values()))
    return "\n".join(map(_texts, value)) if isinstance(value, list) else str(value)


def finish(run: Run | None = None) -> Run:
    return run_worker.run_to_end((run or Run.objects.latest("pk")).pk, give_up_after=60)


def audited(run: Run) -> list[str]:
    events = LogEntry.objects.get_for_object(run).order_by("pk")
    return [str(one.additional_data["event"]) for one in events if one.additional_data]


@pytest.mark.slow
@pytest.mark.parametrize(("choice", "arrived"), [("mask", 0), ("send", 50)])
def test_user_chooses_masking(standin: StandIn, browser: Client, choice: str, arrived: int) -> None:
    typed = {"statement": ASKED, "incident": LOG, "environment": "Debian 12"}
    page = browser.post("/actions/new/", typed)
    assert page.status_code == 422 and not Run.objects.exists() and not Action.objects.exists()
    text = page.content.decode()
    assert "Stripe key: incident, line 13, column 19" in text
    form = page.context["form"]
    assert form["incident"].value() == LOG and form["environment"].value() == "Debian 12"
    seen = {"secrets_seen": form["secrets_seen"].value(), "secrets": choice}
    answer = browser.post("/actions/new/", typed | seen)
    assert answer.status_code == 302
    run = finish()
    assert (run.state, run.secrets, reached(standin)) == ("done", choice, arrived)
    shown = browser.get(f"/runs/{run.pk}/").content.decode()
    if choice == "mask":
        assert "Masked before sending:" in shown and "Slack token" in shown
        assert audited(run) == ["secrets are masked"]
        calls = browser.get(f"/runs/{run.pk}/calls/").content.decode()
        assert "Replaced with *** before sending:" in calls
    else:
        assert "Secrets are not masked." in shown and "Masked before" not in shown
        assert audited(run) == ["secrets are sent"]


def test_a_choice_holds_for_the_secrets_that_were_shown(browser: Client) -> None:
    first = browser.post("/actions/new/", {"statement": f"Upload with {PLANTED[0].secret}"})
    seen = first.context["form"]["secrets_seen"].value()
    added = f"Upload with {PLANTED[0].secret}, then post with {PLANTED[7].secret}"
    typed = {"statement": added, "secrets_seen": seen, "secrets": "send"}
    again = browser.post("/actions/new/", typed)
    assert again.status_code == 422 and "Slack token" in again.content.decode()
    assert not Run.objects.exists()


def test_local_model_gets_secrets(standin: StandIn, browser: Client, remote: Endpoint) -> None:
    Endpoint.objects.update(treat_as_remote=False)
    typed = {"statement": ASKED, "incident": LOG}
    assert browser.post("/actions/new/", typed).status_code == 422, "every user could read it"
    chosen = {"secrets_seen": "", "secrets": "mask"}
    assert browser.post("/actions/new/", typed | chosen).status_code == 302
    run = finish()
    assert reached(standin) == 50 and not run.calls.exclude(masked=[]).exists()


@pytest.mark.parametrize(
    ("sends", "arrived"), [({}, 0), ({"secrets": "mask"}, 0), ({"secrets": "send"}, 50)]
)
def test_the_api_masks_unless_it_is_told_otherwise(
    standin: StandIn, browser: Client, sends: dict[str, str], arrived: int
) -> None:
    api = browser
    body = json.dumps({"statement": ASKED, "environment": LOG, **sends})
    made = api.post("/api/v1/actions/", body, content_type="application/json").json()
    run = finish(Run.objects.get(pk=made["newest_run"]["id"]))
    assert reached(standin) == arrived
    report = api.get(f"/api/v1/runs/{run.pk}/").json()
    assert report["secrets"] == (sends or {"secrets": "mask"})["secrets"]
    # By default, the stored text is already masked, so calls have nothing to mask.
    assert reached_text(run.action.environment) == (50 if sends else 0)
    is_masked = sends == {"secrets": "mask"}
    assert [one["stage"] for one in report["masked"]] == (["generate"] if is_masked else [])
    wrong = json.dumps({"statement": ASKED, "secrets": "perhaps"})
    assert api.post("/api/v1/actions/", wrong, content_type="application/json").status_code == 422


@pytest.mark.slow
def test_running_action_again_asks_too(standin: StandIn, browser: Client, reviewer: User) -> None:
    action = make_action(ASKED, incident=LOG, by=reviewer)
    again = {"configuration": Configuration.objects.get(is_default=True).name}
    page = browser.post(f"/actions/{action.pk}/run/", again)
    assert page.status_code == 422 and "Secrets" in page.content.decode()
    seen = page.context["form"]["secrets_seen"].value()
    chosen = again | {"secrets_seen": seen, "secrets": "mask"}
    assert browser.post(f"/actions/{action.pk}/run/", chosen).status_code == 302
    finish()
    assert reached(standin) == 0


@pytest.mark.slow
def test_campaigns_mask(standin: StandIn, manager: User, reviewer: User) -> None:
    campaign = rules.create_campaign("Study", by=manager, reviewers=[reviewer])
    editing.add_actions(campaign, [make_action(ASKED, incident=LOG)], by=manager)
    campaign.configurations.set([Configuration.objects.get(is_default=True)])
    runs.ask_for_runs(campaign, by=manager)
    start_runs(campaign.pk)
    run = finish()
    assert (run.origin, run.state, reached(standin)) == ("campaign", "done", 0)


@pytest.mark.slow
def test_rules_of_the_alert_intake_mask(standin: StandIn, administrator: User, door: Door) -> None:
    robot = make_person("robot", "reviewer")
    Profile.objects.update_or_create(user=robot, defaults={"service_account": True})
    rule = sources.save_rule(
        AlertRule(), by=administrator, name="All", matchers="", account=robot,
        configuration=Configuration.objects.get(is_default=True),
        runs_per_day=1, runs_per_source=1,
    )  # fmt: skip
    sources.switch_rule(rule, True, by=administrator)
    alert = sent.prometheus_alert("a1")
    alert["annotations"] = {"description": LOG, **alert.get("annotations", {})}
    door.send(sent.alertmanager(alert))
    finish()
    assert reached(standin) == 0


SEND, MASK = SecretsChoice.SEND, SecretsChoice.MASK


@pytest.mark.parametrize(
    ("asker", "author", "arrived"),
    first_cases(1, [(MASK, MASK, 0), (SEND, MASK, 1), (MASK, SEND, 50)]),
)
def test_feedback_that_people_write_is_theirs_to_choose_for(
    standin: StandIn, reviewer: User, asker: SecretsChoice, author: SecretsChoice, arrived: int
) -> None:
    """The requester was warned about one secret. A reviewer's feedback repeats it with 49 others."""
    action = make_action(ASKED, incident=PLANTED[0].text)
    run = finish(services.start_run(action, by=None, secrets=asker, enqueue=False))
    assert reached(standin) == (1 if asker is SEND else 0)
    services.ask_refinement(run.recommended, by=reviewer, feedback=LOG, secrets=author)
    finish(run)
    assert standin.calls(task="refine") and reached(standin) == arrived
    said = "secrets are sent" if author is SEND else "secrets are masked"
    assert audited(run)[-1] == said
    if author is MASK:
        assert all(call.masked for call in run.calls.filter(stage="refine"))
    shown = show_secrets(run)
    assert shown.masked, "in every case something was, and the page says so"
    assert (shown.are_sent, shown.are_sent_in_feedback) == (asker is SEND, author is SEND)


def test_feedback_secrets_are_shown_except_sent_ones(reviewer: User) -> None:
    action = make_action(ASKED, incident=PLANTED[0].text)
    run = finish(services.start_run(action, by=None, secrets=SEND, enqueue=False))
    with pytest.raises(services.SecretsFound) as refused:
        services.ask_refinement(run.recommended, by=reviewer, feedback=LOG, secrets=None)
    kinds = [one.kind for one in refused.value.found]
    assert PLANTED[0].kind == "AWS access key" and kinds.count("AWS access key") == 4
    assert not run.refinements.exists() and run.state == "done"
    again = services.ask_refinement(
        run.recommended, by=reviewer, feedback=PLANTED[0].text, secrets=None
    )
    assert again.sent_secrets == [], "there is nothing to choose"


def test_what_is_kept_of_a_secret_that_is_sent_tells_nothing_of_it(settings: Any) -> None:
    action = make_action(ASKED, incident=LOG)
    run = services.start_run(action, by=None, secrets=SEND, enqueue=False)
    assert len(run.sent_secrets) == 50
    assert not any(one.secret in str(run.sent_secrets) for one in PLANTED)
    settings.SECRET_KEY = "another one"
    assert not any(SecretsRule.of(run).spares(one.secret) for one in PLANTED)


@pytest.mark.parametrize(("choice", "arrived"), [("mask", 0), ("send", 50)])
def test_no_prompt_takes_one_along(
    standin: StandIn, choice: str, arrived: int, subtests: pytest.Subtests
) -> None:
    """The secrets are in every slot: scripts, sandbox tests, results and a checker's output."""
    Configuration.objects.update(cases="run")
    Endpoint.objects.update(max_in_flight=len(ASKED_STAGES))  # no call has to wait for a slot
    asked = make_action(ASKED, incident=LOG)
    run = services.start_run(asked, by=None, secrets=SecretsChoice(choice), enqueue=False)
    lease, templates = run_leases.claim(run.pk), templates_of(run.spec["prompts"])
    for stage in ASKED_STAGES.values():
        with subtests.test(stage.name):
            standin.reset()
            role = roles_of(run)[stage.role]
            slots = {name: f"{TEXTS[name]}\n{LOG}" for name in templates[stage.prompt].slots}
            question = stage.question(templates, **slots)
            opening = open_calls(
                lease, [(question, role)], batch_id=None, secrets=SecretsRule.of(run)
            )
            (opened,) = opening.outcomes.values()
            assert isinstance(opened, OpenedAttempt)
            model_client().send([(opened.target, opened.request)])
            assert reached(standin) == arrived
            kept = ModelCall.objects.get(pk=opened.call.pk)
            assert kept.request == opened.request, "the ledger keeps what was sent"
            assert bool(kept.masked) is (choice == "mask")


def test_the_words_of_the_prompts_hold_none() -> None:
    assert [name for name in names() if find_secrets(read(name))] == []


def test_secret_of_statement_is_masked_where_script_repeats_it_bare(standin: StandIn) -> None:
    """A local model wrote the secret into the script, and a remote model assesses it."""
    action = make_action("Log in to db-7, the password is Tulip88!x")
    run = services.start_run(action, by=None, enqueue=False)
    rule = SecretsRule.of(run)
    call = ModelCall(request={"system": "", "messages": [{"content": "expect Tulip88!x"}]})
    assert rule.apply(call, Endpoint.objects.get(name="demo"))
    assert call.request["messages"] == [{"content": "expect ***"}]
    assert not rule.apply(call, Endpoint.objects.get(name="demo")), "once is enough"


@pytest.mark.slow
def test_a_call_that_waits_is_masked_when_its_endpoint_becomes_remote(standin: StandIn) -> None:
    Endpoint.objects.update(treat_as_remote=False)
    run = services.start_run(make_action(ASKED, incident=LOG), by=None, enqueue=False)
    interrupt(standin, run, task="generate")
    standin.reset()
    Endpoint.objects.update(treat_as_remote=True)
    assert finish(run).state == "done" and reached(standin) == 0
    assert run.calls.get(stage="generate").masked


def _in_a_campaign_with_batches() -> Run:
    Endpoint.objects.update(has_batches=True)
    campaign = Batch.objects.create(name="Study", uses_message_batches=True)
    asked = make_action(ASKED, incident=LOG)
    run = services.start_run(asked, by=None, batch=campaign, enqueue=False)
    run_worker.advance(run.pk)
    return run


def test_a_question_that_waits_for_a_batch_is_kept_masked(standin: StandIn) -> None:
    call = _in_a_campaign_with_batches().calls.get()
    assert call.in_batches and call.masked
    assert not any(one.secret in _texts(call.request) for one in PLANTED)


def test_a_prepared_batch_is_masked_when_its_endpoint_becomes_remote(standin: StandIn) -> None:
    Endpoint.objects.update(treat_as_remote=False)
    run = _in_a_campaign_with_batches()
    collect_waiting()
    assert not run.calls.get().masked
    Endpoint.objects.update(treat_as_remote=True)
    background.advance_message_batches()
    assert MessageBatch.objects.get().remote_id and run.calls.get().masked
    assert not any(one.secret in _texts(run.calls.get().request) for one in PLANTED)
    assert reached(standin) == 0
