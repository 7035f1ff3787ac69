"""The list of what waits in the live queue: searched, narrowed, sorted, each item with the risk of its script.

The risk is that of the script which is scored first, as the desk shows it; what refinement made of it would tell the
verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.analysis import Risk
from core.database.words import has_every_word
from pipeline.execution.draft_checks import is_current, risk_of
from pipeline.models import Action, Draft
from review.models import Campaign, Item
from review.queue.claims import waiting_for
from review.queue.eligibility import URGENT_FIRST
from review.queue.intake import BREAK_GLASS
from review.study.first_draft import FIRST_KINDS, first_draft_of

# Risk is worked out from findings and not stored: of a longer queue, the most urgent ones are looked through.
MOST_BY_RISK = 500
_BY_RISK = {Risk.HIGH: 0, Risk.MEDIUM: 1, Risk.LOW: 2, None: 3}


class Order(StrEnum):
    """How the list is sorted; what a person is handed next is always the most urgent."""

    URGENT = "urgent"
    RISK = "risk"
    OLDEST = "oldest"
    NEWEST = "newest"


class WaitingForm(forms.Form):
    """What the list is narrowed to."""

    q = forms.CharField(label=_("Search"), required=False, max_length=200, widget=forms.SearchInput)
    severity = forms.TypedChoiceField(
        label=_("Severity"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", _("Any")), *Action.Severity.choices],
    )
    risk = forms.ChoiceField(
        label=_("Risk"),
        required=False,
        choices=[
            ("", _("Any")),
            (Risk.HIGH.value, _("High")),
            (Risk.MEDIUM.value, _("Medium")),
            (Risk.LOW.value, _("Low")),
        ],
    )
    used = forms.ChoiceField(
        label=_("Use"),
        required=False,
        choices=[("", _("Any")), ("1", _("Used without review"))],
    )
    sort = forms.ChoiceField(
        label=_("Sort by"),
        required=False,
        choices=[
            ("", _("Urgency")),
            (Order.RISK.value, _("Risk")),
            (Order.OLDEST.value, _("Oldest first")),
            (Order.NEWEST.value, _("Newest first")),
        ],
    )


@dataclass(frozen=True)
class WaitingItem:
    """An item that the person could take, and the risk of the script that is scored first, where it is known."""

    item: Item
    risk: Risk | None


@dataclass(frozen=True)
class WaitingList:
    """The first items that fit. `found` is how many fit; `is_cut` where only the most urgent were looked through."""

    rows: Sequence[WaitingItem]
    found: int
    is_cut: bool = False


def list_waiting(campaign: Campaign, by: User, form: WaitingForm, *, most: int) -> WaitingList:
    """What waits for this person and fits a valid form, in at most four queries."""
    chosen = form.cleaned_data
    items = _narrow(waiting_for(campaign, by), chosen).select_related(
        "run__action", "run__configuration"
    )
    if not chosen["risk"] and chosen["sort"] != Order.RISK:
        return WaitingList(_with_risk(items[:most]), items.count())
    rows = _with_risk(items[: MOST_BY_RISK + 1])
    is_cut, rows = len(rows) > MOST_BY_RISK, rows[:MOST_BY_RISK]
    if chosen["risk"]:
        rows = [row for row in rows if row.risk == chosen["risk"]]
    if chosen["sort"] == Order.RISK:
        rows.sort(key=lambda row: _BY_RISK[row.risk])
    return WaitingList(rows[:most], len(rows), is_cut)


def _narrow(items: QuerySet[Item], chosen: Mapping[str, Any]) -> QuerySet[Item]:
    if chosen["q"]:
        items = items.filter(has_every_word("run__action__statement", chosen["q"]))
    if chosen["severity"]:
        items = items.filter(run__action__severity=chosen["severity"])
    if chosen["used"]:
        items = items.filter(priority__gte=BREAK_GLASS)
    # By the run's key, which is as old as the question: the item's own tells how long the run took.
    orders = {Order.OLDEST: ("run_id",), Order.NEWEST: ("-run_id",)}
    return items.order_by(*orders.get(chosen["sort"], URGENT_FIRST))


def _with_risk(items: Iterable[Item]) -> list[WaitingItem]:
    items = list(items)
    drafts: dict[int, list[Draft]] = defaultdict(list)
    found = (
        Draft.objects.filter(
            run__in=[item.run_id for item in items],
            kind__in=[kind.value for kind in FIRST_KINDS],
            refinement=None,
        )
        .defer("note")
        .prefetch_related("findings")
        .order_by("number")
    )
    for draft in found:
        drafts[draft.run_id].append(draft)
    return [WaitingItem(item, _risk_of(drafts[item.run_id or 0])) for item in items]


def _risk_of(drafts: Sequence[Draft]) -> Risk | None:
    draft = first_draft_of(drafts)
    if draft is None:
        return None
    return risk_of(draft, (found for found in draft.findings.all() if is_current(found, draft)))
