"""Items that are shown again to measure reviewers, not scripts: halo checks and hidden repeats.

A halo check shows an item's refined script, as if it were a first Draft, to somebody who has not seen the
item. A repeat shows an item once more to somebody who has scored it. Both are items of their own, of the same
run, among all others in the queue; no figure and no agreement knows of them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case as Choice
from django.db.models import (
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Least, Now

from review.counting.facts import judge_items
from review.models import Assignment, Campaign, Case, Item, Score
from review.sampling import is_in_share, shuffle_of

# Without a score for this long, a new sitting begins.
SITTING_GAP = timedelta(minutes=30)
# What was had so long before the first score of a sitting is of it too, as the item that this score is on: the one
# before had ended by then, half an hour ago or more. And minutes that are added up at each score are not exact.
_AHEAD = SITTING_GAP / 2
# A repeat comes after so many other items at least, and after twice as many more at most.
LATER = 20
_SLICE = 500
_PLACES = 1 << 31  # of the random order
_READY = [Item.State.OPEN, Item.State.HELD]


# --- Making them ------------------------------------------------------------------------------------------------


@transaction.atomic
def make_halos(campaign: Campaign, *, of: Item | None = None) -> int:
    """A halo check for each item of the share that is ready and has none, or of one item; how many were made.

    Safe to repeat. Sham items are not part of the share: their refined scores have nothing to be compared with.
    """
    if not campaign.halo_share:
        return 0
    there = Item.objects.filter(campaign=campaign, run=OuterRef("run"), again=Item.Again.HALO)
    wanted = campaign.items.filter(
        ~Exists(there), again="", sham=False, state__in=_READY, case__purpose=Case.Purpose.REAL
    )
    if of is not None:
        wanted = wanted.filter(pk=of.pk)
    keys = [
        pk
        for pk, shuffle in wanted.order_by("pk").values_list("pk", "shuffle")
        if is_in_share(shuffle, campaign.halo_share, "halo")
    ]
    return sum(
        _make_halos(campaign, keys[begin : begin + _SLICE]) for begin in range(0, len(keys), _SLICE)
    )


def _make_halos(campaign: Campaign, keys: Sequence[int]) -> int:
    items = list(campaign.items.filter(pk__in=keys).select_related("case", "run", "configuration"))
    judged = judge_items(items)
    chosen = [item for item in items if judged[item.pk].has_refined]
    _show_again(
        campaign, chosen, Case.Purpose.HALO, [_own_shuffle(campaign, one) for one in chosen]
    )
    return len(chosen)


def make_repeat(item: Item, *, by: User) -> None:
    """Have a person score an item again, later, where it is one of the share and it is their turn.

    Called when they are through with it; with several reviewers, each has as many repeats as the others.
    """
    campaign = item.campaign
    if not campaign.repeat_share or item.again or item.case.purpose != Case.Purpose.REAL:
        return
    if not is_in_share(item.shuffle, campaign.repeat_share, "repeat"):
        return
    # As read before they were counted among those who are done.
    if item.done != _draw(item, "turn") % max(item.overlap, 1):
        return
    if campaign.items.filter(run=item.run_id, again=Item.Again.REPEAT).exists():
        return
    member = campaign.members.filter(user=by).first()
    if member is not None:
        place = _place_after(item.shuffle ^ member.seed, campaign, draw=_draw(item, "place"))
        _show_again(campaign, [item], Case.Purpose.REPEAT, [place ^ member.seed])


def _place_after(place: int, campaign: Campaign, *, draw: int) -> int:
    """A place in the random order some LATER to three times LATER items further on, or else before its end."""
    step = _PLACES // max(campaign.items.count(), 1)
    further = place + (LATER + draw % (2 * LATER + 1)) * step
    return further if further < _PLACES else place + draw % (_PLACES - place)


def _show_again(
    campaign: Campaign, items: Sequence[Item], purpose: Case.Purpose, shuffles: Sequence[int]
) -> None:
    cases = Case.objects.bulk_create(
        Case(
            campaign=campaign,
            # Nothing that an importer could have called a case of their own.
            external_id=f"{purpose.value}:{item.pk}:{secrets.token_hex(4)}",
            action_id=item.case.action_id,
            purpose=purpose,
            repeats_id=item.case_id,
        )
        for item in items
    )
    Item.objects.bulk_create(
        Item(
            campaign=campaign,
            case=case,
            configuration_id=item.configuration_id,
            run_id=item.run_id,
            state=Item.State.HELD if item.state == Item.State.HELD else Item.State.OPEN,
            priority=item.priority,
            shuffle=shuffle,
            # What opens after the script is what opened the first time.
            sham=item.sham and purpose == Case.Purpose.REPEAT,
            again=purpose.value,
            pilot=item.pilot,
        )
        for item, case, shuffle in zip(items, cases, shuffles, strict=True)
    )


def _own_shuffle(campaign: Campaign, item: Item) -> int:
    return shuffle_of(campaign, f"halo:{item.case.external_id}:{item.configuration.name}")


def _draw(item: Item, what: str) -> int:
    """A number that is the same for the same item every time."""
    digest = hashlib.sha256(f"{what}:{item.shuffle}:{item.pk}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


# --- Sittings ----------------------------------------------------------------------------------------------------


def sitting_began(by: int) -> Coalesce:
    """For a query: since when what a person had is of the sitting that they would score in now.

    It ends with a pause of half an hour: what they had within that is of it, and all since the first score of the
    sitting that their last one is of. It is one look-up, for the whole query.
    """
    pause_ago = Now() - SITTING_GAP
    sat = ExpressionWrapper(
        Coalesce(F("sitting_minutes"), 0.0) * Value(timedelta(minutes=1)),
        output_field=DurationField(),
    )
    first = Choice(
        When(at__gt=pause_ago, then=Least(F("at") - sat - _AHEAD, pause_ago)),
        default=pause_ago,
        output_field=DateTimeField(),
    )
    # What was taken over from another arm, or given elsewhere, is no work of now.
    last = Score.objects.filter(reviewer=by, imported=False).exclude(visible__has_key="copied_from")
    newest = last.order_by("-pk").values(began=first)[:1]
    return Coalesce(Subquery(newest), pause_ago, output_field=DateTimeField())


def had_in_sitting(by: int) -> Q:
    """Of assignments: those that this person has in hand, or had in the sitting that goes on.

    What ended before it was stored came from a file, and is work of another day.
    """
    since = sitting_began(by)
    is_new = Q(ended_at=None, created_at__gt=since)
    return Q(state=Assignment.State.ACTIVE) | is_new | Q(ended_at__gt=since)


# --- Handing them out -------------------------------------------------------------------------------------------


def suitable_for(waiting: QuerySet[Item], campaign: Campaign, by: User) -> QuerySet[Item]:
    """Of these items, those that do not spoil a check, and of the checks those that are this person's to make.

    A halo check is for who has never had the item, once the item itself needs nobody any more: so it takes no
    reviewer away. Who made it is not handed the item. A repeat is for who is through with the item, and not in
    the same sitting; nor is anything else about the same statement.
    """
    if not has_checks(campaign):
        return waiting
    same = Item.objects.filter(campaign=campaign, run=OuterRef("run"), again="")
    mine = Assignment.objects.filter(
        reviewer=by, item__campaign=campaign, item__run=OuterRef("run")
    )
    had_it = mine.filter(item__again="")
    recent = Assignment.objects.filter(
        had_in_sitting(by.pk),
        reviewer=by,
        item__campaign=campaign,
        item__case__action=OuterRef("case__action"),
        state__in=Assignment.HOLDING,
    )
    is_plain = Q(again="") & ~Exists(mine.filter(item__again=Item.Again.HALO))
    is_halo = (
        Q(again=Item.Again.HALO) & Exists(same.filter(state=Item.State.CLOSED)) & ~Exists(had_it)
    )
    is_repeat = Q(again=Item.Again.REPEAT) & Exists(
        had_it.filter(state=Assignment.State.SUBMITTED, ended_at__lt=sitting_began(by.pk))
    )
    return waiting.filter(is_plain | is_halo | is_repeat).exclude(Exists(recent))


def in_turn(waiting: QuerySet[Item], campaign: Campaign, by: User) -> Iterator[QuerySet[Item]]:
    """What is looked through for a person's next item: first without repeats that would come too soon, then
    all, so that who is through with everything else still gets them."""
    if campaign.repeat_share:
        had = Assignment.objects.filter(reviewer=by, item__campaign=campaign, position__gt=0)
        last = had.order_by("-pk").values_list("position", flat=True).first() or 0
        just_had = had.filter(
            item__run=OuterRef("run"), item__again="", position__gt=last + 1 - LATER
        )
        yield waiting.exclude(Q(again=Item.Again.REPEAT) & Exists(just_had))
    yield waiting


def has_checks(campaign: Campaign) -> bool:
    """Whether some items of the campaign are shown again."""
    return bool(campaign.halo_share or campaign.repeat_share)


def made_halo_of(item: Item, by: User) -> bool:
    """Whether this person scored the item's refined script as a halo check, and must not score the item."""
    return Assignment.objects.filter(
        reviewer=by, item__campaign=item.campaign_id, item__run=item.run_id, item__again="halo"
    ).exists()
