"""Edit a campaign: change its rules, add actions and runs, clone it, and withdraw items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from pipeline.models import Action, Configuration, Run
from review.campaigns.services import rules as studies
from review.campaigns.services.preparation import prepare_item
from review.campaigns.services.rules import RIGOROUS, Rules
from review.campaigns.starter_rubric import STARTER_RUBRIC
from review.models import Campaign, Case, Item, Rubric, TallyDue
from review.sampling import overlap_of, shuffle_of

MOST_AT_ONCE = 1_000
_SLICE = 1_000
_OVERLAPS = {"overlap", "extra_overlap", "extra_share"}


def rules_of(campaign: Campaign) -> Rules:
    """Return the campaign's current rules, including the newest rubric and the budget."""
    kept = {name: getattr(campaign, name) for name in Rules.__dataclass_fields__ if name in _KEPT}
    rubric = Rubric.objects.filter(campaign=campaign).order_by("-number").first()
    rules = Rules(
        rubric=rubric.text if rubric else "",
        budget=campaign.batch.budget if campaign.batch else None,
        uses_message_batches=bool(campaign.batch and campaign.batch.uses_message_batches),
    )
    return replace(rules, **kept)


_KEPT = Rules.__dataclass_fields__.keys() - studies.OF_THE_BATCH


def preset_rules(preset: str, **changed: object) -> Rules:
    """Return the rules of a preset (`standard` or `rigorous`), with the starter rubric.

    `changed` overrides the preset's values. Raises BadInput if the preset is unknown.
    """
    shares = {"standard": {}, "rigorous": RIGOROUS}.get(preset)
    if shares is not None:
        rules = Rules(overlap=2, rubric=str(STARTER_RUBRIC))
        return replace(rules, **shares, **changed)  # type: ignore[arg-type]
    raise BadInput(_("Unknown preset."), field="preset")


@transaction.atomic
def change_campaign(campaign: Campaign, *, by: User, **changed: object) -> None:
    """Change the given rules. A new overlap applies to items that no reviewer has claimed yet.

    Raises BadInput for an invalid value, and NotAllowedNow for a rule that can no longer be changed.
    """
    rules = replace(rules_of(campaign), **changed)  # type: ignore[arg-type]
    studies.change_rules(campaign, rules, by=by)
    before = {name: getattr(campaign, name) for name in _OVERLAPS}
    campaign.refresh_from_db()
    if before != {name: getattr(campaign, name) for name in _OVERLAPS}:
        _fit_places(campaign)


def _fit_places(campaign: Campaign) -> None:
    untouched = campaign.items.filter(again="", done=0, assignments=None, scores=None).exclude(
        state=Item.State.CLOSED
    )
    last = 0
    while items := list(
        untouched.filter(pk__gt=last).select_related("case").order_by("pk")[:_SLICE]
    ):
        for item in items:
            item.overlap = item.places = overlap_of(
                campaign, shuffle=item.shuffle, purpose=item.case.purpose
            )
        Item.objects.bulk_update(items, ["overlap", "places"])
        last = items[-1].pk


def arms_of(campaign: Campaign) -> QuerySet[Configuration]:
    """Return the configurations that the campaign runs or has items for."""
    has_items = Item.objects.filter(campaign=campaign, configuration=OuterRef("pk"))
    chosen = campaign.configurations.filter(pk=OuterRef("pk"))
    return Configuration.objects.filter(Exists(has_items) | Exists(chosen)).order_by("pk")


@transaction.atomic
def choose_arms(campaign: Campaign, configurations: Sequence[Configuration], *, by: User) -> None:
    """Set the configurations to run on each case.

    Raises NotAllowedNow if a configuration with items would be removed.
    """
    _check_not_closed(campaign)
    before = set(campaign.configurations.all())
    gone = before - set(configurations)
    if campaign.items.filter(configuration__in=gone).exists():
        raise NotAllowedNow(_("A configuration that has items in the study can't be removed."))
    campaign.configurations.set(configurations)
    if before != set(configurations):
        names = [
            ", ".join(sorted(one.name for one in some)) for some in (before, set(configurations))
        ]
        record(campaign, "configurations chosen", by=by, configurations=(names[0], names[1]))


# --- Items from existing data ------------------------------------------------------------------------------------


@transaction.atomic
def add_actions(campaign: Campaign, actions: Sequence[Action], *, by: User) -> int:
    """Add a case for each action that has none in the campaign, and return the number of new cases.

    No runs are started.
    """
    _check_not_closed(campaign)
    studies.hold_items(campaign)
    ids = {f"action-{one.pk}": one for one in actions if one.erased_at is None}
    there = set(campaign.cases.filter(external_id__in=ids).values_list("external_id", flat=True))
    made = Case.objects.bulk_create(
        Case(campaign=campaign, external_id=name, action=action)
        for name, action in ids.items()
        if name not in there
    )
    if made:
        record(campaign, "items added", by=by, cases=("", len(made)))
    return len(made)


@transaction.atomic
def add_runs(campaign: Campaign, runs: Sequence[Run], *, by: User) -> int:
    """Add an item for each finished run, and return the number of new items.

    A run is skipped if its case and configuration already have an item.
    """
    add_actions(campaign, [run.action for run in runs], by=by)
    cases = {
        case.action_id: case
        for case in campaign.cases.filter(
            external_id__in=[f"action-{run.action_id}" for run in runs]
        )
    }
    there = set(campaign.items.filter(case__in=cases.values()).values_list("case", "configuration"))
    made = []
    for run in runs:
        case = cases.get(run.action_id)
        if case is None or run.is_active or (case.pk, run.configuration_id) in there:
            continue
        there.add((case.pk, run.configuration_id))
        made.append(_add_item(campaign, case, run))
    _prepare(made)
    if made:
        record(campaign, "items added", by=by, items=("", len(made)))
    return len(made)


def _add_item(campaign: Campaign, case: Case, run: Run) -> Item:
    shuffle = shuffle_of(campaign, f"{case.external_id}:{run.configuration.name}")
    overlap = overlap_of(campaign, shuffle=shuffle, purpose=case.purpose)
    return Item.objects.create(
        campaign=campaign,
        case=case,
        configuration=run.configuration,
        run=run,
        shuffle=shuffle,
        overlap=overlap,
        places=overlap,
    )


def _prepare(items: Sequence[Item]) -> None:
    for run_id in {item.run_id for item in items if item.run_id}:
        prepare_item(run_id)


@transaction.atomic
def clone_campaign(
    source: Campaign, name: str, *, by: User, with_cases: bool = True, with_scripts: bool = False
) -> Campaign:
    """Create a campaign with the rules, rubric, configurations and reviewers of another campaign.

    `with_cases` copies the statements, which can then be run again. `with_scripts` also copies the items with their
    runs, so that reviewers can score the same texts. Raises BadInput if the name is invalid or taken.
    """
    made = studies.create_campaign(
        name,
        by=by,
        rules=rules_of(source),
        configurations=source.configurations.all(),
        reviewers=[one.user for one in source.members.select_related("user")],
        cloned_from=source,
    )
    if with_cases or with_scripts:
        _copy_cases(source, made)
    if with_scripts:
        _copy_items(source, made)
    return made


def _copy_cases(source: Campaign, to: Campaign) -> None:
    fields = ("external_id", "action_id", "purpose", "known", "content_sha256")
    rows = source.cases.filter(repeats=None).order_by("pk").values_list(*fields)
    Case.objects.bulk_create(
        (Case(campaign=to, **dict(zip(fields, row, strict=True))) for row in rows.iterator()),
        batch_size=_SLICE,
    )


def _copy_items(source: Campaign, to: Campaign) -> None:
    cases = dict(to.cases.values_list("external_id", "pk"))
    items = source.items.exclude(run=None).select_related("case", "configuration").order_by("pk")
    made = []
    for item in items.iterator(chunk_size=_SLICE):
        if item.case.external_id not in cases or item.state == Item.State.WITHDRAWN:
            continue
        shuffle = shuffle_of(to, f"{item.case.external_id}:{item.configuration.name}")
        overlap = overlap_of(to, shuffle=shuffle, purpose=item.case.purpose)
        made.append(
            Item(
                campaign=to,
                case_id=cases[item.case.external_id],
                configuration=item.configuration,
                run_id=item.run_id,
                shuffle=shuffle,
                overlap=overlap,
                places=overlap,
                execution=item.execution,
                execution_reason=item.execution_reason,
            )
        )
    Item.objects.bulk_create(made, batch_size=_SLICE)
    _prepare(made)


def _check_not_closed(campaign: Campaign) -> None:
    if campaign.state == Campaign.State.CLOSED:
        raise NotAllowedNow(_("The study is closed. Reopen it first."))


@transaction.atomic
def withdraw(item: Item, *, why: str, by: User) -> None:
    """Withdraw an item from the study. The item is excluded from assignment and all figures, but its scores are kept.

    Repeats and halo checks of the item are withdrawn too. Raises BadInput if the reason is missing, and NotAllowedNow
    if the item is already withdrawn.
    """
    if not why.strip():
        raise BadInput(_("Enter a short reason."), field="why")
    changed = Item.objects.filter(pk=item.pk).exclude(state=Item.State.WITHDRAWN)
    before = changed.values_list("state", flat=True).first()
    if before is None or not changed.update(state=Item.State.WITHDRAWN, places=0):
        raise NotAllowedNow(_("This item is already withdrawn."))
    if item.run_id and not item.again:
        shown_again = Item.objects.filter(campaign=item.campaign_id, run=item.run_id)
        shown_again.exclude(again="").update(state=Item.State.WITHDRAWN, places=0)
    TallyDue.objects.create(item=item, campaign=item.campaign)
    record(
        item, "withdrawn", by=by, state=(before, Item.State.WITHDRAWN), why=("", why.strip()[:500])
    )
