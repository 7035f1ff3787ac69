"""Create an item full of secrets, each in one place in the database, and list every address that could reveal one."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.urls import URLPattern, URLResolver, get_resolver

from core.web.public_keys import DRAFT, ITEM, public_key
from pipeline.models import Action, Assessment, Configuration, Draft, Feedback, Shortening
from review import services
from review.models import Flag, Item, Score
from tests.people import make_person
from tests.review.desk.test_desk import score_next, script_of
from tests.review.maker import make_study

# Each secret is in exactly one place of the database.
SECRETS = {
    "verdict": "zqfunctionality",
    "difference": "zqdifference",
    "feedback": "zqfeedback",
    "refined": "zqrefined",
    "model": "zqmodel",
    "configuration": "zqconfiguration",
    "reviewer": "zqreviewer",
    "comment": "zqcomment",
    "reference": "zqreference",
    "note": "zqnote",
    "remark": "zqremark",
    "shortening": "zqshortening",
    "flag": "zqflag",
}
# Paths that browsers and programs request automatically, and paths that only describe the API.
_FOLDERS = (
    *("report-snapshots", "transfers", "campaigns", "studies", "items", "runs", "drafts"),
    *("actions", "assignments"),
)
_NOT_READ = re.compile(r"^(admin/|logout|healthz|readyz|metrics|api/v1/(schema|docs))")


def make_secret_item(manager: User, reviewer: User) -> Item:
    """Return a study item with secrets. `reviewer` has claimed it, and another reviewer has scored it."""
    other = make_person(SECRETS["reviewer"], "reviewer")
    campaign = make_study(by=manager, reviewers=[reviewer, other], items=1, overlap=2)
    item = campaign.items.get()
    run = item.run
    Assessment.objects.filter(draft__run=run).update(
        functionality=SECRETS["verdict"], differences=[SECRETS["difference"]]
    )
    Feedback.objects.filter(draft__run=run).update(text=f"- {SECRETS['feedback']}")
    Draft.objects.filter(run=run, kind="refined").update(script=f"echo {SECRETS['refined']}\n")
    Draft.objects.filter(run=run).update(model=SECRETS["model"], note=SECRETS["note"])
    Configuration.objects.filter(pk=run.configuration_id).update(name=SECRETS["configuration"])
    Action.objects.filter(pk=run.action_id).update(reference=f"echo {SECRETS['reference']}\n")
    Item.objects.filter(pk=item.pk).update(execution=0.1234567)
    services.claim_next(campaign, by=other)
    services.add_remark(item, draft=script_of(item), line=1, text=SECRETS["remark"], by=other)
    for value in (0, 2, 2):
        score_next(item, other, value)
    Score.objects.update(comment=SECRETS["comment"])
    Shortening.objects.create(
        run=run,
        number=1,
        draft_id=script_of(item),
        text=SECRETS["shortening"],
        shorter=SECRETS["shortening"],
        state="done",
        asked_by=other,
    )
    Flag.objects.create(item=item, by=other, reason=SECRETS["flag"])
    services.claim_next(campaign, by=reviewer)
    return Item.objects.get(pk=item.pk)


def told(text: str) -> list[str]:
    """Return the names of the secrets that occur in a text."""
    found = [name for name, secret in SECRETS.items() if secret in text.lower()]
    return found + (["execution"] if "0.1234" in text else [])


def addresses(
    keys: dict[str, object], patterns: list[URLPattern | URLResolver], prefix: str = ""
) -> set[str]:
    """Return every address of the product, with this item's keys as parameters."""
    found: set[str] = set()
    for one in patterns:
        route = prefix + re.sub(r"^\^|\$$|\\Z", "", str(one.pattern))
        if isinstance(one, URLResolver):
            found |= addresses(keys, one.url_patterns, route)
            continue
        part = route.partition("<")[0]
        kind = next((name for name in _FOLDERS if name in part), "")
        by_folder = str(keys.get(kind, 1))
        filled = re.sub(
            r"\(\?P<(\w+)>[^)]*\)|<(?:\w+:)?(\w+)>",
            lambda found, other=by_folder: str(keys.get(f"<{found[1] or found[2]}>", other)),
            route,
        )
        found.add("/" + filled.replace("\\.", ".").replace("/?", "/"))
    return {one for one in found if "format" not in one and "(" not in one}


def pages_for(item: Item, **more: object) -> list[str]:
    """Return every readable address for this item. `more` has keys by folder or by parameter."""
    keys: dict[str, object] = {
        **more,
        **{f"<{name}>": key for name, key in more.items()},
        "<item>": item.pk,
        "<assignment>": item.assignments.order_by("pk").values_list("pk", flat=True)[0],
        "<shortening>": Shortening.objects.values_list("pk", flat=True)[0],
        "campaigns": item.campaign_id,
        "studies": item.campaign_id,
        "items": public_key(ITEM, item.pk),
        "runs": item.run_id,
        "actions": item.run.action_id,
        "drafts": public_key(DRAFT, item.run.drafts.get(kind="refined").pk),
    }
    every = addresses(keys, get_resolver().url_patterns)
    return sorted(one for one in every if not _NOT_READ.match(one[1:]))
