"""The subject of an event: its object with runs, IDs, link and title."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from django.urls import reverse

from catalog import services as catalog
from catalog.models import Entry, Version
from core.web.public_keys import ITEM, public_key
from core.web.site_address import site_url
from pipeline.models import Batch, Run
from review.models import Campaign, Item
from scriptsmith_site.models import Destination, Event

MOST_OF_A_TITLE = 140  # characters


@dataclass(frozen=True)
class Subject:
    """The object of an event. Events with equal `key` are sent in order.

    `ids` are always sent, and `title` only if an administrator allows text.
    """

    key: str
    path: str
    title: str
    ids: dict[str, object] = field(default_factory=dict)
    runs: tuple[int, ...] = ()
    campaign: int | None = None
    action: int | None = None

    @property
    def link(self) -> str:
        """Return the absolute URL of the subject's page."""
        return site_url(self.path)


def find_subject(model: str, key: int) -> Subject | None:
    """Return the subject for this object, or None if it was deleted."""
    return _READERS[model](key) if model in _READERS else None


def _of_version(key: int) -> Subject | None:
    version = Version.objects.select_related("entry").filter(pk=key).first()
    if version is None:
        return None
    made_by = version.provenance or {}
    run, action = _number(made_by.get("run")), _number(made_by.get("action"))
    ids = {"entry": version.entry_id, "version": version.number, "run": run, "action": action}
    return Subject(
        f"entry:{version.entry_id}",
        reverse("entry-by-number", args=[version.entry_id]),
        version.entry.title,
        {name: value for name, value in ids.items() if value is not None},
        tuple(sorted(catalog.runs_behind(version))),
        action=action,
    )


def _of_entry(key: int) -> Subject | None:
    entry = Entry.objects.filter(pk=key).first()
    if entry is None:
        return None
    # Versions are only based on versions of the same entry, so these are all of the runs.
    runs = {_number((one or {}).get("run")) for one in _provenances(entry)}
    # Link by number, because a slug contains words of the title, which not every destination receives.
    path = reverse("entry-by-number", args=[entry.pk])
    known = tuple(sorted(one for one in runs if one))
    return Subject(f"entry:{entry.pk}", path, entry.title, {"entry": entry.pk}, known)


def _of_run(key: int) -> Subject | None:
    run = Run.objects.select_related("action").filter(pk=key).first()
    return _about_run(run, state=run.state) if run else None


def _about_run(run: Run, **more: object) -> Subject:
    ids = {"run": run.pk, "action": run.action_id, **more}
    path = reverse("run-detail", args=[run.pk])
    return Subject(
        f"run:{run.pk}", path, run.action.statement, ids, (run.pk,), action=run.action_id
    )


def _of_item(key: int) -> Subject | None:
    item = Item.objects.select_related("run__action").filter(pk=key).first()
    if item is None or item.run is None:
        return None
    about = _about_run(item.run)
    # Use the run's key, so that an item's events follow the end of its run.
    ids = {"item": int(public_key(ITEM, item.pk)), **about.ids}
    path = reverse("item-review", args=[item.pk])
    return replace(about, path=path, ids=ids)


def _of_campaign(key: int) -> Subject | None:
    campaign = Campaign.objects.filter(pk=key).first()
    if campaign is None:
        return None
    path = reverse("campaign-detail", args=[campaign.pk])
    ids: dict[str, object] = {"campaign": campaign.pk}
    return Subject(f"campaign:{campaign.pk}", path, campaign.name, ids, campaign=campaign.pk)


def _of_batch(key: int) -> Subject | None:
    batch = Batch.objects.select_related("campaign").filter(pk=key).first()
    campaign = getattr(batch, "campaign", None)
    return _of_campaign(campaign.pk) if campaign else None


def _of_destination(key: int) -> Subject | None:
    found = Destination.objects.filter(pk=key).first()
    if found is None:
        return None
    path = reverse("destination-detail", args=[found.pk])
    return Subject(f"destination:{found.pk}", path, found.name, {"destination": found.pk})


def _of_mirror(key: int) -> Subject | None:
    return Subject(f"mirror:{key}", reverse("mirror"), "Git", {"mirror": key})


def _of_event(key: int) -> Subject | None:
    found = Event.objects.filter(pk=key).first()
    if found is None:
        return None
    return Subject(f"event:{key}", reverse("integrations"), found.type, {"event": key})


_READERS: dict[str, Callable[[int], Subject | None]] = {
    "catalog.version": _of_version,
    "catalog.entry": _of_entry,
    "pipeline.run": _of_run,
    "review.item": _of_item,
    "review.campaign": _of_campaign,
    "pipeline.batch": _of_batch,
    "scriptsmith_site.destination": _of_destination,
    "scriptsmith_site.mirror": _of_mirror,
    "scriptsmith_site.event": _of_event,
}


def _provenances(entry: Entry) -> list[dict[str, Any] | None]:
    return list(entry.versions.values_list("provenance", flat=True))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
