"""Tests for the daily sums of calls and costs, which are written when attempts end and always equal a recount."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from pipeline import services
from pipeline.costs.daily_spending import add_spending, recount_spending
from pipeline.execution import run_worker
from pipeline.ledger import model_calls
from pipeline.ledger.model_calls import OpenedAttempt
from pipeline.llm.types import Answered, Failed, FailureKind, Target, Usage
from pipeline.models import Attempt, Batch, Endpoint, Price, Run, Spending
from pipeline.scheduling import run_leases
from pipeline.simulation.clean_run import clean_run
from tests.pipeline.rows import make_call, queue_run
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db

MESSAGE: dict[str, object] = {
    "content": [{"type": "text", "text": "It lists files."}],
    "stop_reason": "end_turn",
}
ANSWER = Answered(MESSAGE, Usage(1_000, 200), "req_1", 2_400)
TOO_SLOW = Failed(FailureKind.TIMEOUT, "too slow", possibly_billed=True, milliseconds=9_000)
REFUSED = Failed(FailureKind.REFUSED, "no such model", http_status=404, milliseconds=80)


def open_try(
    run: Run, *, stage: str = "describe", model: str = "claude-sonnet-5-5"
) -> OpenedAttempt:
    """Open an attempt of a new call under the run's current fence."""
    call = make_call(
        run, stage, round=run.calls.count(), endpoint="claude", model=model, fence=run.fence
    )
    attempt = Attempt.objects.create(call=call, number=1, fence=run.fence)
    return OpenedAttempt(call, attempt, Target("claude", "http://127.0.0.1:9", "key", 1.0), {})


def settle_attempts(run: Run, *ends: Answered | Failed, **about: str) -> None:
    """Settle attempts of a run with these results, as a worker would."""
    lease = run_leases.claim(run.pk)
    run.refresh_from_db()
    for ended in ends:
        model_calls.settle_attempts(lease, [(open_try(run, **about), ended)])
    run_leases.release(lease)


def lose_worker(run: Run) -> None:
    """Open an attempt, simulate the death of its worker, and let the next worker claim the run."""
    assert run_leases.claim(run.pk) is not None
    run.refresh_from_db()
    open_try(run, stage="similarity")
    Run.objects.filter(pk=run.pk).update(lease_until=datetime(2026, 1, 1, tzinfo=UTC))
    lease = run_leases.claim(run.pk)
    run_leases.release(lease)


def kept() -> set[tuple[object, ...]]:
    names = [field.attname for field in Spending._meta.concrete_fields if field.name != "id"]
    return set(Spending.objects.values_list(*names))


def test_answered_failed_lost_and_unpriced_tries_are_summed_by_what_they_were() -> None:
    batch = Batch.objects.create(name="Study")
    settle_attempts(queue_run(batch=batch), ANSWER, ANSWER, TOO_SLOW)
    run = queue_run()
    settle_attempts(run, ANSWER, model="nobody-knows-1")
    settle_attempts(run, REFUSED)
    lose_worker(run)
    study = Spending.objects.get(batch=batch)
    assert (study.stage, study.model) == ("describe", "claude-sonnet-5-5")
    assert (study.attempts, study.answered, study.possibly_billed, study.unpriced) == (3, 2, 1, 0)
    assert (study.input_tokens, study.output_tokens) == (2_000, 400)
    # twice 1,000 tokens at 2 dollars per million and 200 tokens at 10 dollars per million
    assert (study.cost, study.milliseconds) == (8_000, 2 * 2_400 + 9_000)
    unknown = Spending.objects.get(model="nobody-knows-1")
    assert (unknown.answered, unknown.unpriced, unknown.cost) == (1, 1, 0)
    lost = Spending.objects.get(stage="similarity")
    assert (lost.attempts, lost.answered, lost.possibly_billed, lost.cost) == (1, 0, 1, 0)
    assert recount_spending() == 0, "a recount gives the same"


def test_a_try_that_is_under_way_is_not_counted_yet() -> None:
    open_try(queue_run())
    assert recount_spending() == 0
    assert not Spending.objects.exists()


def test_a_worker_that_lost_its_run_counts_nothing_twice() -> None:
    run = queue_run()
    lease = run_leases.claim(run.pk)
    run.refresh_from_db()
    opened = open_try(run)
    services.cancel_run(run, by=None)
    with pytest.raises(run_leases.LostLease):
        model_calls.settle_attempts(lease, [(opened, ANSWER)])
    row = Spending.objects.get()
    assert (row.attempts, row.answered, row.possibly_billed) == (1, 0, 1)
    assert recount_spending() == 0


def test_the_day_is_that_of_the_end_in_utc() -> None:
    run = queue_run()
    lose_worker(run)
    moment = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    Attempt.objects.update(started_at=moment, ended_at=moment)
    assert recount_spending() == 2, "one row too many, one missing"
    assert str(Spending.objects.get().day) == "2026-03-01"


def test_a_run_from_start_to_end_is_counted_whole(standin: StandIn) -> None:
    standin.faults({"kind": "status", "status": 500, "task": "describe"})
    run_worker.run_to_end(queue_run().pk, give_up_after=60)
    by_stage = dict(Spending.objects.values_list("stage", "attempts"))
    assert by_stage == Counter(clean_run().asked) + Counter(describe=1), "one was tried twice"
    assert set(Spending.objects.values_list("cost", "unpriced")) == {(0, 0)}, "the demo is free"
    assert recount_spending() == 0


def test_the_command_mends_what_is_wrong_and_says_so() -> None:
    settle_attempts(queue_run(), ANSWER)
    right = kept()
    Spending.objects.update(cost=1)
    for expected in ("1 rows were corrected", "All rows were correct"):
        said = StringIO()
        call_command("recount_spending", stdout=said)
        assert expected in said.getvalue()
    assert kept() == right


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_writers_at_once_and_a_recount_between_them_lose_nothing() -> None:
    batch = Batch.objects.create(name="Study")
    runs = [queue_run(batch=batch if number % 2 else None) for number in range(6)]
    problems: list[BaseException] = []

    def work(what: Callable[[], object]) -> None:
        try:
            what()
        except BaseException as error:
            problems.append(error)
        finally:
            connection.close()

    def write(run: Run) -> Callable[[], None]:
        def tries() -> None:
            settle_attempts(run, ANSWER, TOO_SLOW, ANSWER)
            lose_worker(run)
            settle_attempts(run, REFUSED, model="nobody-knows-1")

        return tries

    jobs = [*(write(run) for run in runs), recount_spending, recount_spending]
    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert problems == []
    assert sum(Spending.objects.values_list("attempts", flat=True)) == 6 * 5
    assert recount_spending() == 0


def test_no_runs_need_no_query(django_assert_num_queries: Callable[[int], object]) -> None:
    with django_assert_num_queries(0):
        add_spending([])


def test_prices_hold_from_their_day_on() -> None:
    claude = Endpoint.objects.get(name="claude")
    for since, price in (("2020-01-01", 1_000_000), ("2999-01-01", 9_000_000)):
        Price.objects.create(endpoint=claude, model="own", since=since, input=price, output=0)
    settle_attempts(queue_run(), ANSWER, model="own")
    assert Spending.objects.get(model="own").cost == 1_000
    assert str(Attempt.objects.get(call__model="own").price_since) == "2020-01-01"
