"""Tests that an item's other reviewers score the result of an expert's feedback, after all stages of the model's
arm."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog.models import Version
from pipeline.models import Draft
from review import services
from review.blinding.item_view import open_item
from review.counting.tallies import count_due
from review.models import Assignment, Campaign, Item, Score
from review.report.services import make_report
from tests.keys import shown
from tests.review.maker import ClientFor, make_study
from tests.review.queue.test_studies import give

REWRITTEN = "find /srv -path '*zebra*'\n"


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    return make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1, overlap=2)


def write_feedback(item: Item, by: User, script: str = REWRITTEN) -> Draft:
    """Create this reviewer's feedback and the rewritten script, as a worker would."""
    made = services.send_feedback(item, text="- It has to look at the path.", by=by)
    draft = Draft.objects.create(
        run=item.run,
        number=item.run.drafts.count() + 1,
        kind="refined",
        script=script,
        sha256=Version.hash_of(script),
        round=1,
        arm="expert",
        feedback=made.feedback,
        parent=made.feedback.draft,
        refinement=made,
    )
    made.state = "done"
    made.save(update_fields=["state"])
    if item.assignments.filter(reviewer=by, state="waiting").exists():
        services.claim_item(item, by=by)
    return draft


def keys_of(item: Item, by: User) -> list[str]:
    return [one.key for one in open_item(Item.objects.get(pk=item.pk), by).steps]


def test_another_reviewer_scores_it_last_and_its_author_only_as_their_own(
    study: Campaign, manager: User, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    item = study.items.get()
    services.claim_item(item, by=reviewer)
    give(item, reviewer, 0, 2, 0)
    # The reviewer finishes all stages first, and writes the feedback while the scores can still be changed.
    draft = write_feedback(item, reviewer)
    assert keys_of(item, reviewer)[-1] == "refined-expert"
    give(item, reviewer, 2)

    services.claim_item(item, by=second_reviewer)
    client = client_for(second_reviewer)
    address = f"/items/{shown(item)}/"
    for value in (0, 2, 0):
        assert "refined-others" not in keys_of(item, second_reviewer)
        assert "zebra" not in client.get(address).text
        give(item, second_reviewer, value)
    assert keys_of(item, second_reviewer)[-1] == "refined-others"
    page = client.get(address).text
    assert "Rewritten from another expert’s feedback" in page and "zebra" in page
    assert reviewer.username not in page.partition("<main")[2]
    give(item, second_reviewer, 1)

    score = Score.objects.get(reviewer=second_reviewer, arm="expert")
    assert (score.draft, score.value, score.blind) == (draft, 1, True)
    assignment = Assignment.objects.get(item=item, reviewer=second_reviewer)
    assert assignment.state == Assignment.State.SUBMITTED
    count_due(study)
    (arm,) = make_report(study)["details"]["arms"]
    assert arm["partial"]["expert"]["change"]["items"] == 1
    assert arm["partial"]["expert"]["expert"]["numerator"] == 1


def test_experts_score_each_other(study: Campaign, reviewer: User, second_reviewer: User) -> None:
    item = study.items.get()
    drafts = {}
    for person in (reviewer, second_reviewer):
        services.claim_item(item, by=person)
        give(item, person, 0)
        drafts[person] = write_feedback(item, person, f"{REWRITTEN}# {person.username}\n")
    # The stages: feedback, refined, own expert arm, the other reviewer's expert arm.
    give(item, reviewer, 2, 0, 1, 2)
    give(item, second_reviewer, 2, 0, 1, 0)
    given = Score.objects.filter(arm="expert").order_by("pk")
    assert [(one.reviewer, one.draft, one.value) for one in given] == [
        (reviewer, drafts[reviewer], 1),
        (reviewer, drafts[second_reviewer], 2),
        (second_reviewer, drafts[second_reviewer], 1),
        (second_reviewer, drafts[reviewer], 0),
    ]
    # A corrected score replaces only the same reviewer's earlier value.
    services.submit_score(
        item,
        services.ScoreInput(
            stage="refined", arm="expert", value=1, seen=drafts[reviewer].pk, comment="After all."
        ),
        by=second_reviewer,
    )
    now = Score.objects.filter(arm="expert", reviewer=second_reviewer, current=True)
    assert {(one.draft_id, one.value) for one in now} == {
        (drafts[second_reviewer].pk, 1),
        (drafts[reviewer].pk, 1),
    }


def test_finished_expert_stays_out(study: Campaign, reviewer: User, second_reviewer: User) -> None:
    item = study.items.get()
    services.claim_item(item, by=second_reviewer)
    give(item, second_reviewer, 0, 2, 0)
    services.claim_item(item, by=reviewer)
    give(item, reviewer, 0)
    write_feedback(item, reviewer)
    assert keys_of(item, second_reviewer) == ["script-model", "feedback-model", "refined-model"]
    assert open_item(Item.objects.get(pk=item.pk), second_reviewer).next_step is None
