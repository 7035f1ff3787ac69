"""Tests that after a score, only the opened parts are shown. All other parts must be equal byte by byte."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from review import services
from review.models import Flag, Item, Score
from tests.people import make_person
from tests.review.blinding import rewriting
from tests.review.blinding.asks import addresses_about
from tests.review.blinding.parts import Part
from tests.review.blinding.twins import Side, compare
from tests.review.desk.test_desk import score_next, script_of
from tests.review.maker import ClientFor

pytestmark = pytest.mark.django_db

PAGE, API = r"/items/\d+/(\?.*)?", r"/api/v1/items/\d+/"
FEEDBACK = (
    Part(PAGE, element='id="model-feedback"'),
    # The reviewer's own feedback can start from the model's feedback.
    Part(PAGE, element='id="own-feedback"'),
    Part(API, place="feedback.text"),
)
REFINED = (
    Part(PAGE, element='class="diff"'),
    Part(PAGE, element='class="diff diff-side"'),
    Part(API, place="drafts.1.script"),
    Part(API, place="drafts.1.sha256"),
    # The page token is computed from the scripts on the page.
    Part(API, place="shown"),
)
VERDICT = (Part(PAGE, element='id="assessment"'), Part(API, place="assessment"))
# The score also opens the item's run, which shows all stages with their times and costs.
RUN = (
    Part(r"/runs/\d+/(status/|calls/)?"),
    Part(r"/api/v1/runs/\d+/"),
    Part(r"/api/v1/drafts/\d+/"),
)
# Lists of actions show their results and the assessor's criticism.
ANSWER = (Part(r"/actions/(\d+/)?"), Part(r"/api/v1/actions/(\d+/)?"))
# If no further stage opens, the item is finished. The reviewer's own work and the available items show this.
OWN_WORK = (Part("/"), Part("/queue/"), Part(r"/studies/(\d+/)?"), Part("/api/v1/scores/pace/"))


@pytest.fixture
def both(studied: Item, reviewer: User) -> Item:
    """Return the study's item after it was claimed, with another reviewer's scores, remarks and flag."""
    other = User.objects.get(username="olga")
    services.claim_item(studied, by=other)
    services.add_remark(studied, draft=script_of(studied), line=1, text="Hm", by=other)
    Flag.objects.create(item=studied, by=other, reason="Odd")
    for value in (0, 2, 2):
        score_next(studied, other, value)
    services.claim_item(studied, by=reviewer)
    return studied


def hidden_side(item: Item) -> Side:
    """Return a database that differs in the data that a study hides from its reviewers at every stage."""

    def rewrite() -> None:
        rewriting.score_by_others(item)
        rewriting.play_by_others(item)
        rewriting.make_it_gold(item)
        # A study that hides execution shows its reviewers no results until it is closed.
        rewriting.run_its_cases(item)

    return Side("others, arm, model, gold, execution", rewrite)


def opened_sides(item: Item, scored: int) -> list[Side]:
    """Return the parts that the stages show after `scored` scores, and the parts that must stay hidden."""

    def hide() -> None:
        rewriting.pass_and_explain_it(item)
        if scored == 1:
            rewriting.refine_otherwise(item)

    if scored == 1:
        # The verdict would reveal which feedback is sham, so it stays hidden. The refined script also stays hidden.
        feedback = Side("feedback", lambda: rewriting.explain_otherwise(item), may_show=FEEDBACK)
        return [Side("verdict, assessment, refined script, sham, times, costs", hide), feedback]
    if scored == 2:
        refined = Side("refined", lambda: rewriting.refine_otherwise(item), may_show=REFINED)
        return [Side("verdict, assessment, sham, times", hide), refined]
    # Only the item's own page shows the assessment. The run, the lists and other items do not.
    return [Side("verdict", hide, may_show=VERDICT)]


@pytest.mark.slow
@pytest.mark.parametrize("scored", [1, pytest.param(2, marks=pytest.mark.nightly), 3])
def test_a_study_with_scores_shows_only_what_they_opened(
    both: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch, scored: int
) -> None:
    """Only a comparison of all addresses finds a page that shows a part one stage too early."""
    for value in (0, 2, 2)[:scored]:
        score_next(both, reviewer, value)
    compared = compare(
        monkeypatch,
        client_for(reviewer),
        addresses_about(both),
        hidden_side(both),
        *opened_sides(both, scored),
    )
    print(f"study, {scored} scored: {compared} compared, 0 differences but what is shown")
    assert compared >= 20


@pytest.mark.slow
def test_the_live_queue_with_the_script_scored(
    live: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict and the run are visible, but the next item's verdict and other reviewers' scores are not."""
    other = make_person("olga", "reviewer")
    assignment = services.claim_item(live, by=other)
    services.add_remark(live, draft=script_of(live), line=1, text="Hm", by=other)
    score_next(live, other, 0)
    services.give_back(assignment, state=assignment.State.SKIPPED, why="Not my field")
    services.claim_item(live, by=reviewer)
    score_next(live, reviewer, 0)
    following = Item.objects.filter(pk__gt=live.pk).earliest("pk")

    def rewrite() -> None:
        rewriting.score_by_others(live)
        rewriting.pass_it(following)

    def say_otherwise() -> None:
        rewriting.say_otherwise(live)
        rewriting.explain_otherwise(live)

    compared = compare(
        monkeypatch,
        client_for(reviewer),
        addresses_about(live),
        Side("others, and the next item", rewrite),
        Side("assessment, feedback", say_otherwise, may_show=(*VERDICT, *FEEDBACK, *RUN, *ANSWER)),
    )
    print(f"review queue, scored: {compared} requests compared, 0 differences but what is shown")
    assert compared >= 20


@pytest.mark.slow
def test_whether_more_opens_shows_at_the_item_and_in_ones_own_work(
    both: Item, reviewer: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script with a score of 2 continues if it was flagged. The run, the other items and the lists must not show
    this."""

    def pass_it() -> None:
        Score.objects.filter(item=both, stage__in=["feedback", "refined"]).delete()
        rewriting.pass_it(both)
        score_next(both, reviewer, 2)

    compared = compare(
        monkeypatch,
        client_for(reviewer),
        addresses_about(both),
        Side("flagged", pass_it, may_show=(Part(PAGE, element='id="desk"'), Part(API), *OWN_WORK)),
        begin=lambda: score_next(both, reviewer, 2),
    )
    print(f"study, scored 2: {compared} requests compared, 0 differences but what is shown")
    assert compared >= 20
