"""Form stories for the review queue, the review page and a reviewer's studies."""

from __future__ import annotations

from typing import Any

from catalog.models import CaseSet
from pipeline.models import Refinement, Run, Shortening
from review import services
from review.models import (
    Assignment,
    Campaign,
    CaseRevision,
    Decision,
    ExecutionLabel,
    Flag,
    Item,
    Remark,
    Score,
    SentBack,
)
from tests.forms.story import Story, World
from tests.keys import shown
from tests.make import make_run
from tests.review.blinding import rewriting
from tests.review.desk.test_desk import score_next
from tests.review.maker import make_study

FLAGGED = {
    "verdict": "incorrect",
    "script": "find /srv -name '*X*'\n",
    "feedback": "- Use -path, not -name.",
    "refined": "find /srv -path '*X*'\n",
}
LONG = "This is wrong for many reasons. " * 20


# --- Claimed items ---------------------------------------------------------------------------------------------


def in_queue(world: World, **details: Any) -> Item:
    item = services.take_in(make_run(**details).pk)
    world.item = item
    return item


def desk_of(item: Item) -> str:
    return f"/items/{shown(item)}/"


def an_item_that_waits(world: World) -> str:
    return desk_of(in_queue(world))


def a_held_item(world: World) -> str:
    services.claim_item(in_queue(world), by=world.me)
    return desk_of(world.item)


def a_held_harmless_item(world: World) -> str:
    """Claim an item whose script deletes nothing, so that it can be approved without a reason."""
    services.claim_item(in_queue(world, script="uptime -p\n"), by=world.me)
    return desk_of(world.item)


def a_held_flagged_item(world: World) -> str:
    services.claim_item(in_queue(world, **FLAGGED), by=world.me)
    return desk_of(world.item)


def a_scored_flagged_item(world: World) -> str:
    address = a_held_flagged_item(world)
    score_next(world.item, world.me, 0)
    return address


def a_passed_item_marked_wrong(world: World) -> str:
    address = a_held_item(world)
    score_next(world.item, world.me, 0)
    return address


def feedback_is_ready(world: World) -> str:
    address = a_passed_item_marked_wrong(world)
    services.ask_for_feedback(world.item, by=world.me)
    Refinement.objects.filter(run=world.item.run).update(state="done")
    Run.objects.filter(pk=world.item.run_id).update(state="done")
    return address


def something_came_back(world: World) -> str:
    """Open a second item after the reviewer's earlier item has received feedback."""
    feedback_is_ready(world)
    world.earlier = world.item
    services.claim_item(in_queue(world, statement="Show the uptime"), by=world.me)
    return desk_of(world.item)


ONE_MORE_CASE = """{"title": "nothing is there", "about": "Delete files", "kind": "empty",
 "expect": [{"check": "exit_status", "equals": 0}]}"""


def an_item_with_cases(world: World) -> str:
    """Open a fully scored item whose script fails its sandbox tests."""
    address = a_held_flagged_item(world)
    rewriting.run_its_cases(world.item)
    for value in (2, 2, 2):
        score_next(world.item, world.me, value)
    return address


def a_case_to_correct(world: World) -> str:
    return f"{an_item_with_cases(world)}cases/edit/?set={CaseSet.objects.get().sha256[:16]}&case=1"


def last_cases() -> str:
    revision = CaseRevision.objects.latest("pk")
    return str(revision.case_set.content)


def a_remark(world: World) -> str:
    address = a_held_item(world)
    draft = world.item.run.drafts.get(number=1).pk
    services.add_remark(world.item, draft=draft, line=2, text="Too wide", by=world.me)
    return address


def in_the_queue(world: World) -> str:
    in_queue(world)
    return "/queue/"


def last_score(world: World) -> Score:
    return Score.objects.filter(item=world.item).order_by("-pk").first()


def assignment(world: World) -> Assignment:
    return Assignment.objects.get(item=world.item, reviewer=world.me)


# --- Studies, as their reviewers see them -------------------------------------------------------------------------


def study(world: World, **rules: Any) -> Campaign:
    reviewers = [world.person("reviewer"), world.person("second_reviewer")]
    world.campaign = make_study(by=world.person("manager"), reviewers=reviewers, **rules)
    return world.campaign


def gone_through(world: World, reviewer: str, *values: int) -> Item:
    """Claim and score the next item of the study as this reviewer, and return the item."""
    person = world.person(reviewer)
    claimed = services.claim_next(world.campaign, by=person)
    for value in values:
        score_next(claimed.item, person, value)
    world.item = claimed.item
    return claimed.item


def a_study(world: World) -> str:
    study(world)
    return "/studies/"


def a_study_s_queue(world: World) -> str:
    return f"/studies/{study(world).pk}/"


def one_done_in_a_study(world: World) -> str:
    study(world, items=2)
    return desk_of(gone_through(world, "reviewer", 0, 2, 1))


def sent_back(world: World) -> str:
    address = one_done_in_a_study(world)
    services.send_back(assignment(world), why="Sure?", by=world.person("manager"))
    services.claim_next(world.campaign, by=world.me)
    return address


QUEUE = {
    ("review/queue/queue.html", "reviewer"): [
        Story(in_the_queue, "queue-next", "Start reviewing").then(
            lambda w: assignment(w).state == "active"
        ),
        Story(in_the_queue, "item-claim", "Claim").then(lambda w: assignment(w).state == "active"),
    ],
    ("review/queue/study_list.html", "reviewer"): [
        Story(a_study, "study-next", "Next item").then(
            lambda w: Assignment.objects.get(reviewer=w.me).item.campaign == w.campaign
        )
    ],
    ("review/queue/study_queue.html", "reviewer"): [
        Story(a_study_s_queue, "study-next", "Next item").then(
            lambda w: Assignment.objects.get(reviewer=w.me).item.campaign == w.campaign
        )
    ],
    ("review/desk/_study_done.html", "reviewer"): [
        Story(one_done_in_a_study, "study-next", "Next item").then(
            lambda w: Assignment.objects.filter(reviewer=w.me, state="active").exists()
        )
    ],
    ("review/desk/_not_mine.html", "reviewer"): [
        Story(an_item_that_waits, "item-claim", "Claim").then(
            lambda w: assignment(w).state == "active"
        ),
        Story(feedback_is_ready, "item-claim", "Score it", name="go on").then(
            lambda w: assignment(w).state == "active"
        ),
    ],
}
DESK = {
    ("review/desk/_stage_form.html", "reviewer"): [
        Story(
            a_held_item,
            "item-score",
            "Score",
            {"value": "1", "comment": "Nearly: größer als nötig."},
        ).then(
            lambda w: (
                (last_score(w).value, last_score(w).comment) == (1, "Nearly: größer als nötig.")
            )
        )
    ],
    ("review/desk/_decide_form.html", "reviewer"): [
        Story(
            a_held_harmless_item,
            "item-decide",
            "approve",
            {"value": "2", "comment": "As asked."},
            name="approve",
        ).then(
            lambda w: (
                Decision.objects.get().kind == "approve"
                and (last_score(w).value, last_score(w).comment) == (2, "As asked.")
            )
        ),
        Story(
            a_held_item,
            "item-decide",
            "reject",
            {"value": "0", "reason": "It deletes too much."},
            name="reject",
        ).then(
            lambda w: (
                Decision.objects.get().reason == "It deletes too much." and last_score(w).value == 0
            )
        ),
        Story(a_held_item, "item-decide", "reject-harm", name="reject by a quick reason").then(
            lambda w: "unintended damage" in Decision.objects.get().reason
        ),
        Story(
            a_held_item,
            "item-decide",
            "edit",
            {"script": "find /var/tmp/exports -mtime +30 -print\n"},
            name="edit",
        ).then(lambda w: Decision.objects.get().kind == "edit"),
    ],
    ("review/desk/_score_form.html", "reviewer"): [
        Story(a_passed_item_marked_wrong, "item-ask-feedback", "Get feedback and a rewrite").then(
            lambda w: Refinement.objects.filter(run=w.item.run).exists()
        ),
        Story(sent_back, "item-answer", "Keep my scores").then(
            lambda w: SentBack.objects.get().answered_at
        ),
    ],
    ("review/desk/_came_back.html", "reviewer"): [
        Story(something_came_back, "item-claim", "1 ready for you").then(
            lambda w: Assignment.objects.get(item=w.earlier).state == "active"
        )
    ],
    ("review/desk/_feedback_form.html", "reviewer"): [
        Story(
            a_scored_flagged_item,
            "item-send-feedback",
            "Send and rewrite",
            {"feedback": "- Look at the path."},
        ).then(lambda w: Refinement.objects.filter(run=w.item.run).exists()),
        Story(a_scored_flagged_item, "item-shorten", "Shorten it", {"feedback": LONG}).then(
            lambda w: Shortening.objects.exists() and LONG.strip() in w.text
        ),
    ],
    ("review/desk/_line_comment_form.html", "reviewer"): [
        Story(a_held_item, "item-remark", "Add", {"line": "3", "remark": "Too <b>wide</b>"}).then(
            lambda w: Remark.objects.get().text == "Too <b>wide</b>"
        ),
        Story(a_remark, "item-remark-remove").then(lambda w: "Too wide" not in w.text),
    ],
    ("review/desk/_execution.html", "reviewer"): [
        Story(an_item_with_cases, "item-execution-label", "Test is wrong").then(
            lambda w: ExecutionLabel.objects.get(current=True).reason == "case_wrong"
        )
    ],
    ("review/desk/_case_set.html", "reviewer"): [
        Story(
            an_item_with_cases,
            "item-case-strike",
            "Remove",
            {"what": "1.2", "strike_reason": "The statement says <b>nothing</b> of this"},
        ).then(lambda w: "The statement says" in w.text and "exit_status" not in last_cases())
    ],
    ("review/desk/case.html", "reviewer"): [
        Story(
            a_case_to_correct,
            "item-case-edit",
            "Save and run",
            {"reason": "Another world", "case": ONE_MORE_CASE},
        ).then(lambda w: "nothing is there" in last_cases())
    ],
    ("review/desk/_other_actions.html", "reviewer"): [
        Story(a_held_flagged_item, "item-reveal", "Show the verdict now").then(
            lambda w: "Show the verdict now" not in w.text
        ),
        Story(a_scored_flagged_item, "item-undo", "Undo").then(
            lambda w: not Score.objects.filter(item=w.item, current=True).exists()
        ),
        Story(a_held_item, "item-give-back", "I can", {"why": "Not my field."}).then(
            lambda w: assignment(w).state not in ("active", "waiting")
        ),
        Story(a_held_item, "item-flag", "Flag", {"flag": "It makes no sense."}).then(
            lambda w: Flag.objects.get().reason == "It makes no sense."
        ),
    ],
}
REVIEW = QUEUE | DESK
