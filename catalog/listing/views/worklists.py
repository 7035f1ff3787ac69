"""The tabs above the list of entries, with links to the curators' work lists and the lists' lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from catalog.entries import services as entry_services
from catalog.evidence.services import changed_evidence
from catalog.models import NearDuplicate, OutcomeReport, Recheck

COUNTED = 100  # a longer list is shown as "100+"


@dataclass(frozen=True)
class Tab:
    """A link above a list."""

    label: str
    url: str
    count: str
    current: bool


def tabs_of(user: User, current: str, query: str = "") -> list[Tab]:
    """Return this curator's tabs. `query` contains the current filters of the list of entries."""
    listed = reverse("catalog-list")
    lists = [
        (_("All entries"), ""),
        (_("To verify"), "state=in_review"),
        (_("Not verified recently"), "age=old180"),
        (_("Never used"), "state=verified&use=never"),
        (_("Made it worse"), "use=worse"),
    ]
    tabs = [
        Tab(label, f"{listed}?{address}", "", current == "list" and query == address)
        for label, address in lists
    ]
    if emergencies := _count(entry_services.emergencies_to_confirm()):
        tabs.append(
            Tab(
                _("Emergency rollbacks"),
                f"{listed}?use=emergency",
                emergencies,
                current == "list" and query == "use=emergency",
            )
        )
    return [
        *tabs,
        Tab(
            _("Phrasings to confirm"),
            reverse("wording-list"),
            _count(entry_services.waiting_to_confirm(user)),
            current == "wordings",
        ),
        Tab(
            _("Near-duplicates"),
            reverse("duplicate-list"),
            _count(NearDuplicate.objects.to_look_at()),
            current == "duplicates",
        ),
        Tab(
            _("Changed findings"),
            reverse("finding-list"),
            _count(Recheck.objects.to_look_at()),
            current == "findings",
        ),
        Tab(
            _("Changed test results"),
            reverse("evidence-list"),
            _count(changed_evidence()),
            current == "evidence",
        ),
        Tab(
            _("Automated reports"),
            reverse("outcome-report-list"),
            _count(OutcomeReport.objects.to_look_at()),
            current == "outcome-reports",
        ),
    ]


def _count(rows: QuerySet[Any]) -> str:
    count = rows.order_by()[: COUNTED + 1].count()
    return f"{COUNTED}+" if count > COUNTED else str(count or "")
