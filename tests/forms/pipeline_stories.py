"""Form stories for requests, runs, endpoints, configurations and prompts."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse
from django.utils import timezone

from catalog.models import MatchLabel, Use, Version
from pipeline import services
from pipeline.models import Action, Configuration, DraftUse, Endpoint, Price, PromptVersion, Run
from review.models import Assignment
from review.services import take_in
from tests.catalog.shelf import shelve
from tests.forms.story import Story, World, now
from tests.make import make_action, make_answered_run, make_run
from tests.pipeline.configurations.test_prompts_of_runs import MARKED, changed

DEMO = "/endpoints/demo/"
BOX = "/endpoints/box/"
SECRET = "AKIAABCDEFGHIJKLMNOP"


def a_finished_run(world: World) -> str:
    world.run = make_run(by=world.me)
    return f"/runs/{world.run.pk}/"


def a_run_to_review(world: World) -> str:
    address = a_finished_run(world)
    world.item = take_in(world.run.pk)
    return address


def an_answer_that_changed(world: World) -> str:
    a_run_to_review(world)
    Action.objects.update(seen_status="running")
    return "/actions/"


def an_answered_run(world: World) -> str:
    world.run = make_answered_run(shelve(), by=world.me)
    return f"/runs/{world.run.pk}/"


def a_run_to_fill_in(world: World) -> str:
    """Open a run that the catalogue answers with a script whose parameter has no value yet."""
    address = an_answered_run(world)
    Version.objects.update(
        script=': "${DAYS:=}"\nls "$DAYS"\n',
        parameters=[{"name": "DAYS", "type": "number", "required": True, "description": "Age"}],
    )
    return address


def an_ask_with_a_secret(world: World) -> HttpResponse:
    """Submit a request that contains a secret and return the page with the warning."""
    Endpoint.objects.update(treat_as_remote=True)
    answer: HttpResponse = world.client.post(
        "/actions/new/", {"statement": f"Upload it with {SECRET}"}
    )
    return answer


def a_queued_run(world: World) -> str:
    world.run = services.start_run(make_action(by=world.me), by=world.me, enqueue=False)
    return f"/runs/{world.run.pk}/"


def a_failed_run(world: World) -> str:
    address = a_queued_run(world)
    problem = "Claude needs its key in the environment variable ANTHROPIC_API_KEY."
    Run.objects.update(state="failed", finished_at=timezone.now(), problem=problem)
    return address


def an_action(world: World) -> str:
    world.action = make_action(by=world.me)
    return f"/actions/{world.action.pk}/"


def an_action_to_erase(world: World) -> str:
    world.action = make_run(by=world.person("reviewer")).action
    return f"/actions/{world.action.pk}/erase/"


def compared(world: World) -> str:
    world.run = make_run(by=world.me)
    world.action = world.run.action
    return f"/actions/{world.action.pk}/compare/?run={world.run.pk}"


def a_box(world: World) -> str:
    world.box = Endpoint.objects.create(name="box", title="Box", base_url="http://127.0.0.1:9")
    return BOX


def a_box_that_is_on(world: World) -> str:
    a_box(world)
    Endpoint.objects.filter(name="box").update(enabled=True)
    return BOX


def a_box_that_rests(world: World) -> str:
    later = timezone.now() + timedelta(hours=1)
    a_box_that_is_on(world)
    Endpoint.objects.filter(name="box").update(blocked_until=later, blocked_why="HTTP 529")
    return BOX


def a_box_in_the_wrong_mode(world: World) -> str:
    a_box(world)
    found = {"recommended": "tool", "modes": []}
    Endpoint.objects.filter(name="box").update(probe=found, probed_at=timezone.now())
    return BOX


def a_priced_box(world: World) -> str:
    a_box(world)
    world.price = Price.objects.create(
        endpoint=world.box, model="llama", since="2026-11-01", input=1, output=1
    )
    return BOX


def a_configuration(world: World) -> str:
    default = Configuration.objects.get(is_default=True)
    made = Configuration.objects.create(name="mine", title="Mine", preset=default.preset)
    for role in default.roles.all():
        role.pk, role.configuration = None, made
        role.save()
    world.configuration = made
    return "/configurations/mine/"


def an_archived_configuration(world: World) -> str:
    address = a_configuration(world)
    Configuration.objects.filter(name="mine").update(archived_at=timezone.now())
    return address


PIPELINE = {
    ("pipeline/actions/new.html", "reviewer"): [
        Story(
            lambda _w: "/actions/new/",
            "action-new",
            "Request script",
            {"statement": "List all sockets", "incident": "INC-7", "target": "web-1"},
        ).then(lambda w: Action.objects.get().incident == "INC-7" and Run.objects.exists()),
        Story(
            an_ask_with_a_secret,
            "action-new",
            "Request script",
            {"secrets": "send"},
            name="secrets",
        ).then(
            lambda w: (
                Run.objects.get().secrets == "send" and SECRET in Action.objects.get().statement
            )
        ),
    ],
    ("pipeline/actions/list.html", "reviewer"): [
        Story(an_answer_that_changed, "actions-seen", "Mark all as seen").then(
            lambda w: now(w.run.action).seen_status == "waiting" and "is-unread" not in w.text
        )
    ],
    ("pipeline/actions/detail.html", "reviewer"): [
        Story(an_action, "run-start", fill={"retrieval": False}).then(
            lambda w: not w.action.runs.get().uses_retrieval
        )
    ],
    ("pipeline/actions/erase.html", "administrator"): [
        Story(
            an_action_to_erase,
            "action-erase",
            "Erase permanently",
            lambda w: {"confirmed": f"erase {w.action.pk}"},
        ).then(lambda w: Action.objects.get().statement == "" and "Texts erased." in w.text)
    ],
    ("pipeline/runs/comparison/_start_another.html", "reviewer"): [
        Story(compared, "action-compare", "Start comparison").then(
            lambda w: w.action.runs.count() == 2
        )
    ],
    ("pipeline/runs/_use_unreviewed.html", "reviewer"): [
        Story(
            a_finished_run, "run-use-draft", "Use script", {"reason": "Disk full in ten minutes"}
        ).then(lambda w: DraftUse.objects.get().reason == "Disk full in ten minutes")
    ],
    ("pipeline/runs/_answer.html", "reviewer"): [
        Story(a_run_to_review, "run-review", "Review").then(
            lambda w: Assignment.objects.get(item=w.item).reviewer == w.me
        ),
        Story(an_answered_run, "version-use", "Copy").then(lambda w: Use.objects.get().by == w.me),
        Story(a_run_to_fill_in, "version-preview", "Fill in and copy").then(
            lambda w: 'id="use"' in w.text
        ),
        Story(an_answered_run, "run-confirm-match", "Confirm match").then(
            lambda w: MatchLabel.objects.get().label == "match"
        ),
        Story(an_answered_run, "run-reject-match", "Reject match").then(
            lambda w: Run.objects.filter(follows=w.run).exists()
        ),
    ],
    ("pipeline/runs/_outdated_checks.html", "reviewer"): [
        Story(a_finished_run, "draft-check", "Check again").then(
            lambda w: w.run.recommended.findings.exists() or "Script checked again" in w.text
        )
    ],
    ("pipeline/runs/_failure.html", "reviewer"): [
        Story(a_failed_run, "run-retry", "Resume").then(lambda w: now(w.run).state == "queued")
    ],
    ("pipeline/runs/_run_head.html", "reviewer"): [
        Story(a_queued_run, "run-cancel", "Cancel").then(lambda w: now(w.run).state == "cancelled")
    ],
    ("pipeline/endpoints/form.html", "administrator"): [
        Story(
            lambda _w: "/endpoints/new/",
            "endpoint-new",
            "Add endpoint",
            {"name": "gpu-box", "title": "The GPU box", "base_url": "http://127.0.0.1:11434"},
        ).then(lambda w: Endpoint.objects.get(name="gpu-box").title == "The GPU box"),
        Story(
            lambda w: f"{a_box(w)}edit/", "endpoint-edit", "Save", {"title": "The other box"}
        ).then(lambda w: now(w.box).title == "The other box"),
    ],
    ("pipeline/endpoints/detail.html", "administrator"): [
        Story(a_box, "endpoint-delete", "Delete").then(
            lambda w: not Endpoint.objects.filter(name="box").exists()
        )
    ],
    ("pipeline/endpoints/_check.html", "administrator"): [
        Story(lambda _w: DEMO, "endpoint-check", "Check endpoint", {"model": "demo-smith"}).then(
            lambda w: "Waiting for a worker" in w.text
        ),
        Story(a_box_in_the_wrong_mode, "endpoint-use-mode", "Switch mode").then(
            lambda w: now(w.box).mode == "tool"
        ),
    ],
    ("pipeline/endpoints/_switch.html", "administrator"): [
        Story(a_box, "endpoint-switch-on", "Turn on").then(lambda w: now(w.box).is_on),
        Story(a_box_that_is_on, "endpoint-switch-off", "Turn off").then(
            lambda w: not now(w.box).is_on
        ),
        Story(a_box_that_rests, "endpoint-wake", "Resume now").then(
            lambda w: now(w.box).blocked_until is None
        ),
    ],
    ("pipeline/endpoints/_prices.html", "administrator"): [
        Story(
            a_box,
            "price-add",
            "Add price",
            {"model": "llama", "since": "2026-11-01", "input": "0.25", "output": "1.5"},
        ).then(lambda w: Price.objects.get(endpoint=w.box).input == 250_000),
        Story(a_priced_box, "price-remove", "Remove the price of llama").then(
            lambda w: not Price.objects.filter(endpoint=w.box).exists()
        ),
    ],
    ("pipeline/configurations/detail.html", "administrator"): [
        Story(
            a_configuration,
            "configuration-detail",
            "Save",
            {"title": "My own", "note": "For the night.", "rounds": "2"},
        ).then(
            lambda w: (now(w.configuration).title, now(w.configuration).rounds) == ("My own", 2)
        ),
        Story(a_configuration, "configuration-archive", "Archive").then(
            lambda w: now(w.configuration).archived_at
        ),
        Story(an_archived_configuration, "configuration-unarchive", "Unarchive").then(
            lambda w: not now(w.configuration).archived_at
        ),
        Story(a_configuration, "configuration-default", "Set as default").then(
            lambda w: now(w.configuration).is_default
        ),
    ],
    ("pipeline/configurations/prompts/new.html", "administrator"): [
        Story(
            lambda _w: "/prompts/describe/new/",
            "prompt-new",
            "Save version",
            lambda _w: {"text": changed("describe"), "note": "Shorter answers"},
        ).then(lambda w: MARKED.strip() in PromptVersion.objects.get(name="describe").text)
    ],
}
