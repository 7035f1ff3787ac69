"""Create rows that tests need but do not test."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.text import slugify

from catalog.models import Entry, Version
from pipeline import services
from pipeline.models import (
    Action,
    Assessment,
    Configuration,
    Draft,
    DraftFinding,
    Feedback,
    RetrievedMatch,
    Run,
)

SCRIPT = (
    "#!/usr/bin/env bash\nset -euo pipefail\nfind /var/tmp/exports -type f -mtime +30 -delete\n"
)


def make_action(
    statement: str = "Delete files older than 30 days in /var/tmp/exports", **details: object
) -> Action:
    return services.ask(statement, by=details.pop("by", None), **details)


def make_run(
    *,
    statement: str = "Delete files older than 30 days in /var/tmp/exports",
    by: User | None = None,
    script: str = SCRIPT,
    verdict: str = "correct",
    feedback: str = "",
    refined: str = "",
    refined_verdict: str = "correct",
    origin: str = Run.Origin.ASKED,
) -> Run:
    """Create a finished Run without model calls. It has a first Draft and, if feedback is given, a refined one."""
    action = make_action(statement, by=by)
    run = services.start_run(action, by=by, origin=origin, enqueue=False)
    first = make_draft(run, number=1, script=script, kind="generated", verdict=verdict)
    recommended = first
    if feedback:
        given = Feedback.objects.create(
            draft=first, text=feedback, words=len(feedback.split()), points=1
        )
        if refined:
            second = make_draft(
                run,
                number=2,
                script=refined,
                kind="refined",
                verdict=refined_verdict,
                round=1,
                parent=first,
                feedback=given,
            )
            recommended = second if refined_verdict == "correct" else first
    return _finish(run, verdict=verdict, recommended=recommended)


def _finish(run: Run, **values: object) -> Run:
    now = timezone.now()
    values |= {"state": Run.State.DONE, "started_at": now, "finished_at": now}
    for name, value in values.items():
        setattr(run, name, value)
    run.save(update_fields=values)
    # tests change the rows of the action and the configuration, so cached rows may be stale
    run._state.fields_cache.clear()
    return run


def make_draft(
    run: Run, *, script: str, kind: str, verdict: str = "", number: int = 0, **fields: object
) -> Draft:
    draft = Draft.objects.create(
        run=run,
        number=number or run.drafts.count() + 1,
        kind=kind,
        script=script,
        sha256=Version.hash_of(script),
        model="demo-smith",
        **fields,
    )
    if verdict:
        Assessment.objects.create(
            draft=draft,
            script_sha256=draft.sha256,
            verdict=verdict,
            syntax_ok=True,
            functionality="Finds files last modified more than 30 days ago below /var/tmp/exports and deletes them.",
            similarity="match" if verdict == "correct" else "mismatch",
            difference="match" if verdict == "correct" else "mismatch",
            differences=[] if verdict == "correct" else ["It looks at another directory."],
        )
    return draft


def make_version(
    title: str = "Delete old files in a directory", *, script: str = SCRIPT, by: User | None = None
) -> Version:
    """Create a verified version in its own entry, without vectors, so that retrieval does not find it."""
    entry = Entry.objects.create(slug=slugify(title), title=title)
    return Version.objects.create(
        entry=entry,
        number=1,
        state=Version.State.VERIFIED,
        script=script,
        sha256=Version.hash_of(script),
        verified_at=timezone.now(),
        verified_by=by,
    )


def make_match(run: Run, version: Version, **values: object) -> RetrievedMatch:
    """Create a match that the catalogue found. `values` replace the defaults of a confident match."""
    sure = {"answer": "match", "confidence": 0.93, "cosine": 0.95, "scoring": "1", "rank": 0}
    return RetrievedMatch.objects.create(
        run=run, version=version, **{"phrasing": "x", **sure, **values}
    )


def make_finding(draft: Draft, **values: object) -> DraftFinding:
    """Create a failed risk check of the draft. `values` replace its level and text."""
    found = {"check_name": "risk", "check_version": "1", "outcome": "failed", "level": "warning"}
    return DraftFinding.objects.create(
        draft=draft, script_sha256=draft.sha256, **{**found, **values}
    )


def make_answered_run(version: Version, *, by: User | None = None, **match: object) -> Run:
    """Create a finished Run that the catalogue answered with this version."""
    run = services.start_run(make_action(by=by), by=by, enqueue=False)
    draft = make_draft(run, number=1, script=version.script, kind="retrieved", version=version)
    make_match(run, version, phrasing=version.entry.title, **match)
    return _finish(run, answered_by=version, recommended=draft)


def imported_configuration() -> Configuration:
    return Configuration.objects.get(name="imported")
