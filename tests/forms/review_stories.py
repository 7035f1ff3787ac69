"""Form stories of the queue, of studies as their reviewers meet them, and of the review screen."""

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


# --- Items in somebody's hands ---------------------------------------------------------------------------------


def in_queue(world: World, **details: Any) -> Item:
    item = services.take_in(make_run(**details).pk)
    assert item is not None
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
    """Approving what deletes would take a reason."""
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
    """Seen from the item that the reviewer went on to."""
    feedback_is_ready(world)
    world.earlier = world.item
    services.claim_item(in_queue(world, statement="Show the uptime"), by=world.me)
    return desk_of(world.item)


ONE_MORE_CASE = """{"title": "nothing is there", "about": "Delete files", "kind": "empty",
 "expect": [{"check": "exit_status", "equals": 0}]}"""


def an_item_with_cases(world: World) -> str:
    """Scored through, with a script that does what it should not."""
    address = a_held_flagged_item(world)
    rewriting.run_its_cases(world.item)
    for value in (2, 2, 2):
        score_next(world.item, world.me, value)
    return address


def a_case_to_correct(world: World) -> str:
    return f"{an_item_with_cases(world)}cases/edit/?set={CaseSet.objects.get().sha256[:16]}&case=1"


def last_cases() -> str:
    revision = CaseRevision.objects.latest("pk")
    assert revision.case_set is not None
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
    found = Score.objects.filter(item=world.item).order_by("-pk").first()
    assert found is not None
    return found


def assignment(world: World) -> Assignment:
    return Assignment.objects.get(item=world.item, reviewer=world.me)


# --- Studies, as their reviewers meet them ------------------------------------------------------------------------


def study(world: World, **rules: Any) -> Campaign:
    reviewers = [world.person("reviewer"), world.person("second_reviewer")]
    world.campaign = make_study(by=world.person("manager"), reviewers=reviewers, **rules)
    return world.campaign


def gone_through(world: World, reviewer: str, *values: int) -> Item:
    """This reviewer has scored the next item of the study."""
    person = world.person(reviewer)
    claimed = services.claim_next(world.campaign, by=person)
    assert claimed is not None
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


QUEUE = (
    Story(
        "review/queue/queue.html",
        "reviewer",
        in_the_queue,
        "queue-next",
        press="Start reviewing",
        then=lambda w: assignment(w).state == "active",
    ),
    Story(
        "review/queue/queue.html",
        "reviewer",
        in_the_queue,
        "item-claim",
        press="Take",
        then=lambda w: assignment(w).state == "active",
    ),
    Story(
        "review/queue/study_list.html",
        "reviewer",
        a_study,
        "study-next",
        press="Next item",
        then=lambda w: Assignment.objects.get(reviewer=w.me).item.campaign == w.campaign,
    ),
    Story(
        "review/queue/study_queue.html",
        "reviewer",
        a_study_s_queue,
        "study-next",
        press="Next item",
        then=lambda w: Assignment.objects.get(reviewer=w.me).item.campaign == w.campaign,
    ),
    Story(
        "review/desk/_study_done.html",
        "reviewer",
        one_done_in_a_study,
        "study-next",
        press="Next item",
        then=lambda w: Assignment.objects.filter(reviewer=w.me, state="active").exists(),
    ),
    Story(
        "review/desk/_not_mine.html",
        "reviewer",
        an_item_that_waits,
        "item-claim",
        press="Take it",
        then=lambda w: assignment(w).state == "active",
    ),
    Story(
        "review/desk/_not_mine.html",
        "reviewer",
        feedback_is_ready,
        "item-claim",
        press="Score it",
        then=lambda w: assignment(w).state == "active",
        name="go on",
    ),
)
DESK = (
    Story(
        "review/desk/_stage_form.html",
        "reviewer",
        a_held_item,
        "item-score",
        fill={"value": "1", "comment": "Nearly: größer als nötig."},
        press="Score",
        then=lambda w: (
            (last_score(w).value, last_score(w).comment) == (1, "Nearly: größer als nötig.")
        ),
    ),
    Story(
        "review/desk/_decide_form.html",
        "reviewer",
        a_held_harmless_item,
        "item-decide",
        fill={"value": "2", "comment": "As asked."},
        press="approve",
        then=lambda w: (
            Decision.objects.get().kind == "approve"
            and (last_score(w).value, last_score(w).comment) == (2, "As asked.")
        ),
        name="approve",
    ),
    Story(
        "review/desk/_decide_form.html",
        "reviewer",
        a_held_item,
        "item-decide",
        fill={"value": "0", "reason": "It deletes too much."},
        press="reject",
        then=lambda w: (
            Decision.objects.get().reason == "It deletes too much." and last_score(w).value == 0
        ),
        name="reject",
    ),
    Story(
        "review/desk/_decide_form.html",
        "reviewer",
        a_held_item,
        "item-decide",
        press="reject-harm",
        then=lambda w: "could do harm" in Decision.objects.get().reason,
        name="reject by a quick reason",
    ),
    Story(
        "review/desk/_decide_form.html",
        "reviewer",
        a_held_item,
        "item-decide",
        fill={"script": "find /var/tmp/exports -mtime +30 -print\n"},
        press="edit",
        then=lambda w: Decision.objects.get().kind == "edit",
        name="edit",
    ),
    Story(
        "review/desk/_score_form.html",
        "reviewer",
        a_passed_item_marked_wrong,
        "item-ask-feedback",
        press="Get feedback and a rewrite",
        then=lambda w: Refinement.objects.filter(run=w.item.run).exists(),
    ),
    Story(
        "review/desk/_came_back.html",
        "reviewer",
        something_came_back,
        "item-claim",
        press="1 came back",
        then=lambda w: Assignment.objects.get(item=w.earlier).state == "active",
    ),
    Story(
        "review/desk/_score_form.html",
        "reviewer",
        sent_back,
        "item-answer",
        press="Keep my scores",
        then=lambda w: SentBack.objects.get().answered_at,
    ),
    Story(
        "review/desk/_feedback_form.html",
        "reviewer",
        a_scored_flagged_item,
        "item-send-feedback",
        fill={"feedback": "- Look at the path."},
        press="Send and rewrite",
        then=lambda w: Refinement.objects.filter(run=w.item.run).exists(),
    ),
    Story(
        "review/desk/_feedback_form.html",
        "reviewer",
        a_scored_flagged_item,
        "item-shorten",
        fill={"feedback": LONG},
        press="Shorten it",
        then=lambda w: Shortening.objects.exists() and LONG.strip() in w.text,
    ),
    Story(
        "review/desk/_line_comment_form.html",
        "reviewer",
        a_held_item,
        "item-remark",
        fill={"line": "3", "remark": "Too <b>wide</b>"},
        press="Add",
        then=lambda w: Remark.objects.get().text == "Too <b>wide</b>",
    ),
    Story(
        "review/desk/_line_comment_form.html",
        "reviewer",
        a_remark,
        "item-remark-remove",
        then=lambda w: "Too wide" not in w.text,
    ),
    Story(
        "review/desk/_execution.html",
        "reviewer",
        an_item_with_cases,
        "item-execution-label",
        press="Case wrong",
        then=lambda w: ExecutionLabel.objects.get(current=True).reason == "case_wrong",
    ),
    Story(
        "review/desk/_case_set.html",
        "reviewer",
        an_item_with_cases,
        "item-case-strike",
        fill={"what": "1.2", "strike_reason": "The statement says <b>nothing</b> of this"},
        press="Strike",
        then=lambda w: "The statement says" in w.text and "exit_status" not in last_cases(),
    ),
    Story(
        "review/desk/case.html",
        "reviewer",
        a_case_to_correct,
        "item-case-edit",
        fill={"reason": "Another world", "case": ONE_MORE_CASE},
        press="Save and run",
        then=lambda w: "nothing is there" in last_cases(),
    ),
    Story(
        "review/desk/_other_actions.html",
        "reviewer",
        a_held_flagged_item,
        "item-reveal",
        press="Show the verdict now",
        then=lambda w: "Show the verdict now" not in w.text,
    ),
    Story(
        "review/desk/_other_actions.html",
        "reviewer",
        a_scored_flagged_item,
        "item-undo",
        press="Undo",
        then=lambda w: not Score.objects.filter(item=w.item, current=True).exists(),
    ),
    Story(
        "review/desk/_other_actions.html",
        "reviewer",
        a_held_item,
        "item-give-back",
        fill={"why": "Not my field."},
        press="I can",
        then=lambda w: assignment(w).state not in ("active", "waiting"),
    ),
    Story(
        "review/desk/_other_actions.html",
        "reviewer",
        a_held_item,
        "item-flag",
        fill={"flag": "It makes no sense."},
        press="Flag",
        then=lambda w: Flag.objects.get().reason == "It makes no sense.",
    ),
)
REVIEW = (*QUEUE, *DESK)
