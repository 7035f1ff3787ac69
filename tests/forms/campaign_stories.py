"""Form stories for creating, planning, running, reporting, importing and exporting studies."""

from __future__ import annotations

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse

from pipeline.models import Configuration
from review import services
from review.campaigns.services import editing, rules
from review.models import Adjudication, Campaign, Item, ReportSnapshot, SentBack, Transfer
from tests.forms.review_stories import gone_through, study
from tests.forms.story import Story, World, now
from tests.keys import shown
from tests.make import make_action, make_run
from tests.review.maker import make_study
from tests.review.report.rows import Label, fill

ROW = {"id": "a", "statement": "List files", "script": "ls\n"}


def campaign_page(world: World) -> str:
    return f"/campaigns/{study(world, items=2).pk}/"


def setup_page(step: str) -> Any:
    def make(world: World) -> str:
        world.campaign = rules.create_campaign("Study", by=world.me)
        return f"/campaigns/{world.campaign.pk}/setup/{step}/"

    return make


def with_a_found_run(world: World) -> str:
    world.run = make_run(statement="List the sockets", origin="campaign")
    return setup_page("items")(world) + "?kind=runs&q=sockets"


def ready_to_start(world: World) -> str:
    address = setup_page("start")(world)
    editing.add_actions(world.campaign, [make_action(by=world.me)], by=world.me)
    editing.choose_arms(world.campaign, [Configuration.objects.get(is_default=True)], by=world.me)
    return str(address)


def ready_to_open(world: World) -> str:
    reviewers = [world.person("reviewer")]
    world.campaign = make_study(by=world.me, reviewers=reviewers, items=1, is_open=False)
    return f"/campaigns/{world.campaign.pk}/setup/start/"


def asked_before_closing(world: World) -> HttpResponse:
    address = campaign_page(world)
    return world.client.post(f"{address}state/", {"state": "closed"})


def with_money(world: World) -> str:
    address = campaign_page(world)
    editing.change_campaign(world.campaign, by=world.me, budget=5_000_000)
    return address


def a_changed_rubric(world: World) -> str:
    study(world, items=2)
    gone_through(world, "reviewer", 0, 2, 2)
    editing.change_campaign(world.campaign, by=world.me, rubric="Paths count.")
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


def closed_items(world: World) -> str:
    address = campaign_page(world)
    Campaign.objects.filter(pk=world.campaign.pk).update(state="closed")
    return f"{address}items/"


def hands_page(world: World) -> str:
    study(world, items=1)
    world.item = world.campaign.items.get()
    return f"/items/{shown(world.item)}/hands/"


def somebody_holds_it(world: World) -> str:
    address = hands_page(world)
    services.claim_next(world.campaign, by=world.person("reviewer"))
    return address


def somebody_is_through(world: World) -> str:
    study(world, items=1)
    gone_through(world, "reviewer", 0, 2, 1)
    return f"/items/{shown(world.item)}/hands/"


def a_dispute(world: World) -> str:
    study(world, items=1, overlap=2)
    gone_through(world, "reviewer", 0, 2, 2)
    gone_through(world, "second_reviewer", 2)
    return f"/campaigns/{world.campaign.pk}/adjudicate/{world.item.pk}/"


def a_flag(world: World) -> str:
    study(world, items=1)
    reviewer = world.person("reviewer")
    held = services.claim_next(world.campaign, by=reviewer)
    world.flag = services.flag(held, reason="It makes no sense.", by=reviewer)
    return "/campaigns/flags/"


def report_page(world: World) -> str:
    return f"{campaign_page(world)}report/"


def where_execution_differs(world: World) -> str:
    world.campaign = rules.create_campaign("Study", by=world.me)
    labels = [Label("correct", [(2, None, None)], execution=share) for share in (1.0, 0.0)]
    world.items = fill(world.campaign, labels, [world.person("reviewer")])
    report = f"/campaigns/{world.campaign.pk}/report/"
    world.client.get(report)
    return f"{report}items/?figure=execution_agreement&which=rest&configuration=imported"


def file_of(*rows: object) -> SimpleUploadedFile:
    return SimpleUploadedFile("items.jsonl", "\n".join(map(json.dumps, rows)).encode())


def import_page(world: World) -> str:
    return setup_page("about")(world).replace("setup/about", "import")


def put_aside(world: World) -> str:
    data = {"kind": "items", "file": file_of(ROW), "look": "1"}
    return str(world.client.post(import_page(world), data)["Location"])


def a_transfer(world: World) -> str:
    data = {"kind": "items", "file": file_of(ROW), "mapping": "", "format": ""}
    return str(world.client.post(import_page(world), data)["Location"])


def export_page(world: World) -> str:
    return f"{campaign_page(world)}export/"


CAMPAIGNS = {
    ("review/campaigns/new.html", "manager"): [
        Story(
            lambda _w: "/campaigns/new/",
            "campaign-new",
            fill={"name": "Shell 2026", "description": "Why", "preset": "rigorous"},
        ).then(lambda w: Campaign.objects.get(name="Shell 2026").sham_share == 20)
    ],
    ("review/campaigns/clone.html", "manager"): [
        Story(
            lambda w: f"{campaign_page(w)}clone/",
            "campaign-clone",
            "Clone",
            {"name": "Once more", "takes": "scripts"},
        ).then(lambda w: Campaign.objects.get(name="Once more").items.count() == 2)
    ],
    ("review/campaigns/_head.html", "manager"): [
        Story(campaign_page, "campaign-state", "Pause").then(
            lambda w: now(w.campaign).state == "paused"
        )
    ],
    ("review/campaigns/close.html", "manager"): [
        Story(asked_before_closing, "campaign-state", "Close anyway").then(
            lambda w: now(w.campaign).state == "closed"
        )
    ],
    ("review/campaigns/dashboard.html", "manager"): [
        Story(
            with_money, "campaign-budget", "Save", {"budget": "12.50", "uses_message_batches": "on"}
        ).then(
            lambda w: (
                editing.rules_of(now(w.campaign)).budget == 12_500_000
                and editing.rules_of(now(w.campaign)).uses_message_batches
            )
        ),
        Story(with_money, "campaign-runs", "Pause runs").then(
            lambda w: now(w.campaign).batch.paused_at
        ),
    ],
    ("review/campaigns/setup_items.html", "manager"): [
        Story(
            with_a_found_run, "campaign-step", "Add selected", lambda w: {"chosen": [str(w.run.pk)]}
        ).then(lambda w: w.campaign.items.get().run == w.run),
        Story(
            setup_page("items"),
            "campaign-import",
            "Preview file",
            lambda _w: {"file": file_of(ROW)},
            name="file",
        ).then(lambda w: "how each column is interpreted" in w.text and "List files" in w.text),
    ],
    ("review/campaigns/setup_step.html", "manager"): [
        Story(
            setup_page("reviewers"), "campaign-step", "Save", {"overlap": "3", "extra_share": "0"}
        ).then(lambda w: now(w.campaign).overlap == 3),
        Story(
            a_changed_rubric, "campaign-rubric-older", "Send back", {"why": "Look at paths again."}
        ).then(lambda w: SentBack.objects.get().why == "Look at paths again."),
    ],
    ("review/campaigns/setup_start.html", "manager"): [
        Story(ready_to_open, "campaign-state", "Open study").then(
            lambda w: now(w.campaign).state == "open"
        ),
        Story(ready_to_start, "campaign-start-runs").then(lambda w: "starting" in w.text),
    ],
    ("review/campaigns/setup_size.html", "manager"): [
        Story(
            setup_page("size"),
            "campaign-step",
            "Save plan and continue",
            {"share": "50", "half_width": "5"},
        ).then(lambda w: now(w.campaign).plan["items"] == 381)
    ],
    ("review/campaigns/people.html", "manager"): [
        Story(without_people, "campaign-member-add", "Add", {"user": "rita", "limit": "5"}).then(
            lambda w: w.campaign.members.get().limit == 5
        ),
        Story(without_people, "campaign-member-add", "Add 1 reviewer", name="everybody").then(
            lambda w: w.campaign.members.get().user.username == "rita"
        ),
        Story(people_page, "campaign-member", "Set", {"limit": "7"}, name="limit").then(
            lambda w: w.campaign.members.filter(limit=7).count() == 1
        ),
        Story(people_page, "campaign-member", "Pause", name="pause").then(
            lambda w: w.campaign.members.exclude(paused_at=None).count() == 1
        ),
        Story(people_page, "campaign-open-to-all", "Open to every reviewer").then(
            lambda w: now(w.campaign).open_to_all
        ),
    ],
    ("review/campaigns/_send_form.html", "manager"): [
        Story(
            closed_items,
            "campaign-send",
            "Send selected items",
            lambda w: {"item": [str(one.pk) for one in w.campaign.items.all()]},
        ).then(lambda w: Item.objects.filter(campaign__kind="live").count() == 2)
    ],
    ("review/campaigns/item.html", "manager"): [
        Story(item_page, "campaign-item-assign", fill={"user": "rita"}).then(
            lambda w: w.item.assignments.get().reviewer.username == "rita"
        ),
        Story(
            item_page,
            "campaign-item-known",
            "Save",
            {"purpose": "gold", "script": "0", "why": "It misses links."},
        ).then(lambda w: now(w.item).case.purpose == "gold"),
        Story(item_page, "campaign-item-withdraw", "Withdraw", {"why": "No sense."}).then(
            lambda w: now(w.item).state == "withdrawn"
        ),
    ],
    ("review/queue/item_hands.html", "manager"): [
        Story(hands_page, "item-assign", "Assign", {"to": "rolf"}).then(
            lambda w: w.item.assignments.get().reviewer.username == "rolf"
        )
    ],
    ("review/queue/_reassign_form.html", "manager"): [
        Story(somebody_holds_it, "item-take-over", fill={"to": "rolf", "why": "On leave"}).then(
            lambda w: w.item.assignments.filter(reviewer__username="rolf").exists()
        ),
        Story(somebody_is_through, "item-send-back", fill={"why": "Line 3?"}).then(
            lambda w: SentBack.objects.get().why == "Line 3?"
        ),
    ],
    ("review/campaigns/adjudication.html", "manager"): [
        Story(
            a_dispute,
            "campaign-adjudicate",
            "Save final score",
            {"value": "0", "why": "Paths count."},
        ).then(lambda w: Adjudication.objects.get().value == 0)
    ],
    ("review/campaigns/flag_list.html", "manager"): [
        Story(a_flag, "flag-answer", fill={"resolution": "Taken out."}).then(
            lambda w: now(w.flag).resolution == "Taken out."
        )
    ],
    ("review/report/_snapshots.html", "manager"): [
        Story(report_page, "campaign-report-snapshots", fill={"name": "After the pilot"}).then(
            lambda w: ReportSnapshot.objects.get().name == "After the pilot"
        )
    ],
    ("review/report/items.html", "manager"): [
        Story(
            where_execution_differs, "item-execution-reason", "Save", {"reason": "too_strict"}
        ).then(lambda w: now(w.items[1]).execution_reason == "too_strict")
    ],
    ("review/exchange/import.html", "manager"): [
        Story(
            import_page,
            "campaign-import",
            "Import",
            lambda _w: {"kind": "items", "file": file_of(ROW)},
        ).then(lambda w: Transfer.objects.get().kind == "items")
    ],
    ("review/exchange/import_preview.html", "manager"): [
        Story(put_aside, "campaign-import-look", "Import").then(
            lambda w: Transfer.objects.get().kind == "items"
        )
    ],
    ("review/exchange/_transfer.html", "manager"): [
        Story(a_transfer, "transfer-cancel").then(
            lambda w: Transfer.objects.get().state == "cancelled"
        )
    ],
    ("review/exchange/export.html", "manager"): [
        Story(export_page, "campaign-export", fill={"layout": "csv"}).then(
            lambda w: Transfer.objects.get().kind != "items"
        )
    ],
}
