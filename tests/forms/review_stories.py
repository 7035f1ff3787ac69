"""Form stories of the queue, the review screen, campaigns, their reports and files."""

from __future__ import annotations

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse

from pipeline.models import Configuration, Refinement, Run, Shortening
from review import making, services, studies
from review.models import (
    Adjudication,
    Assignment,
    Campaign,
    Decision,
    Flag,
    Item,
    Remark,
    ReportSnapshot,
    Score,
    SentBack,
    Transfer,
)
from tests.forms.story import Story, World, now
from tests.make import make_action, make_run
from tests.review.maker import make_study
from tests.review.report.rows import Label, fill
from tests.review.test_desk import score_next

FLAGGED = {
    "verdict": "incorrect",
    "script": "find /srv -name '*X*'\n",
    "feedback": "- Use -path, not -name.",
    "refined": "find /srv -path '*X*'\n",
}
ROW = {"id": "a", "statement": "List files", "script": "ls\n"}
LONG = "This is wrong for many reasons. " * 20


# --- Items in somebody's hands ---------------------------------------------------------------------------------


def in_queue(world: World, **details: Any) -> Item:
    item = services.take_in(make_run(**details).pk)
    assert item is not None
    world.item = item
    return item


def desk_of(item: Item) -> str:
    return f"/items/{item.pk}/"


def an_item_that_waits(world: World) -> str:
    return desk_of(in_queue(world))


def a_held_item(world: World) -> str:
    services.claim_item(in_queue(world), by=world.me)
    return desk_of(world.item)


def a_held_flagged_item(world: World) -> str:
    services.claim_item(in_queue(world, **FLAGGED), by=world.me)
    return desk_of(world.item)


def a_scored_flagged_item(world: World) -> str:
    address = a_held_flagged_item(world)
    score_next(world.item, world.me, 0)
    return address


def a_passed_item_marked_wrong(world: World) -> str:
    address = a_held_item(world)
    score_next(world.item, world.me, 0)
    return address


def feedback_is_ready(world: World) -> str:
    address = a_passed_item_marked_wrong(world)
    services.ask_for_feedback(world.item, by=world.me)
    Refinement.objects.filter(run=world.item.run).update(state="done")
    Run.objects.filter(pk=world.item.run_id).update(state="done")
    return address


def a_remark(world: World) -> str:
    address = a_held_item(world)
    draft = world.item.run.drafts.get(number=1).pk
    services.add_remark(world.item, draft=draft, line=2, text="Too wide", by=world.me)
    return address


def in_the_queue(world: World) -> str:
    in_queue(world)
    return "/queue/"


def last_score(world: World) -> Score:
    found = Score.objects.filter(item=world.item).order_by("-pk").first()
    assert found is not None
    return found


def assignment(world: World) -> Assignment:
    return Assignment.objects.get(item=world.item, reviewer=world.me)


# --- Studies, as their reviewers meet them ------------------------------------------------------------------------


def study(world: World, **rules: Any) -> Campaign:
    reviewers = [world.person("reviewer"), world.person("second_reviewer")]
    world.campaign = make_study(by=world.person("manager"), reviewers=reviewers, **rules)
    return world.campaign


def gone_through(world: World, reviewer: str, *values: int) -> Item:
    """This reviewer has scored the next item of the study."""
    person = world.person(reviewer)
    claimed = services.claim_next(world.campaign, by=person)
    assert claimed is not None
    for value in values:
        score_next(claimed.item, person, value)
    world.item = claimed.item
    return claimed.item


def a_study(world: World) -> str:
    study(world)
    return "/studies/"


def a_study_s_queue(world: World) -> str:
    return f"/studies/{study(world).pk}/"


def one_done_in_a_study(world: World) -> str:
    study(world, items=2)
    return desk_of(gone_through(world, "reviewer", 0, 2, 1))


def sent_back(world: World) -> str:
    address = one_done_in_a_study(world)
    services.send_back(assignment(world), why="Sure?", by=world.person("manager"))
    services.claim_next(world.campaign, by=world.me)
    return address


# --- Campaigns, as managers keep them -------------------------------------------------------------------------


def campaign_page(world: World) -> str:
    return f"/campaigns/{study(world, items=2).pk}/"


def setup_page(step: str) -> Any:
    def make(world: World) -> str:
        world.campaign = studies.create_campaign("Study", by=world.me)
        return f"/campaigns/{world.campaign.pk}/setup/{step}/"

    return make


def with_a_found_run(world: World) -> str:
    world.run = make_run(statement="List the sockets", origin="campaign")
    return setup_page("items")(world) + "?kind=runs&q=sockets"


def ready_to_start(world: World) -> str:
    address = setup_page("start")(world)
    making.add_actions(world.campaign, [make_action(by=world.me)], by=world.me)
    making.choose_arms(world.campaign, [Configuration.objects.get(is_default=True)], by=world.me)
    return str(address)


def asked_before_closing(world: World) -> HttpResponse:
    address = campaign_page(world)
    return world.client.post(f"{address}state/", {"state": "closed"})


def with_money(world: World) -> str:
    address = campaign_page(world)
    making.change(world.campaign, by=world.me, budget=5_000_000)
    return address


def a_changed_rubric(world: World) -> str:
    study(world, items=2)
    gone_through(world, "reviewer", 0, 2, 2)
    making.change(world.campaign, by=world.me, rubric="Paths count.")
    return f"/campaigns/{world.campaign.pk}/setup/rubric/"


def people_page(world: World) -> str:
    return f"{campaign_page(world)}people/"


def without_people(world: World) -> str:
    world.person("reviewer")
    world.campaign = make_study(by=world.me, reviewers=[], items=1, is_open=False)
    return f"/campaigns/{world.campaign.pk}/people/"


def item_page(world: World) -> str:
    address = campaign_page(world)
    world.item = world.campaign.items.order_by("pk")[0]
    return f"{address}items/{world.item.pk}/"


def hands_page(world: World) -> str:
    study(world, items=1)
    world.item = world.campaign.items.get()
    return f"/items/{world.item.pk}/hands/"


def somebody_holds_it(world: World) -> str:
    address = hands_page(world)
    services.claim_next(world.campaign, by=world.person("reviewer"))
    return address


def somebody_is_through(world: World) -> str:
    study(world, items=1)
    gone_through(world, "reviewer", 0, 2, 1)
    return f"/items/{world.item.pk}/hands/"


def a_dispute(world: World) -> str:
    study(world, items=1, overlap=2)
    gone_through(world, "reviewer", 0, 2, 2)
    gone_through(world, "second_reviewer", 2)
    return f"/campaigns/{world.campaign.pk}/adjudicate/{world.item.pk}/"


def a_flag(world: World) -> str:
    study(world, items=1)
    reviewer = world.person("reviewer")
    held = services.claim_next(world.campaign, by=reviewer)
    assert held is not None
    world.flag = services.flag(held, reason="It makes no sense.", by=reviewer)
    return "/campaigns/flags/"


def report_page(world: World) -> str:
    return f"{campaign_page(world)}report/"


def where_execution_differs(world: World) -> str:
    world.campaign = studies.create_campaign("Study", by=world.me)
    labels = [Label("correct", [(2, None, None)], execution=share) for share in (1.0, 0.0)]
    world.items = fill(world.campaign, labels, [world.person("reviewer")])
    report = f"/campaigns/{world.campaign.pk}/report/"
    world.client.get(report)
    return f"{report}items/?figure=execution_agreement&which=rest&configuration=imported"


def file_of(*rows: object) -> SimpleUploadedFile:
    return SimpleUploadedFile("items.jsonl", "\n".join(map(json.dumps, rows)).encode())


def import_page(world: World) -> str:
    return setup_page("about")(world).replace("setup/about", "import")  # type: ignore[no-any-return]


def put_aside(world: World) -> str:
    data = {"kind": "items", "file": file_of(ROW), "look": "1"}
    return str(world.client.post(import_page(world), data)["Location"])


def a_transfer(world: World) -> str:
    data = {"kind": "items", "file": file_of(ROW), "mapping": "", "format": ""}
    return str(world.client.post(import_page(world), data)["Location"])


def export_page(world: World) -> str:
    return f"{campaign_page(world)}export/"


QUEUE = (
    Story(
        "review/queue.html",
        "reviewer",
        in_the_queue,
        "queue-next",
        press="Start reviewing",
        then=lambda w: assignment(w).state == "active",
    ),
    Story(
        "review/queue.html",
        "reviewer",
        in_the_queue,
        "item-claim",
        press="Take",
        then=lambda w: assignment(w).state == "active",
    ),
    Story(
        "review/study_list.html",
        "reviewer",
        a_study,
        "study-next",
        press="Next item",
        then=lambda w: Assignment.objects.get(reviewer=w.me).item.campaign == w.campaign,
    ),
    Story(
        "review/study_queue.html",
        "reviewer",
        a_study_s_queue,
        "study-next",
        press="Next item",
        then=lambda w: Assignment.objects.get(reviewer=w.me).item.campaign == w.campaign,
    ),
    Story(
        "review/_study_done.html",
        "reviewer",
        one_done_in_a_study,
        "study-next",
        press="Next item",
        then=lambda w: Assignment.objects.filter(reviewer=w.me, state="active").exists(),
    ),
    Story(
        "review/_not_mine.html",
        "reviewer",
        an_item_that_waits,
        "item-claim",
        press="Take it",
        then=lambda w: assignment(w).state == "active",
    ),
    Story(
        "review/_not_mine.html",
        "reviewer",
        feedback_is_ready,
        "item-claim",
        press="Go on",
        then=lambda w: assignment(w).state == "active",
        name="go on",
    ),
)
DESK = (
    Story(
        "review/_stage_form.html",
        "reviewer",
        a_held_item,
        "item-score",
        fill={"value": "1", "comment": "Nearly: größer als nötig."},
        press="Score",
        then=lambda w: (
            (last_score(w).value, last_score(w).comment) == (1, "Nearly: größer als nötig.")
        ),
    ),
    Story(
        "review/_decide_form.html",
        "reviewer",
        a_held_item,
        "item-decide",
        press="approve",
        then=lambda w: Decision.objects.get().kind == "approve",
        name="approve",
    ),
    Story(
        "review/_decide_form.html",
        "reviewer",
        a_held_item,
        "item-decide",
        fill={"reason": "It deletes too much."},
        press="reject",
        then=lambda w: Decision.objects.get().reason == "It deletes too much.",
        name="reject",
    ),
    Story(
        "review/_decide_form.html",
        "reviewer",
        a_held_item,
        "item-decide",
        fill={"script": "find /var/tmp/exports -mtime +30 -print\n"},
        press="edit",
        then=lambda w: Decision.objects.get().kind == "edit",
        name="edit",
    ),
    Story(
        "review/_score_form.html",
        "reviewer",
        a_passed_item_marked_wrong,
        "item-ask-feedback",
        press="Get feedback and a rewrite",
        then=lambda w: Refinement.objects.filter(run=w.item.run).exists(),
    ),
    Story(
        "review/_score_form.html",
        "reviewer",
        sent_back,
        "item-answer",
        press="My scores stand",
        then=lambda w: SentBack.objects.get().answered_at,
    ),
    Story(
        "review/_feedback_form.html",
        "reviewer",
        a_scored_flagged_item,
        "item-send-feedback",
        fill={"feedback": "- Look at the path."},
        press="Send and rewrite",
        then=lambda w: Refinement.objects.filter(run=w.item.run).exists(),
    ),
    Story(
        "review/_feedback_form.html",
        "reviewer",
        a_scored_flagged_item,
        "item-shorten",
        fill={"feedback": LONG},
        press="Have it shortened",
        then=lambda w: Shortening.objects.exists() and LONG.strip() in w.text,
    ),
    Story(
        "review/_remark_form.html",
        "reviewer",
        a_held_item,
        "item-remark",
        fill={"line": "3", "remark": "Too <b>wide</b>"},
        press="Add",
        then=lambda w: Remark.objects.get().text == "Too <b>wide</b>",
    ),
    Story(
        "review/_remark_form.html",
        "reviewer",
        a_remark,
        "item-remark-remove",
        then=lambda w: "Too wide" not in w.text,
    ),
    Story(
        "review/_more.html",
        "reviewer",
        a_held_flagged_item,
        "item-reveal",
        press="Show the verdict now",
        then=lambda w: "Show the verdict now" not in w.text,
    ),
    Story(
        "review/_more.html",
        "reviewer",
        a_scored_flagged_item,
        "item-undo",
        press="Undo",
        then=lambda w: not Score.objects.filter(item=w.item, current=True).exists(),
    ),
    Story(
        "review/_more.html",
        "reviewer",
        a_held_item,
        "item-give-back",
        fill={"why": "Not my field."},
        press="I can",
        then=lambda w: assignment(w).state not in ("active", "waiting"),
    ),
    Story(
        "review/_more.html",
        "reviewer",
        a_held_item,
        "item-flag",
        fill={"flag": "It makes no sense."},
        press="Flag",
        then=lambda w: Flag.objects.get().reason == "It makes no sense.",
    ),
)
CAMPAIGNS = (
    Story(
        "review/campaign_new.html",
        "manager",
        lambda _w: "/campaigns/new/",
        "campaign-new",
        fill={"name": "Shell 2026", "description": "Why", "preset": "rigorous"},
        then=lambda w: Campaign.objects.get(name="Shell 2026").sham_share == 20,
    ),
    Story(
        "review/campaign_clone.html",
        "manager",
        lambda w: f"{campaign_page(w)}clone/",
        "campaign-clone",
        fill={"name": "Once more", "takes": "scripts"},
        press="Clone",
        then=lambda w: Campaign.objects.get(name="Once more").items.count() == 2,
    ),
    Story(
        "review/_campaign_head.html",
        "manager",
        campaign_page,
        "campaign-state",
        press="Pause",
        then=lambda w: now(w.campaign).state == "paused",
    ),
    Story(
        "review/campaign_close.html",
        "manager",
        asked_before_closing,
        "campaign-state",
        press="Close it all the same",
        then=lambda w: now(w.campaign).state == "closed",
    ),
    Story(
        "review/dashboard.html",
        "manager",
        with_money,
        "campaign-budget",
        fill={"budget": "12.50"},
        press="Set the budget",
        then=lambda w: making.rules_of(now(w.campaign)).budget == 12_500_000,
    ),
    Story(
        "review/dashboard.html",
        "manager",
        with_money,
        "campaign-runs",
        press="Pause the runs",
        then=lambda w: now(w.campaign).batch.paused_at,
    ),
    Story(
        "review/campaign_fill.html",
        "manager",
        with_a_found_run,
        "campaign-step",
        fill=lambda w: {"chosen": [str(w.run.pk)]},
        press="Add those ticked",
        then=lambda w: w.campaign.items.get().run == w.run,
    ),
    Story(
        "review/campaign_step.html",
        "manager",
        setup_page("overlap"),
        "campaign-step",
        fill={"overlap": "3", "extra_share": "0"},
        press="Save",
        then=lambda w: now(w.campaign).overlap == 3,
    ),
    Story(
        "review/campaign_step.html",
        "manager",
        a_changed_rubric,
        "campaign-rubric-older",
        fill={"why": "Look at paths again."},
        press="Send them back",
        then=lambda w: SentBack.objects.get().why == "Look at paths again.",
    ),
    Story(
        "review/campaign_start.html",
        "manager",
        ready_to_start,
        "campaign-start-runs",
        then=lambda w: "being started" in w.text,
    ),
    Story(
        "review/campaign_people.html",
        "manager",
        without_people,
        "campaign-member-add",
        fill={"user": "rita", "limit": "5"},
        press="Add",
        then=lambda w: w.campaign.members.get().limit == 5,
    ),
    Story(
        "review/campaign_people.html",
        "manager",
        without_people,
        "campaign-member-add",
        press="Add 1 person",
        then=lambda w: w.campaign.members.get().user.username == "rita",
        name="everybody",
    ),
    Story(
        "review/campaign_people.html",
        "manager",
        people_page,
        "campaign-member",
        fill={"limit": "7"},
        press="Set",
        then=lambda w: w.campaign.members.filter(limit=7).count() == 1,
        name="limit",
    ),
    Story(
        "review/campaign_people.html",
        "manager",
        people_page,
        "campaign-member",
        press="Pause",
        then=lambda w: w.campaign.members.exclude(paused_at=None).count() == 1,
        name="pause",
    ),
    Story(
        "review/campaign_people.html",
        "manager",
        people_page,
        "campaign-open-to-all",
        press="Open it to every reviewer",
        then=lambda w: now(w.campaign).open_to_all,
    ),
    Story(
        "review/campaign_item.html",
        "manager",
        item_page,
        "campaign-item-assign",
        fill={"user": "rita"},
        then=lambda w: w.item.assignments.get().reviewer.username == "rita",
    ),
    Story(
        "review/campaign_item.html",
        "manager",
        item_page,
        "campaign-item-known",
        fill={"purpose": "gold", "script": "0", "why": "It misses links."},
        press="Save",
        then=lambda w: now(w.item).case.purpose == "gold",
    ),
    Story(
        "review/campaign_item.html",
        "manager",
        item_page,
        "campaign-item-withdraw",
        fill={"why": "No sense."},
        press="Withdraw",
        then=lambda w: now(w.item).state == "withdrawn",
    ),
    Story(
        "review/item_hands.html",
        "manager",
        hands_page,
        "item-assign",
        fill={"to": "rolf"},
        press="Assign",
        then=lambda w: w.item.assignments.get().reviewer.username == "rolf",
    ),
    Story(
        "review/_hand_form.html",
        "manager",
        somebody_holds_it,
        "item-take-over",
        fill={"to": "rolf", "why": "On leave"},
        then=lambda w: w.item.assignments.filter(reviewer__username="rolf").exists(),
    ),
    Story(
        "review/_hand_form.html",
        "manager",
        somebody_is_through,
        "item-send-back",
        fill={"why": "Line 3?"},
        then=lambda w: SentBack.objects.get().why == "Line 3?",
    ),
    Story(
        "review/adjudicate.html",
        "manager",
        a_dispute,
        "campaign-adjudicate",
        fill={"value": "0", "why": "Paths count."},
        press="Settle",
        then=lambda w: Adjudication.objects.get().value == 0,
    ),
    Story(
        "review/flag_list.html",
        "manager",
        a_flag,
        "flag-answer",
        fill={"resolution": "Taken out."},
        then=lambda w: now(w.flag).resolution == "Taken out.",
    ),
    Story(
        "review/report.html",
        "manager",
        report_page,
        "campaign-report-snapshots",
        fill={"name": "After the pilot"},
        then=lambda w: ReportSnapshot.objects.get().name == "After the pilot",
    ),
    Story(
        "review/report_items.html",
        "manager",
        where_execution_differs,
        "item-execution-reason",
        fill={"reason": "too_strict"},
        press="Save",
        then=lambda w: now(w.items[1]).execution_reason == "too_strict",
    ),
    Story(
        "review/transfer_import.html",
        "manager",
        import_page,
        "campaign-import",
        fill=lambda _w: {"kind": "items", "file": file_of(ROW)},
        press="Import",
        then=lambda w: Transfer.objects.get().kind == "items",
    ),
    Story(
        "review/transfer_look.html",
        "manager",
        put_aside,
        "campaign-import-look",
        press="Import",
        then=lambda w: Transfer.objects.get().kind == "items",
    ),
    Story(
        "review/_transfer.html",
        "manager",
        a_transfer,
        "transfer-cancel",
        then=lambda w: Transfer.objects.get().state == "cancelled",
    ),
    Story(
        "review/transfer_export.html",
        "manager",
        export_page,
        "campaign-export",
        fill={"layout": "csv"},
        then=lambda w: Transfer.objects.get().kind != "items",
    ),
)
REVIEW = (*QUEUE, *DESK, *CAMPAIGNS)
