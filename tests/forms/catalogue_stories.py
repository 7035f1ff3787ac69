"""Form stories for catalogue editing, curation, calibration, files and the admin's forms."""

from __future__ import annotations

import json
from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse

from catalog import relevance, services
from catalog.curation.services.duplicates import compare_entries
from catalog.curation.services.rechecks import recheck_versions
from catalog.models import (
    CaseRun,
    Entry,
    EvidenceChange,
    Execution,
    Job,
    MatchLabel,
    NearDuplicate,
    Recheck,
    SavedView,
    ScoringModel,
    Threshold,
    ToolRule,
    Version,
)
from catalog.retrieval.scoring import current_scoring
from tests.catalog.evidence.conftest import cases_text
from tests.catalog.execution.cases.writing import case_data
from tests.catalog.shelf import PLAIN, shelve
from tests.forms.entry_stories import a_version, page_of, tags_of
from tests.forms.story import Story, World, now
from tests.make import make_answered_run

CALIBRATION = "/catalogue/calibration/"
GOOD = {"slug": "tell-date", "title": "Tell the date", "script": "date\n"}
DATE = '#!/usr/bin/env bash\nTZ="${ZONE:?}" date\n'


def a_merge(world: World) -> str:
    world.version = shelve("Print the uptime")
    source = shelve("Say how long it is up", script="uptime -p\n")
    world.source = source.entry
    services.merge_entries(source.entry, target=world.version.entry, by=world.me, note="same")
    return page_of(world.version)


def two_to_merge(world: World) -> str:
    target = shelve("Print the uptime")
    world.source = shelve("Say how long it is up", script="uptime -p\n").entry
    return f"/catalogue/{world.source.slug}/merge/?into={target.entry.slug}"


def near_duplicates(world: World) -> str:
    shelve("Print the uptime")
    shelve("Report the uptime", script=PLAIN, state="in_review")
    compare_entries(limit=100)
    return "/catalogue/curation/duplicates/"


def a_tool_rule(world: World) -> str:
    ToolRule.objects.create(name="deployctl", effect="reads", by=world.me)
    return "/catalogue/curation/tools/"


def a_newer_finding(world: World) -> str:
    world.version = shelve("List a folder", script="#!/usr/bin/env bash\nname=$1\nls $name\n")
    Version.objects.update(checked_with="shellcheck 0.1", findings=[])
    recheck_versions(limit=10)
    return "/catalogue/curation/findings/"


def an_entry_with_cases(world: World) -> str:
    world.version = shelve("Delete log files of the app older than 7 days")
    world.kept = services.add_cases(world.version.entry, cases_text(), by=world.me)
    return f"/catalogue/{world.version.entry.slug}/cases/"


def an_entry_to_write_cases_for(world: World) -> str:
    world.version = shelve("Delete log files of the app older than 7 days")
    return f"/catalogue/{world.version.entry.slug}/cases/new/"


def cases_to_edit(world: World) -> str:
    an_entry_with_cases(world)
    return f"/catalogue/cases/{world.kept.pk}/edit/"


def changed_evidence(world: World) -> str:
    an_entry_with_cases(world)
    case_set, sha256 = world.kept.case_set, world.version.sha256
    results = [
        Execution.objects.create(script_sha256=sha256, case_set=case_set, state=state)
        for state in ("passed", "failed")
    ]
    world.change = EvidenceChange.objects.create(
        entry=world.version.entry, version=world.version, before=results[0], after=results[1]
    )
    return "/catalogue/curation/evidence/"


def two_entries(world: World) -> str:
    world.entries = [shelve("Task one").entry, shelve("Task two", script="echo 2\n").entry]
    return "/catalogue/"


def a_saved_view(world: World) -> str:
    world.view = SavedView.objects.create(user=world.me, name="Risky", query="risk=high")
    return "/catalogue/?risk=high"


def saving_a_view(address: str, listing: str) -> Story:
    return Story(lambda _w: address, "view-save", "Save", {"name": "Mine"}).then(
        lambda w: SavedView.objects.get(user=w.me, name="Mine").listing == listing
    )


def chosen_for_tags(world: World) -> HttpResponse:
    two_entries(world)
    chosen = [entry.pk for entry in world.entries]
    data = {"deed": "add_tags", "deed_chosen": "1", "entries": chosen}
    return world.client.post("/catalogue/curation/bulk/", data)


def tags_previewed(world: World) -> HttpResponse:
    two_entries(world)
    chosen = [entry.pk for entry in world.entries]
    data = {"deed": "add_tags", "tags": "disk", "entries": chosen}
    return world.client.post("/catalogue/curation/bulk/", data)


def a_case(world: World) -> str:
    version = shelve("Print the uptime")
    make_answered_run(version, by=world.person("reviewer"), confidence=0.8)
    return f"{CALIBRATION}label/"


def a_label(world: World) -> str:
    version = shelve("Print the uptime")
    services.label_match("How long is it up?", version=version, label="match", by=world.me)
    MatchLabel.objects.update(picked="random")
    return f"{CALIBRATION}label/"


def a_fitted_scoring(world: World) -> str:
    shipped = Path(relevance.__file__).with_name("model.json")
    document = json.loads(shipped.read_text())
    measures = {"right": 1, "answered": 1, "calibration_error": 0.1, "brier": 0.1}
    world.scoring = ScoringModel.objects.create(
        name="ours",
        document={**document, "version": "ours"},
        based_on=relevance.shipped_model().version,
        labels=80,
        measured={"fitted": measures, "current": measures},
        by=world.me,
    )
    return CALIBRATION


def jsonl(*rows: object) -> SimpleUploadedFile:
    return SimpleUploadedFile("rows.jsonl", "\n".join(map(json.dumps, rows)).encode())


def a_file_looked_through(world: World) -> str:
    world.client.post("/catalogue/imports/", {"file": jsonl(GOOD), "state": "in_review"})
    world.job = Job.objects.latest("pk")
    return f"/catalogue/imports/{world.job.pk}/"


def an_import_under_way(world: World) -> str:
    address = a_file_looked_through(world)
    world.client.post(f"{address}start/")
    # A small file is imported immediately. Reset the state, as if no worker had started the job.
    world.job = Job.objects.latest("pk")
    Job.objects.filter(pk=world.job.pk).update(state="waiting")
    return f"/catalogue/imports/{world.job.pk}/"


def chosen_in_the_admin(world: World) -> HttpResponse:
    world.version = shelve()
    data = {"action": "suspend", "_selected_action": [world.version.entry_id]}
    return world.client.post("/admin/catalog/entry/", data)


CATALOGUE = {
    ("catalog/entries/edit.html", "curator"): [
        Story(
            lambda _w: "/catalogue/new/",
            "entry-new",
            "Save draft",
            {"title": "Tell the date", "script": DATE, "parameters-0-name": "ZONE"},
        ).then(lambda w: Entry.objects.get().versions.get().script == DATE),
        Story(
            lambda w: a_version("verified")(w) and f"/catalogue/versions/{w.version.pk}/edit/",
            "version-edit",
            "Save draft",
            {"script": "uptime -p\n", "note": "Shorter."},
        ).then(lambda w: w.version.entry.versions.get(number=2).script == "uptime -p\n"),
    ],
    ("catalog/entries/_merged_in.html", "curator"): [
        Story(a_merge, "merge-undo", "Undo merge").then(
            lambda w: Entry.objects.standing().filter(pk=w.source.pk).exists()
        )
    ],
    ("catalog/curation/merge.html", "curator"): [
        Story(two_to_merge, "entry-merge", "Merge", {"note": "The same."}).then(
            lambda w: not Entry.objects.standing().filter(pk=w.source.pk).exists()
        )
    ],
    ("catalog/curation/duplicates.html", "curator"): [
        Story(near_duplicates, "duplicate-dismiss").then(
            lambda w: NearDuplicate.objects.get().state == "dismissed"
        )
    ],
    ("catalog/evidence/edit.html", "curator"): [
        Story(an_entry_to_write_cases_for, "cases-new", "Save and run").then(
            lambda w: CaseRun.objects.get().case_set == w.version.entry.case_sets.get().case_set
        ),
        Story(
            cases_to_edit,
            "cases-edit",
            "Save and run",
            {"cases": cases_text(case_data({"check": "exit_status", "nonzero": True}))},
        ).then(lambda w: now(w.kept).removed_by == w.me),
    ],
    ("catalog/evidence/_sets.html", "curator"): [
        Story(an_entry_with_cases, "cases-remove", "Remove").then(
            lambda w: now(w.kept).removed_by == w.me
        )
    ],
    ("catalog/evidence/cases.html", "curator"): [
        Story(an_entry_with_cases, "cases-run", "Run again").then(
            lambda w: "The tests are running" in w.text
        )
    ],
    ("catalog/curation/changed_evidence.html", "curator"): [
        Story(changed_evidence, "evidence-seen", "Seen").then(
            lambda w: now(w.change).seen_by == w.me
        )
    ],
    ("catalog/curation/tool_rule.html", "curator"): [
        Story(
            lambda _w: "/catalogue/curation/tools/new/",
            "tool-new",
            "Save",
            {"name": "deployctl", "effect": "changes", "note": "Größer."},
        ).then(lambda w: ToolRule.objects.get(note="Größer.").by == w.me)
    ],
    ("catalog/curation/tool_rules.html", "curator"): [
        Story(a_tool_rule, "tool-remove", "Remove").then(lambda w: not ToolRule.objects.exists())
    ],
    ("catalog/curation/newer_findings.html", "curator"): [
        Story(a_newer_finding, "finding-seen", "Seen").then(
            lambda w: Recheck.objects.get().seen_by == w.me
        )
    ],
    ("components/_facets.html", "reviewer"): [
        Story(
            lambda _w: "/catalogue/?risk=high&sort=used&before=9",
            "view-save",
            "Save",
            {"name": "Dangerous, most used"},
        ).then(
            lambda w: (
                SavedView.objects.get(user=w.me, name="Dangerous, most used").query
                == "risk=high&sort=used"
            )
        ),
        saving_a_view("/actions/?severity=1&sort=severe", "action-list"),
        saving_a_view("/queue/?risk=high", "queue"),
        Story(a_saved_view, "view-remove").then(
            lambda w: not SavedView.objects.filter(pk=w.view.pk).exists()
        ),
    ],
    ("components/_facets.html", "manager"): [
        saving_a_view("/campaigns/?state=open", "campaign-list")
    ],
    ("catalog/listing/_entry_list.html", "curator"): [
        Story(
            two_entries,
            "bulk",
            "Continue",
            lambda w: {"entries": [str(w.entries[0].pk)], "deed": "add_tags"},
        ).then(lambda w: "1 entry selected" in w.text)
    ],
    ("catalog/listing/bulk.html", "curator"): [
        Story(chosen_for_tags, "bulk", "Preview", {"tags": "disk"}, name="preview").then(
            lambda w: w.text.count("adds disk") == 2
        ),
        Story(tags_previewed, "bulk", "Apply to 2 entries", name="carry out").then(
            lambda w: all(tags_of(entry) == {"disk"} for entry in w.entries)
        ),
    ],
    ("catalog/calibration/calibration.html", "curator"): [
        Story(
            lambda _w: CALIBRATION,
            "threshold-set",
            "Set threshold",
            {"match": "0.91", "adapt": "0.6", "why": "Our own labels."},
        ).then(lambda w: Threshold.objects.get().match == 0.91)
    ],
    ("catalog/calibration/_scorings.html", "curator"): [
        Story(lambda _w: CALIBRATION, "scoring-fit", "Fit to your team").then(
            lambda w: Job.objects.get().by == w.me
        )
    ],
    ("catalog/calibration/_choose_scoring.html", "curator"): [
        Story(a_fitted_scoring, "scoring-choose", "Switch", {"why": "It fits us."}).then(
            lambda w: current_scoring().version == "ours"
        )
    ],
    ("catalog/calibration/label_case.html", "manager"): [
        Story(a_case, "case-label", "Starting point").then(
            lambda w: MatchLabel.objects.get().label == "adapt"
        ),
        Story(a_label, "label-undo", "Undo").then(lambda w: MatchLabel.objects.get().undone_at),
    ],
    ("catalog/exchange/import.html", "curator"): [
        Story(
            lambda _w: "/catalogue/imports/",
            "catalog-import",
            "Preview",
            lambda _w: {"file": jsonl(GOOD), "state": "draft"},
        ).then(lambda w: Job.objects.get().arguments["state"] == "draft")
    ],
    ("catalog/exchange/_import.html", "curator"): [
        Story(a_file_looked_through, "catalog-import-start", "Import").then(
            lambda w: Job.objects.latest("pk").pk != w.job.pk
        ),
        Story(an_import_under_way, "catalog-import-cancel", "Cancel").then(
            lambda w: now(w.job).state == "cancelled"
        ),
    ],
    ("admin/catalog/confirm_action.html", "curator"): [
        Story(chosen_in_the_admin, "admin:catalog_entry_changelist", fill={"reason": "INC-7"}).then(
            lambda w: now(w.version.entry).suspended_at
        )
    ],
}
