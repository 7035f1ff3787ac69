"""Rewrite the columns and rows whose values a blinded reviewer must not learn."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from catalog.models import CaseRun, CaseSet, CheckResult, Execution, Version
from catalog.services import keep_case_set
from pipeline.models import (
    Assessment,
    Attempt,
    Configuration,
    Draft,
    Endpoint,
    Feedback,
    ModelCall,
    Run,
    Stage,
    WrittenCases,
)
from review.evidence.campaign_cases import fix_cases
from review.models import Case, Flag, Item, Remark, Score
from tests.catalog.execution.cases.writing import case_data, make_set


def add_work(run: Run) -> None:
    """Add stages, calls and costs, as a model's run would."""
    endpoint = Endpoint.objects.get(name="demo")
    for number, stage in enumerate(("generate", "describe", "difference", "explain", "refine")):
        Stage.objects.create(
            run=run, sequence=number, name=stage, state="done", milliseconds=1_000 + number
        )
        call = ModelCall.objects.create(
            key=f"{run.pk}-{stage}", run=run, stage=stage, endpoint=endpoint, model="demo-smith",
            prompt=stage, prompt_version="1", request={}, reply={}, state="done",
        )  # fmt: skip
        Attempt.objects.create(
            call=call, number=1, fence=1, ended_at=timezone.now(), outcome="answered",
            input_tokens=700, output_tokens=90, cost=4_000,
        )  # fmt: skip


def pass_it(item: Item) -> None:
    """Make the assessor pass the script, without feedback and refined draft, and change the work, times and texts."""
    run = item.run
    first = run.drafts.order_by("number").first()
    refined = run.drafts.exclude(pk=first.pk)
    Run.objects.filter(pk=run.pk).update(
        verdict="correct",
        recommended=first,
        started_at=timezone.now() - timedelta(hours=5),
        finished_at=timezone.now() - timedelta(hours=4, minutes=59),
    )
    Assessment.objects.filter(draft__in=refined).delete()
    Draft.objects.filter(pk__in=[one.pk for one in refined]).delete()
    Feedback.objects.filter(draft=first).delete()
    Assessment.objects.filter(draft=first).update(
        verdict="correct", functionality="Something else.", similarity="match", difference="match",
        differences=[], model="another", prompt_versions={},
    )  # fmt: skip
    Draft.objects.filter(pk=first.pk).update(
        model="another", prompt_version="zz", note="said otherwise"
    )
    Stage.objects.filter(run=run, name__in=["explain", "refine"]).delete()
    Stage.objects.filter(run=run).update(milliseconds=17)
    ModelCall.objects.filter(run=run, stage__in=["explain", "refine"]).delete()
    Attempt.objects.filter(call__run=run).update(cost=1, input_tokens=1)
    Item.objects.filter(pk=item.pk).update(created_at=timezone.now() - timedelta(hours=3))


def mask_what_left_it(item: Item) -> None:
    """Change how secrets were sent: the run sends them, its calls masked some, and a model confirmed its match."""
    run = item.run
    spec = {**run.spec, "confirms_matches": True}
    Run.objects.filter(pk=run.pk).update(secrets="send", match_confirmed_by="another", spec=spec)
    ModelCall.objects.filter(run=run).update(masked=["AWS access key", "GitHub token"])
    Configuration.objects.filter(pk=run.configuration_id).update(confirms_matches=True)
    Stage.objects.filter(run=run, name="describe").update(name="entry_text")


def pass_and_explain_it(item: Item) -> None:
    """Make the assessor pass the script, but keep its sham feedback and its rewritten script."""
    run = item.run
    first = run.drafts.get(number=1)
    Item.objects.filter(pk=item.pk).update(sham=True)
    Run.objects.filter(pk=run.pk).update(verdict="correct", recommended=first)
    say_otherwise(item)
    Draft.objects.filter(run=run).update(model="another", prompt_version="zz", note="said so")
    Stage.objects.filter(run=run).update(milliseconds=17)
    Attempt.objects.filter(call__run=run).update(cost=1, input_tokens=1)
    Run.objects.filter(pk=run.pk).update(
        started_at=timezone.now() - timedelta(hours=5), finished_at=timezone.now()
    )


def say_otherwise(item: Item) -> None:
    """Change the assessor's verdicts and texts for both scripts."""
    for draft, verdict in zip(_drafts_of(item), ("correct", "incorrect"), strict=True):
        Assessment.objects.filter(draft=draft).update(
            verdict=verdict, functionality="Something else.", similarity="match", similarity_reason="Alike",
            difference="match", difference_reason="None", differences=[], model="another",
        )  # fmt: skip


def explain_otherwise(item: Item) -> None:
    """Change the text of the feedback."""
    Feedback.objects.filter(draft__run=item.run).update(text="- Paths are longer.\n- Quote them.")


def refine_otherwise(item: Item) -> None:
    """Change the text of the refined script."""
    refined = _drafts_of(item)[1]
    script = "find /srv -ipath '*X*' -print\n"
    Draft.objects.filter(pk=refined.pk).update(script=script, sha256=Version.hash_of(script))


def score_by_others(item: Item) -> None:
    """Change the scores and remarks of other reviewers, and the reviewer who has claimed the item."""
    Score.objects.filter(item=item, reviewer__username="olga").update(value=1, comment="Otherwise")
    Remark.objects.filter(item=item, by__username="olga").update(text="Otherwise")
    Flag.objects.filter(item=item).delete()


def _drafts_of(item: Item) -> list[Draft]:
    return list(item.run.drafts.order_by("number"))


def play_by_others(item: Item) -> None:
    """Move the item to another arm: a configuration without the demo model, with an imported script."""
    run = item.run
    other = Configuration.objects.exclude(pk=item.configuration_id).exclude(name="imported").first()
    assert other is not None
    Run.objects.filter(pk=run.pk).update(
        configuration=other,
        demo=not run.demo,
        origin="imported",
        asked_by=None,
        created_at=timezone.now() - timedelta(days=9),
    )
    run.drafts.filter(number=1).update(kind="imported", model="")
    Item.objects.filter(pk=item.pk).update(configuration=other)


def make_it_gold(item: Item) -> None:
    """Make the item a sham gold item for every reviewer, with an execution result."""
    Case.objects.filter(pk=item.case_id).update(
        purpose="gold", known={"script": 2, "why": "Because"}
    )
    Item.objects.filter(pk=item.pk).update(
        overlap=32_767, places=32_000, execution=0.25, execution_reason="too_strict",
        sham=not item.sham,
    )  # fmt: skip


def repair_first(item: Item) -> None:
    """Make the first draft unparsable, so that the repaired second draft is under review."""
    run = item.run
    first = run.drafts.get(number=1)
    run.drafts.exclude(pk=first.pk).update(number=7)
    Draft.objects.filter(pk=first.pk).update(number=2, kind="repaired")
    Draft.objects.create(
        run=run, number=1, kind="generated", script="if\n", sha256="0" * 64, model="another"
    )


def show_again(item: Item, *, as_what: str, original: Item) -> None:
    """Make the item a repeat of another item, or a check of a refined script."""
    Case.objects.filter(pk=item.case_id).update(purpose=as_what, repeats=original.case_id)
    Item.objects.filter(pk=item.pk).update(again=as_what)


def make_refined_first(item: Item) -> None:
    """Turn a halo check into a plain first script, with the same text in the same draft."""
    run = item.run
    first, refined = run.drafts.order_by("number")
    Run.objects.filter(pk=run.pk).update(recommended=refined, verdict="correct")
    Draft.objects.filter(pk=refined.pk).update(
        kind="imported", parent=None, feedback=None, round=0, number=9
    )
    Feedback.objects.filter(draft=first).delete()
    Assessment.objects.filter(draft=first).delete()
    first.delete()
    Draft.objects.filter(pk=refined.pk).update(number=1, kind="generated")
    Case.objects.filter(pk=item.case_id).update(purpose="real", repeats=None)
    Item.objects.filter(pk=item.pk).update(again="")


def run_its_cases(item: Item) -> None:
    """Run every script of the item in failing sandbox tests. One more run is in progress."""
    run = item.run
    statement = run.action.statement
    case = case_data(
        {"check": "removed", "exactly": []},
        {"check": "exit_status", "equals": 0},
        about=statement[:400],
        title="TELLTALE world",
    )
    case_set = keep_case_set(make_set(case, statement=statement), by=None)
    fix_cases(item.campaign)
    for draft in run.drafts.all():
        execution = Execution.objects.create(
            script_sha256=draft.sha256, case_set=case_set, state="failed", passed=1, failed=1, worlds=1,
            fingerprint={"bash": "5.2"}, document={"sentence": "TELLTALE sentence", "worlds": [], "quality": None},
        )  # fmt: skip
        states = ("failed", "passed") if draft.number == 1 else ("passed", "passed")
        for number, state in enumerate(states, 1):
            CheckResult.objects.create(
                execution=execution, case_number=1, number=number, case_title="TELLTALE world",
                sentence=f"TELLTALE check {number}", state=state, got="TELLTALE got",
            )  # fmt: skip
        CaseRun.objects.create(
            script=draft.script, script_sha256=draft.sha256, case_set=case_set, purpose="draft"
        )


def write_cases_for_it(item: Item) -> None:
    """Add sandbox tests to the item's run, with more stages, calls, time and cost, and a new recommended draft."""
    run = item.run
    run_its_cases(item)
    case_set = CaseSet.objects.get(statement=run.action.statement)
    Run.objects.filter(pk=run.pk).update(spec=run.spec | {"cases": "feedback"})
    WrittenCases.objects.create(run=run, number=0, case_set=case_set, model="TELLTALE-author")
    endpoint = Endpoint.objects.get(name="demo")
    for number, stage in enumerate(("cases", "execute", "mend_cases", "refine_cases"), 50):
        Stage.objects.create(
            run=run, sequence=number, name=stage, state="done", milliseconds=70_000,
            outcome="fails", found="TELLTALE 1 of 2 checks hold", input_tokens=9_000,
        )  # fmt: skip
        if stage == "execute":
            continue
        call = ModelCall.objects.create(
            key=f"{run.pk}-{stage}", run=run, stage=stage, endpoint=endpoint,
            model="TELLTALE-author", prompt=stage, prompt_version="1", request={}, reply={},
            state="done",
        )  # fmt: skip
        Attempt.objects.create(
            call=call, number=1, fence=1, ended_at=timezone.now(), outcome="answered",
            input_tokens=9_000, output_tokens=900, cost=90_000,
        )  # fmt: skip
    first = run.drafts.order_by("number")[0]
    script = "echo TELLTALE revised\n"
    revised = Draft.objects.create(
        run=run, number=90, kind="revised", round=2, parent=first, script=script,
        sha256=Version.hash_of(script), model="TELLTALE-refiner",
    )  # fmt: skip
    Assessment.objects.create(draft=revised, script_sha256=revised.sha256, verdict="correct")
    Run.objects.filter(pk=run.pk).update(recommended=revised)
