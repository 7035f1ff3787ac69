"""What stands beside the code: scripts by name, what a rewrite brings, stages, progress, one's own words, reasons."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.analysis import analyse
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import Refinement, Run
from review import services
from review.desk.quick_reasons import REJECT, SKIP, with_quick_reason
from review.models import Assignment, Decision, Item
from review.queue.services import claim_item, own_place, take_in
from tests.make import make_run
from tests.review.desk.test_desk import HTMX, score_next, script_of
from tests.review.desk.test_one_act import fields_of
from tests.review.maker import make_study

ClientFor = Callable[[User], Client]
# What is sent is the reviewer's own text, and no edit of the model's.
IS_OWN = re.compile(r"data-based-on\s+disabled")


def page_of(client: Client, item: Item, query: str = "") -> str:
    return client.get(reverse("item-review", args=[item.pk]) + query).text


def is_new(notes: list[str], code: str) -> bool:
    """Whether the note of a finding is marked so; its words end with the mark, before the code that follows."""
    (note,) = [one for one in notes if re.match(rf"(\w+ risk|\w+) {code}\b", one)]
    return re.search(r"[.*] new\b", note) is not None


def words(html: str) -> str:
    """The text of a page on one line, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def place_on(page: str) -> str:
    """The part of a page that says which of the reviewer's items it is."""
    return "<span " + page.split('class="desk-place"')[1].split('<span id="back"')[0]


@pytest.fixture
def risky(put_in_queue: Callable[..., Item], reviewer: User) -> Item:
    """A script whose rewrite also deletes what nobody asked for; both are checked, both stages before are scored."""
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


@pytest.mark.parametrize(
    "query", ["", "?show=2&against=1&side=1", "?show=2&against=0"], ids=["inline", "side", "plain"]
)
def test_what_the_rewrite_brings_is_marked_as_new_in_every_view(
    risky: Item, reviewer: User, client_for: ClientFor, query: str
) -> None:
    page = page_of(client_for(reviewer), risky, query)
    script = page.split("<figure", 1)[1].split("</figure>")[0]
    notes = [words(one) for one in script.split('role="note">')[1:]]
    new = [code for code in ("destructive", "SC2115", "SC2086") if is_new(notes, code)]
    assert new == ["destructive", "SC2115"], "and what both have is there, unmarked"
    assert "not in the original" in words(page)
    # Colours: a name and a string of Bash, in a difference as well.
    assert 'class="nv"' in script and 'class="s2"' in script


def test_scripts_are_named_and_have_their_keys(
    risky: Item, reviewer: User, client_for: ClientFor
) -> None:
    page = page_of(client_for(reviewer), risky)
    ways = re.findall(r'aria-keyshortcuts="(\w)">\s*([\w ]+?)\s*<kbd', page.split("desk-choose")[1])
    assert ways[:4] == [
        ("o", "Original"),
        ("n", "Refined"),
        ("d", "Inline"),
        ("z", "Side by side"),
    ]


def test_one_script_alone_is_a_script_and_has_nothing_to_choose(
    held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    page = page_of(client_for(reviewer), held.item)
    assert "desk-choose" not in page and "<strong>Script</strong>" in page


def test_stages_that_are_not_needed_are_struck_out_and_only_once_that_is_known(
    held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    assert "not needed" not in page_of(client, held.item)
    score_next(held.item, reviewer, 2)
    page = page_of(client, held.item)
    assert "<s>Feedback</s>" in page and "<s>Refined</s>" in page


def test_a_stage_that_can_still_be_asked_for_is_not_struck_out(
    held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    score_next(held.item, reviewer, 0)
    assert "not needed" not in page_of(client_for(reviewer), held.item)


def test_nothing_is_said_to_be_saved_before_anything_was_typed(
    held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    state = r'id="saved" data-state="(\w+)"'
    assert re.findall(state, page_of(client, held.item)) == ["none"]
    services.save_scratch(
        held.item, by=reviewer, fields={"comment-script-model": "typed"}, revision=0
    )
    assert re.findall(state, page_of(client, held.item)) == ["saved"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_progress_counts_a_study_to_its_end(
    manager: User, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("review.queue.services.MOST_COUNTED", 1)
    study = make_study(by=manager, reviewers=[reviewer], items=4)
    assignment = services.claim_next(study, by=reviewer)
    assert assignment is not None
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


@pytest.mark.slow
def test_progress_counts_what_is_done_and_what_waits(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=3)
    client = client_for(reviewer)
    seen = []
    for _ in range(2):
        assignment = services.claim_next(study, by=reviewer)
        assert assignment is not None
        page = page_of(client, assignment.item)
        seen.append(words(page.split('class="desk-place"')[1].split("</span> </span>")[0])[:40])
        fragment = client.get(reverse("item-review", args=[assignment.item_id]), headers=HTMX).text
        assert "data-total data-words" in " ".join(fragment.split()), "the page keeps its total"
        for value in (0, 2, 2):
            score_next(assignment.item, reviewer, value)
    assert "1 of 3" in seen[0] and "2 of 3" in seen[1]


@pytest.mark.slow
def test_what_is_let_go_of_does_not_move_the_end_and_what_is_skipped_counts(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=4)
    client = client_for(reviewer)
    seen = []
    for state in (Assignment.State.RELEASED, Assignment.State.SKIPPED, None):
        assignment = services.claim_next(study, by=reviewer)
        assert assignment is not None
        # The claim says what it has found, which spares the next page a query: both lead to the same place.
        read = Assignment.objects.get(pk=assignment.pk)
        places = [
            own_place(study, reviewer, beside=assignment.item_id, assignment=one)
            for one in (assignment, read)
        ]
        assert places[0] == places[1]
        seen.append(words(place_on(page_of(client, assignment.item))))
        if state:
            services.give_back(assignment, state=state, why="Not my field")
    assert seen == ["1 of 4", "1 of 4", "2 of 4"]


@pytest.mark.slow
def test_an_item_looked_at_again_keeps_its_number(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=3)
    client = client_for(reviewer)
    items = []
    for _ in range(2):
        assignment = services.claim_next(study, by=reviewer)
        assert assignment is not None
        items.append(assignment.item)
        for value in (0, 2, 2):
            score_next(assignment.item, reviewer, value)
    assert [words(place_on(page_of(client, one))) for one in items] == ["1 of 3", "2 of 3"]


@pytest.mark.slow
def test_what_came_back_is_announced_on_the_next_item(
    put_in_queue: Callable[..., Item], held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    other = put_in_queue(statement="Show the uptime")
    score_next(held.item, reviewer, 0)
    services.ask_for_feedback(held.item, by=reviewer)
    services.claim_item(other, by=reviewer)
    assert "came back" not in page_of(client, other), "it is not ready"
    Refinement.objects.filter(run=held.item.run).update(state="done")
    Run.objects.filter(pk=held.item.run_id).update(state="done")
    page = page_of(client, other)
    claim = reverse("item-claim", args=[held.item_id])
    assert "1 came back" in words(page)
    assert f'action="{claim}"' in page and 'data-key="."' in page
    assert client.post(claim)["Location"] == reverse("item-review", args=[held.item_id])
    assert "came back" not in page_of(client, other)


# --- Reasons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["", "Line 3."], ids=["alone", "with more"])
def test_a_quick_reason_rejects_where_no_script_runs(
    held: Assignment, reviewer: User, client_for: ClientFor, typed: str
) -> None:
    client = client_for(reviewer)
    page = page_of(client, held.item)
    assert all(f'value="reject-{one.name}"' in page and str(one.means) in page for one in REJECT)
    sent = fields_of(page) | {"kind": "reject-harm", "reason": typed}
    assert client.post(reverse("item-decide", args=[held.item_id]), sent).status_code == 302
    decision = Decision.objects.get()
    assert decision.kind == "reject"
    assert decision.reason == f"It could do harm that was not asked for. {typed}".strip()


def test_an_unknown_reason_is_none(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    client = client_for(reviewer)
    sent = fields_of(page_of(client, held.item)) | {"kind": "reject-zq"}
    answer = client.post(reverse("item-decide", args=[held.item_id]), sent)
    assert answer.status_code == 422 and "Say why it is rejected." in answer.text
    assert 'id="reject" aria-labelledby="reject-title"\n      data-open' in answer.text
    assert not Decision.objects.exists()


@pytest.mark.parametrize("reason", SKIP, ids=lambda one: one.name)
def test_a_quick_reason_skips(
    held: Assignment, reviewer: User, client_for: ClientFor, reason: object
) -> None:
    url = reverse("item-give-back", args=[held.item_id])
    client_for(reviewer).post(url, {"how": f"skip-{reason.name}"})  # type: ignore[attr-defined]
    held.refresh_from_db()
    assert (held.state, held.why) == ("skipped", reason.words)  # type: ignore[attr-defined]


def test_each_way_to_give_it_back_says_what_happens_to_the_item(
    held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    said = words(page_of(client_for(reviewer), held.item))
    for line in (
        "Another reviewer gets it. It does not come to you again.",
        "The same, and it counts as a script that you could not judge.",
        "It waits in the queue again and may come to you again.",
        "Nothing enters the catalogue, and the reason is kept.",
    ):
        assert line in said


def test_a_reason_that_stands_in_the_field_already_is_not_said_twice() -> None:
    typed = f"{REJECT[1].words} On line 3."
    assert with_quick_reason("reject-harm", typed) == ("reject", typed)
