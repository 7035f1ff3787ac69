"""The demo plus one run of each result, duplicates and a version to verify. Runs inside the running product."""

from __future__ import annotations

import json
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from catalog import services as catalog
from catalog.analysis import analyse
from catalog.curation.services.duplicates import compare_entries
from catalog.entries.services import submit_for_review
from catalog.models import CaseRun, Entry, Version
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import Draft, Run
from review import services as review
from review.models import Item
from scriptsmith_site.demo import ACCOUNTS, load
from tests.browser.picture_items import make as make_items
from tests.browser.picture_items import person, take_in
from tests.catalog.shelf import shelve
from tests.make import make_run
from tests.review.desk.test_decide import decide

_ROTATE = "#!/usr/bin/env bash\nset -euo pipefail\n\nlogrotate --force /etc/logrotate.d/app\n"


def load_all(*, password: str) -> None:
    """Load the demo and set this password for its users. The worker continues its runs."""
    load()
    for user in User.objects.filter(username__in=[name for name, _full, _role in ACCOUNTS]):
        user.set_password(password)
        user.save(update_fields=["password"])


def is_ready() -> bool:
    """Return whether the demo's runs have ended and the sandbox has run their scripts."""
    runs = Run.objects.filter(state__in=["queued", "running"], batch=None)
    cases = CaseRun.objects.filter(state__in=["waiting", "running"], purpose="draft")
    return not runs.exists() and not cases.exists()


def make_states(*, password: str) -> str:
    """Return addresses by name as JSON: a run of each result, a version to review, an entry and review items."""
    sven, rita, carlo = (User.objects.get(username=name) for name in ("sven", "rita", "carlo"))
    runs = {name: make_run(statement=statement, by=sven, **more) for name, statement, more in _RUNS}
    for draft in Draft.objects.filter(run__in=runs.values()):
        keep_findings(draft, analyse(draft.script))
    for name in ("verified", "rejected", "waiting", "flagged"):
        item = take_in(runs[name])
        if name in ("verified", "rejected"):
            review.claim_item(item, by=rita)
        if name == "verified":
            decide(item, by=rita)
        if name == "rejected":
            decide(item, by=rita, kind="reject", reason="It empties the wrong folder.")
    _set(runs["unwritten"], state="failed", problem="No script could be read from the reply.")
    held = {"owner": "a slow one", "lease_until": timezone.now() + timedelta(hours=1)}
    _set(runs["running"], state="running", finished_at=None, verdict="", **held)
    # Completed runs go to the review queue, except those of a closed study.
    of_study = Item.objects.filter(campaign__state="closed", run__verdict="correct")
    unreviewed = of_study.earliest("pk").run
    assert unreviewed is not None
    runs["unreviewed"] = unreviewed
    addresses = {f"run-{name}": reverse("run-detail", args=[run.pk]) for name, run in runs.items()}

    entry = (
        Entry.objects.annotate(count=Count("versions"))
        .filter(count=1, versions__state="verified")
        .earliest("pk")
    )
    addresses["entry"] = reverse("entry-detail", args=[entry.slug])
    version = _edited(entry, by=person("cora", "Cora", "curator", password))
    addresses["verify"] = reverse("version-review", args=[version.pk])
    addresses["edit"] = reverse("version-edit", args=[version.pk])
    near = shelve("Rotate the logs of the app now", script=_ROTATE, author=rita, verified_by=carlo)
    shelve("Rotate the log files of the app at once", script=_ROTATE, verified_by=carlo)
    call_command("embed", verbosity=0)
    compare_entries(limit=1000)
    addresses["merge"] = reverse("entry-merge", args=[near.entry.slug])
    of_demo = Item.objects.filter(run__action__source="demo", run__verdict="incorrect")
    with_cases = of_demo.get(run__action__statement__contains='"staging" in their path')
    addresses["execution"] = reverse("item-review", args=[with_cases.pk])
    addresses["items"] = make_items(password=password)
    return json.dumps(addresses)


_RUNS = [
    ("verified", "Delete exports older than 30 days in /var/tmp/exports", {}),
    ("waiting", "Show which processes use the most memory", {"script": "ps aux --sort=-rss\n"}),
    (
        "flagged",
        "Find the YAML files under /srv/deploy that have staging in their path",
        {
            "script": "find /srv/deploy -type f -name '*staging*.yaml'\n",
            "verdict": "incorrect",
            "feedback": "- Use -path: -name looks at the last part of a path alone.",
        },
    ),
    ("rejected", "Empty the folder of old reports", {"script": "rm -rf /srv/reports\n"}),
    ("unwritten", "asdf", {}),
    ("running", "List the sockets that listen on every address", {}),
]


def _set(run: Run, **fields: object) -> None:
    Run.objects.filter(pk=run.pk).update(recommended=None, **fields)
    run.drafts.all().delete()


def _edited(entry: Entry, *, by: User) -> Version:
    """Create a second version with a new risk, in review."""
    first = entry.versions.get(state="verified")
    details = catalog.details_of(first).model_copy(update={"risk": None, "tools": None})
    script = first.script + '\nrm -rf -- "${TMPDIR:-/tmp}"/scratch/*\n'
    second = catalog.edit_version(
        first, script=script, details=details, note="It cleans up.", by=by
    )
    submit_for_review(second, by=by)
    return second
