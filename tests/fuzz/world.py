"""Rows of every kind for the generated calls, and the possible values of each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from catalog import services as catalog
from catalog.curation.services.duplicates import compare_entries
from catalog.exchange.services import import_jobs
from catalog.models import MatchLabel, NearDuplicate, ScoringModel, Version
from catalog.relevance.fitted.model import shipped_document
from pipeline import services as pipeline
from pipeline.configurations.prompt_versions import versions_by_prompt
from pipeline.models import Batch, Configuration, Endpoint, Price, Run, Shortening
from review import services as review
from review.exchange import jobs
from review.models import Campaign, Decision
from review.report.services import make_report
from review.report.snapshots import take_snapshot
from tests.catalog.shelf import ASKED, DIRECTORY, SCRIPT, shelve
from tests.keys import seen_in, shown
from tests.make import make_answered_run, make_run
from tests.people import make_person
from tests.review.desk.test_desk import score_next, script_of
from tests.review.maker import add_configuration, make_study, shown_to

LONG = "The script looks at the names of the files and not at their paths. " * 6
ITEMS = b'{"id": "a", "statement": "Show the uptime", "script": "uptime\\n"}\n'
ENTRIES = b'{"title": "Show the load", "script": "uptime\\n"}\n'


@dataclass
class World:
    """The users, and the possible values by folder or field name."""

    reviewer: User
    chief: User  # has the manager, curator and administrator roles
    folders: dict[str, Sequence[object]] = field(default_factory=dict)
    fields: dict[str, Sequence[object]] = field(default_factory=dict)

    def known(self, path: str, parameter: str) -> Sequence[object]:
        """Return the possible values of a parameter in this path. The result is empty if no value is known."""
        folder = path.removeprefix("/api/v1/").split("/")[0]
        if parameter in ("remark", "shortening"):
            return self.folders[parameter]
        if folder == "endpoints" and parameter == "id":
            return self.folders["prices"]
        return self.folders.get(folder, ())


def make_world() -> World:
    reviewer = make_person("rita", "reviewer")
    other = make_person("rolf", "reviewer")
    chief = make_person("ada", "manager", "curator", "administrator")
    world = World(reviewer, chief)
    folders, fields = world.folders, world.fields
    _fill_catalogue(world, other)
    _fill_pipeline(world)
    _fill_review(world, other)
    folders["scorings"] = [ScoringModel.objects.get().name]
    fields |= {
        "action": folders["actions"],
        "actions": [folders["actions"]],
        "reviewer": ["rita", "rolf"],
        "reviewers": [["rita"], ["rolf"]],
        "user": ["rita", "rolf"],
        "owner": ["ada", ""],
        "version": folders["versions"],
        "version_id": folders["versions"],
        "statement": [ASKED, "Delete files older than 30 days in /var/tmp/exports"],
        "scoring": [*folders["scorings"], ""],
        "model": ["claude-sonnet-5-5", "demo-smith"],
        "mode": ["schema", "tool", "text"],
        "like": folders["configurations"],
        "configuration": folders["configurations"],
        "configurations": [folders["configurations"]],
        "prompt": folders["prompts"],
        "into": folders["entries"],
        "endpoint": folders["endpoints"],
        "campaign": ["Study", "Sketch"],
        "since": ["2026-01-01"],
        "until": ["2026-12-31"],
        "batch": [Batch.objects.values_list("pk", flat=True)[0]],
        "run": folders["runs"],
        "limit": [1, 50],
        "cursor": [""],
        "value": [0, 1, 2],
        "line": [1],
        "script": ["uptime\n"],
        "text": [LONG, "Show the uptime of this machine"],
        "feedback": [LONG, "- Use -path, not -name."],
        "details": [{}, {"privileges": "root"}],
        "links": [[]],
        "severity": [1, 4],
        "edition": [],
        "target": ["web-1"],
        "input": [3_000_000],
        "output": [15_000_000],
    }
    return world


def _fill_catalogue(world: World, other: User) -> None:
    chief = world.chief
    states = {"verified": chief, "draft": other, "in_review": other, "deprecated": other}
    versions = [
        shelve(f"Print the uptime, {state}", script=f"uptime # {state}\n", state=state, author=by)
        for state, by in states.items()
    ]
    folder = shelve(script=SCRIPT, parameters=[DIRECTORY], author=other, phrasings=["Old files"])
    suspended = shelve("Show who is there", script="who\n", author=other)
    catalog.suspend(suspended.entry, reason="It broke a host.", by=chief)
    twins = [shelve(f"Show the kernel {n}", script="uname -r\n", author=other) for n in (1, 2, 3)]
    compare_entries(limit=50)
    merge = catalog.merge_entries(twins[0].entry, target=twins[1].entry, by=chief, note="")
    used = catalog.record_use(folder, by=world.reviewer, values={"DIRECTORY": "/srv"}, reason="")
    chiefs = catalog.record_use(folder, by=chief, values={"DIRECTORY": "/srv"}, reason="")
    catalog.label_case(
        by=chief, statement=ASKED, version_id=versions[0].pk, label="match", picked="random"
    )
    ScoringModel.objects.create(
        name="ours", document=shipped_document(), based_on="shipped", labels=1, measured={}
    )
    catalog.set_threshold(match=0.8, adapt=0.3, why="enough", by=chief)
    found = import_jobs.preview_import(
        SimpleUploadedFile("entries.jsonl", ENTRIES), by=chief, state="draft"
    )
    world.folders |= {
        "entries": [one.entry.slug for one in (*versions, folder, suspended, *twins)],
        "versions": [one.pk for one in (*versions, folder, suspended)],
        "uses": [used.use.pk, chiefs.use.pk],
        "merges": [merge.pk],
        "duplicates": list(NearDuplicate.objects.values_list("pk", flat=True)),
        "match-labels": list(MatchLabel.objects.values_list("pk", flat=True)),
        "catalogue-imports": [found.pk],
    }


def _fill_pipeline(world: World) -> None:
    by = world.reviewer
    done = make_run(by=by, verdict="incorrect", feedback="- Minutes.", refined="uptime\n")
    again = pipeline.start_run(done.action, by=by, enqueue=False)
    failed = pipeline.start_run(done.action, by=by, enqueue=False)
    Run.objects.filter(pk=failed.pk).update(
        state=Run.State.FAILED, problem="The endpoint refused.", finished_at=timezone.now()
    )
    answered = make_answered_run(Version.objects.filter(state="verified")[0], by=by)
    asking = make_answered_run(Version.objects.filter(state="verified")[1], by=by, answer="adapt")
    add_configuration("second")
    Batch.objects.create(name="A batch")
    endpoint = Endpoint.objects.get(name="claude")
    price = Price.objects.create(
        endpoint=endpoint, model="claude-sonnet-5-5", since="2026-01-01", input=1, output=2
    )
    world.folders |= {
        "actions": [done.action_id, answered.action_id],
        "runs": [done.pk, again.pk, failed.pk, answered.pk, asking.pk],
        "drafts": [shown(draft) for draft in done.drafts.all()],
        "configurations": list(Configuration.objects.values_list("name", flat=True)),
        "endpoints": list(Endpoint.objects.values_list("name", flat=True)),
        "prices": [price.pk],
        "prompts": list(versions_by_prompt()),
    }


def _fill_review(world: World, other: User) -> None:
    reviewer, chief = world.reviewer, world.chief
    queued = []
    for number in range(5):
        run = make_run(
            statement=f"Count the lines of /etc/hosts, {number}",
            script=f"wc -l /etc/hosts # {number}\n",
            verdict="incorrect",
            feedback="- Count characters.",
            refined=f"wc -c /etc/hosts # {number}\n",
            by=other,
        )
        item = review.take_in(run.pk)
        assert item is not None
        queued.append(item)
    held, scored, decided, others, free = queued
    for one in (held, scored, decided):
        review.claim_item(one, by=reviewer)
    review.claim_item(others, by=other)
    remark = review.add_remark(held, draft=script_of(held), line=1, text="Why?", by=reviewer)
    score_next(scored, reviewer, 0)
    shortening = Shortening.objects.create(
        run=scored.run,
        number=1,
        draft_id=script_of(scored),
        text=LONG,
        shorter="- Paths.",
        state="done",
        asked_by=reviewer,
    )
    for value in (2, 2, 2):
        score_next(decided, reviewer, value)
    newest = decided.run.drafts.order_by("-number")[0]
    review.decide(
        decided,
        kind=Decision.Kind.REJECT,
        draft_sha256=newest.sha256,
        shown=shown_to(reviewer, decided),
        reason="No.",
        edited_script="",
        by=reviewer,
    )
    study = make_study(by=chief, reviewers=[reviewer, other], items=2, overlap=2)
    first = review.claim_next(study, by=reviewer)
    for person, marks in ((reviewer, (0, 2, 2)), (other, (2,))):
        review.claim_item(first.item, by=person)
        for mark in marks:
            score_next(first.item, person, mark)
    sketch = make_study(by=chief, reviewers=[], items=1, name="Sketch", is_open=False)
    snapshot = take_snapshot(study, name="Now", by=chief)
    make_report(study)
    export = jobs.begin_export(study, layout="jsonl", by=chief)
    jobs.carry_out(export.pk)
    waiting = jobs.begin_import(
        sketch, "items", SimpleUploadedFile("items.jsonl", ITEMS), by=chief, mapping={}, format=""
    )
    items = [*queued, *study.items.all()]
    world.folders |= {
        "items": [shown(one) for one in items],
        "assignments": [pk for one in items for pk in one.assignments.values_list("pk", flat=True)],
        "decisions": list(Decision.objects.values_list("pk", flat=True)),
        "campaigns": list(Campaign.objects.values_list("pk", flat=True)),
        "reports": [study.pk],
        "report-snapshots": [snapshot.pk],
        "transfers": [export.pk, waiting.pk],
        "remark": [remark.pk],
        "shortening": [shortening.pk],
    }
    drafts = [seen_in(item, one) for item in items if item.run for one in item.run.drafts.all()]
    hashes = [one.sha256 for item in items if item.run for one in item.run.drafts.all()]
    world.fields |= {
        "item": [shown(one) for one in items],
        "draft": drafts,
        "seen": drafts,
        "draft_sha256": hashes,
        "shown": [shown_to(reviewer, held), shown_to(reviewer, scored)],
    }
