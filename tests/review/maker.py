"""Create open campaigns with finished items and reviewers for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client

from catalog import services as catalog
from catalog.models import Entry, Version
from pipeline.models import Configuration
from review.blinding.item_view import open_item
from review.campaigns.services import rules as studies
from review.campaigns.services import states
from review.desk.shown_drafts import seal
from review.models import Assignment, Campaign, Case, Item, Score, TallyDue
from review.sampling import overlap_of, shuffle_of
from tests.make import imported_configuration, make_run

ClientFor = Callable[[User], Client]
Arms = tuple[Campaign, Item, Item]
FEEDBACK = "- Use -path, not -name."


def shown_to(by: User, item: Item) -> str:
    """Return the token of the item's page as this reviewer currently sees it."""
    return seal(open_item(Item.objects.get(pk=item.pk), by))


def make_study(
    *,
    by: User,
    reviewers: Sequence[User],
    items: int = 3,
    name: str = "Study",
    is_open: bool = True,
    **rules: object,
) -> Campaign:
    """Create a study of flagged and refined scripts without model calls. If the name exists, a number is added."""
    same = Campaign.objects.filter(name__startswith=name).count()
    campaign = studies.create_campaign(
        f"{name} {same + 1}" if same else name,
        by=by,
        reviewers=reviewers,
        rules=studies.Rules(**rules),
    )
    for number in range(items):
        add_item(campaign, f"case-{number}")
    if is_open:
        states.move_campaign(campaign, "open", by=by)
    campaign.refresh_from_db()
    return campaign


def let_time_pass(minutes: int = 31) -> None:
    """Move all recorded times into the past. A gap of more than half an hour ends a session."""
    since = timedelta(minutes=minutes)
    Assignment.objects.update(created_at=F("created_at") - since, ended_at=F("ended_at") - since)
    Score.objects.update(at=F("at") - since)


def add_configuration(name: str) -> Configuration:
    """Add a configuration that uses the default models."""
    default = Configuration.objects.get(is_default=True)
    made = Configuration.objects.create(name=name, title=name.title(), preset=default.preset)
    for role in default.roles.all():
        role.pk, role.configuration = None, made
        role.save()
    return made


def add_item(campaign: Campaign, external_id: str, *, verdict: str = "incorrect") -> Item:
    flagged = verdict == "incorrect"
    run = make_run(
        statement=f"List the files of {external_id}",
        script=f"find /srv/{external_id} -name '*X*'\n",
        verdict=verdict,
        feedback=FEEDBACK if flagged else "",
        refined=f"find /srv/{external_id} -path '*X*'\n" if flagged else "",
        origin="campaign",
    )
    case = Case.objects.create(campaign=campaign, external_id=external_id, action=run.action)
    shuffle = shuffle_of(campaign, external_id)
    overlap = overlap_of(campaign, shuffle=shuffle)
    item = Item.objects.create(
        campaign=campaign,
        case=case,
        configuration=run.configuration,
        run=run,
        state=Item.State.OPEN,
        shuffle=shuffle,
        overlap=overlap,
        places=overlap,
    )
    TallyDue.objects.create(item=item, campaign=campaign)
    return item


def make_two_arms(*, by: User, reviewers: Sequence[User], **rules: object) -> Arms:
    """Create an open study of one statement with two arms whose first scripts are identical and passed."""
    campaign = make_study(by=by, reviewers=reviewers, items=0, is_open=False, **rules)
    one, other = (add_item(campaign, name, verdict="correct") for name in ("one", "other"))
    Item.objects.filter(pk=other.pk).update(case=one.case, configuration=imported_configuration())
    first = one.run.drafts.get()
    other.run.drafts.update(script=first.script, sha256=first.sha256)
    Campaign.objects.filter(pk=campaign.pk).update(state="open", order="oldest")
    campaign.refresh_from_db()
    return campaign, one, Item.objects.get(pk=other.pk)


def publish_of_study(
    item: Item, script: str, *, by: User, author: User | None = None, entry: Entry | None = None
) -> Version:
    """Publish a verified script of the item's run, as a curator would outside the study."""
    run = item.run
    return catalog.publish(
        statement=run.action.statement,
        script=script,
        by=by,
        author=author,
        verified=True,
        provenance={"run": run.pk, "action": run.action_id, "verdict": run.verdict},
        reason="It is needed.",
        entry=entry,
    )
