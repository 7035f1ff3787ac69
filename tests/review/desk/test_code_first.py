"""Tests for the elements next to the code: script names, findings, stages, progress, feedback, reasons and rubric."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.analysis import analyse
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import Refinement, Run
from review import services
from review.campaigns.starter_rubric import STARTER_RUBRIC
from review.desk.quick_reasons import REJECT, SKIP, with_quick_reason
from review.desk.views.rubric_lines import rubric_lines
from review.models import Assignment, Decision, Item
from review.queue.services import claim_item, own_place, take_in
from tests.make import make_run
from tests.review.desk.test_decide import decide
from tests.review.desk.test_desk import HTMX, score_next, script_of
from tests.review.desk.test_one_act import fields_of
from tests.review.maker import ClientFor, make_study

# The form submits the reviewer's own text, not an edited version of the model's text.
IS_OWN = re.compile(r"data-based-on\s+disabled")


def page_of(client: Client, item: Item, query: str = "") -> str:
    return client.get(reverse("item-review", args=[item.pk]) + query).text


def is_new(notes: list[str], code: str) -> bool:
    """Return whether the finding's note is marked as new at its end."""
    (note,) = [one for one in notes if re.match(rf"(\w+ risk|\w+) {code}\b", one)]
    return re.search(r"[.*] new\b", note) is not None


def words(html: str) -> str:
    """Return the text of a page on one line, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def place_on(page: str) -> str:
    """Return the part of a page that shows the item's number in the reviewer's session."""
    return "<span " + page.split('class="desk-place"')[1].split('<span id="back"')[0]


@pytest.fixture
def risky(put_in_queue: Callable[..., Item], reviewer: User) -> Item:
    """Return an item whose refined script deletes more than requested. Both scripts are checked, and two stages are
    scored."""
    item = put_in_queue(
        verdict="incorrect",
        script="#!/usr/bin/env bash\nls $HOME\nuptime\n",
        feedback="- Quote it.",
        refined='#!/usr/bin/env bash\nls $HOME\nrm -rf "$HOME"/*\n',
    )
    for draft in item.run.drafts.all():
        keep_findings(draft, analyse(draft.script))
    services.claim_item(item, by=reviewer)
    for value in (0, 2):
        score_next(item, reviewer, value)
    return item


def test_rewritten_lines_are_marked_in_every_view(risky: Item, as_reviewer: Client) -> None:
    for query in ("", "?show=2&against=1&side=1", "?show=2&against=0"):
        page = page_of(as_reviewer, risky, query)
        script = page.split("<figure", 1)[1].split("</figure>")[0]
        notes = [words(one) for one in script.split('role="note">')[1:]]
        new = [code for code in ("destructive", "SC2115", "SC2086") if is_new(notes, code)]
        assert new == ["destructive", "SC2115"], "and what both have is there, unmarked"
        assert "not in the original" in words(page), query
        # Bash variable names and strings are highlighted, even in a diff.
        assert 'class="nv"' in script and 'class="s2"' in script
    ways = re.findall(
        r'aria-keyshortcuts="(\w)">\s*([\w ]+?)\s*<kbd',
        page_of(as_reviewer, risky).split("desk-choose")[1],
    )
    assert ways[:4] == [("o", "Original"), ("n", "Refined"), ("d", "Inline"), ("z", "Side by side")]


def test_passed_script_shows_facts(held: Assignment, reviewer: User, as_reviewer: Client) -> None:
    state = r'id="saved" data-state="(\w+)"'
    page = page_of(as_reviewer, held.item)
    assert "desk-choose" not in page and "<strong>Script</strong>" in page
    assert "not needed" not in page and re.findall(state, page) == ["none"]
    services.save_scratch(
        held.item, by=reviewer, fields={"comment-script-model": "typed"}, revision=0
    )
    assert re.findall(state, page_of(as_reviewer, held.item)) == ["saved"]
    score_next(held.item, reviewer, 0)
    assert "not needed" not in page_of(as_reviewer, held.item), "feedback can still be requested"
    services.submit_score(
        held.item,
        services.ScoreInput(stage="script", value=2, seen=script_of(held.item)),
        by=reviewer,
    )
    page = page_of(as_reviewer, held.item)
    assert "<s>Feedback</s>" in page and "<s>Refined</s>" in page


def test_comment_and_line_comments_stay_in_sight_and_become_the_feedback(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    services.add_remark(item, draft=script_of(item), line=1, text="Matches too much.", by=reviewer)
    sent = fields_of(page_of(client, item)) | {"value": "0", "comment": "Wrong\noption."}
    assert client.post(reverse("item-score", args=[item.pk]), sent).status_code == 302
    for value in (2, 2):
        score_next(item, reviewer, value)
    page = page_of(client, item)
    given = page.split('class="desk-given"')[1].split("</dl>")[0]
    assert "Wrong\noption." in given.replace("\r", "")
    field = page.split('id="own-feedback"')[1].split("</textarea>")[0].split(">", 1)[1]
    assert field.strip() == "- Wrong\n- option.\n- Line 1: Matches too much."
    assert IS_OWN.search(page), "it is not an edit of the model's"

    name = re.findall(r'name="based_on" value="([^"]+)"', page)[0]
    kept = {"feedback": "Begun with it", "based_on": name, "revision": "0"}
    assert client.post(reverse("item-scratch", args=[item.pk]), kept).status_code == 200
    assert not IS_OWN.search(page_of(client, item)), "what was chosen is kept"


def test_progress_counts_a_study_to_its_end(
    manager: User, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("review.queue.services.MOST_COUNTED", 1)
    study = make_study(by=manager, reviewers=[reviewer], items=4)
    assignment = services.claim_next(study, by=reviewer)
    assert 'data-total="4"' in page_of(client_for(reviewer), assignment.item)


def test_progress_says_that_the_live_queue_goes_on(
    reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("review.queue.services.MOST_COUNTED", 1)
    items = [take_in(make_run(statement=f"Statement {number}").pk) for number in range(4)]
    assert items[0] is not None
    claim_item(items[0], by=reviewer)
    assert "of 2 +" in words(page_of(client_for(reviewer), items[0])).replace("2+", "2 +")


def test_the_models_feedback_stands_in_the_field_where_nothing_was_written(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    score_next(held_flagged.item, reviewer, 0)
    page = page_of(client_for(reviewer), held_flagged.item)
    field = page.split('id="own-feedback"')[1].split("</textarea>")[0].split(">", 1)[1]
    assert field.strip() == "- Use -path, not -name."
    assert not IS_OWN.search(page)


def test_progress_counts_done_items(manager: User, reviewer: User, client_for: ClientFor) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=3)
    client, items = client_for(reviewer), []
    for place in ("1 of 3", "2 of 3"):
        assignment = services.claim_next(study, by=reviewer)
        items.append(assignment.item)
        assert words(place_on(page_of(client, assignment.item))) == place
        fragment = client.get(reverse("item-review", args=[assignment.item_id]), headers=HTMX).text
        assert "data-total data-words" in " ".join(fragment.split()), "the page keeps its total"
        for value in (0, 2, 2):
            score_next(assignment.item, reviewer, value)
    # An item that is viewed again keeps its number.
    assert [words(place_on(page_of(client, one))) for one in items] == ["1 of 3", "2 of 3"]


def test_what_is_let_go_of_does_not_move_the_end_and_what_is_skipped_counts(
    manager: User, reviewer: User, as_reviewer: Client
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=4)
    seen = []
    for state in (Assignment.State.RELEASED, Assignment.State.SKIPPED, None):
        assignment = services.claim_next(study, by=reviewer)
        # The claim passes its results on, which saves the next page a query. Both redirects are to the same page.
        read = Assignment.objects.get(pk=assignment.pk)
        places = [
            own_place(study, reviewer, beside=assignment.item_id, assignment=one)
            for one in (assignment, read)
        ]
        assert places[0] == places[1]
        seen.append(words(place_on(page_of(as_reviewer, assignment.item))))
        if state:
            services.give_back(assignment, state=state, why="Not my field")
    assert seen == ["1 of 4", "1 of 4", "2 of 4"]


def test_what_came_back_is_announced_on_the_next_item(
    put_in_queue: Callable[..., Item], held: Assignment, reviewer: User, as_reviewer: Client
) -> None:
    other = put_in_queue(statement="Show the uptime")
    score_next(held.item, reviewer, 0)
    services.ask_for_feedback(held.item, by=reviewer)
    services.claim_item(other, by=reviewer)
    assert "ready for you" not in page_of(as_reviewer, other), "it is not ready"
    Refinement.objects.filter(run=held.item.run).update(state="done")
    Run.objects.filter(pk=held.item.run_id).update(state="done")
    page = page_of(as_reviewer, other)
    claim = reverse("item-claim", args=[held.item_id])
    assert "1 ready for you" in words(page)
    assert f'action="{claim}"' in page and 'data-key="."' in page
    assert as_reviewer.post(claim)["Location"] == reverse("item-review", args=[held.item_id])
    assert "ready for you" not in page_of(as_reviewer, other)


def test_a_quick_reason_rejects_where_no_script_runs(held: Assignment, as_reviewer: Client) -> None:
    client, url = as_reviewer, reverse("item-decide", args=[held.item_id])
    page = page_of(client, held.item)
    assert all(
        f'value="reject-{one.name}"' in page and escape(str(one.means)) in page for one in REJECT
    )
    unknown = client.post(url, fields_of(page) | {"kind": "reject-zq"})
    assert unknown.status_code == 422 and "Enter a reason for rejecting the script." in unknown.text
    assert 'id="reject" aria-labelledby="reject-title"\n      data-open' in unknown.text
    assert not Decision.objects.exists()
    sent = fields_of(page) | {"kind": "reject-harm", "reason": "Line 3."}
    assert client.post(url, sent).status_code == 302
    decision = Decision.objects.get()
    assert decision.kind == "reject"
    assert decision.reason == "It could cause unintended damage. Line 3."


def test_a_quick_reason_skips(
    put_in_queue: Callable[..., Item], reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    for reason in SKIP:
        held = services.claim_item(put_in_queue(statement=f"Show {reason.name}"), by=reviewer)
        client.post(reverse("item-give-back", args=[held.item_id]), {"how": f"skip-{reason.name}"})
        held.refresh_from_db()
        assert (held.state, held.why) == ("skipped", reason.words)


def test_give_back_says_its_effect(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    said = words(page_of(client_for(reviewer), held.item))
    for line in (
        "Sends the item to another reviewer if one is available. You won't see it again.",
        "Same, but recorded as “could not judge”.",
        "Returns the item to the queue. You may get it again.",
        "Nothing is added to the catalogue. The reason is saved.",
    ):
        assert line in said


def test_a_reason_that_stands_in_the_field_already_is_not_said_twice() -> None:
    typed = f"{REJECT[1].words} On line 3."
    assert with_quick_reason("reject-harm", typed) == ("reject", typed)
    assert with_quick_reason("reject-harm", "") == ("reject", REJECT[1].words)


LIVE = """\
**2 correct**: does what is asked. You would run it.

**1 partially correct**: the right approach; a mistake in a path.

**0 incorrect**: does harm, or does not run.
"""


def test_lines() -> None:
    correct = ("does harm, or does not run", "the right approach", "does what is asked")
    hostile = "* 0 <b>no</b>\n* 1 `some`\n* 2 " + "x" * 300
    wanted = {
        (LIVE, "script"): correct,
        (LIVE, "feedback"): None,  # rubric text without headings applies only to scripts
        (LIVE, "refined"): correct,
        ("- 0: no\n- 2: yes\n", "script"): None,
        ("", "script"): None,
        ("Score 0, 1 or 2.", "script"): None,
        (hostile, "script"): ("<b>no</b>", "some", "x" * 159 + "…"),
    }
    assert {key: rubric_lines(*key) for key in wanted} == wanted


def test_the_starter_rubric_has_a_line_for_every_score() -> None:
    for stage in ("script", "feedback", "refined"):
        lines = rubric_lines(str(STARTER_RUBRIC), stage)
        assert lines is not None and all(10 < len(line) <= 160 for line in lines), stage


def test_counts_of_a_sitting_are_of_items_that_the_reviewer_can_open(
    reviewer: User, client_for: ClientFor
) -> None:
    """On each page and in each heartbeat, the decided, claimed and waiting items add up to the same total."""
    items = [services.take_in(make_run().pk) for _number in range(4)]
    client, campaign = client_for(reviewer), services.live_queue()
    assert "1 of 4" in words(place_on(page_of(client, items[3]))), "only looked at"
    for done in range(4):
        held = services.claim_next(campaign, by=reviewer)
        place = words(place_on(page_of(client, held.item)))
        assert f"{done + 1} of 4" in place
        alive = client.post(reverse("item-alive", args=[held.item_id]), {"fence": held.fence})
        left = services.waiting_for(campaign, reviewer).count()
        assert (alive["X-Waiting"], alive["X-Total"], left) == (str(3 - done), "4", 3 - done)
        decide(held.item, by=reviewer)
