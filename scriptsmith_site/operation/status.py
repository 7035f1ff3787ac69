"""The status page for administrators: parts, workers, backlog, backups, vectors and nightly copies."""

from __future__ import annotations

from django.conf import settings
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from catalog.embedding import EmbedderUnavailable
from catalog.evidence.services import sandbox_trouble
from catalog.exchange import offline_copy
from catalog.retrieval import vector_store
from core.web.requests import signed_in, wants_fragment
from scriptsmith_site.operation import health, storage, work
from scriptsmith_site.operation.backup import files_elsewhere
from scriptsmith_site.operation.local_models import local_models_now
from scriptsmith_site.people.services import require_administrator


@require_safe
@vary_on_headers("HX-Request")
def show_status(request: HttpRequest) -> HttpResponse:
    """Show the page, or only the part that shows the progress of new vectors."""
    require_administrator(signed_in(request))
    context: dict[str, object] = {"nav_section": "admin", **describe_vectors()}
    if wants_fragment(request):
        return render(request, "site/_vectors.html", context)
    folder = settings.SCRIPTSMITH_OFFLINE_FOLDER
    context |= {
        "parts": describe_parts(),
        "workers": work.workers_now(),
        "lost_after": work.LOST_AFTER,
        "backlog": work.backlog_now(),
        "sandbox": work.sandbox_now(),
        "local_models": local_models_now(),
        "resting": work.endpoints_at_rest(),
        "rooms": storage.rooms(),
        "events": storage.last_events(),
        "files_elsewhere": files_elsewhere(),
        "folder": folder,
        "copies": offline_copy.copies(folder),
    }
    return render(request, "site/status.html", context)


def describe_parts() -> list[tuple[str, health.Health, str]]:
    """Return the name and state of each part as in /readyz, and what its failure means."""
    about = {
        "database": (_("Database"), _("ScriptSmith can't work without it.")),
        "migrations": (_("Migrations"), _("Run `python manage.py migrate`.")),
        "disk": (_("Disk"), _("Less than 1 GiB is free. Free some space soon.")),
        "worker": (_("Worker"), _("No worker has reported for a minute. New runs wait.")),
        "oldest_job": (
            _("Waiting times"),
            _("A user's request has waited for more than 10 minutes."),
        ),
        "broker": (_("Broker"), _("Pages work. New runs wait and are not lost.")),
        "embedder": (
            _("Embedder"),
            _("Requests are compared with the catalogue only by keywords."),
        ),
        "sandbox": (
            _("Sandbox"),
            _("%(why)s Sandbox tests are not run.") % {"why": sandbox_trouble()},
        ),
    }
    found = health.check_parts(connections["default"])
    return [(about[name][0], state, about[name][1]) for name, state in found.items()]


def describe_vectors() -> dict[str, object]:
    """Return the active embedder, the next embedder during a change, and the progress."""
    found = vector_store.progress()
    problem = ""
    try:
        vector_store.embedder()
    except EmbedderUnavailable as error:
        problem = str(error)
    return {
        "setting": settings.SCRIPTSMITH_EMBEDDER,
        "problem": problem,
        "progress": found,
        "shown": found.building or found.current,
        "is_busy": found.building is not None or found.done < found.total,
    }
