"""Tests that the counters at /metrics are summed over processes, safe to fork, optional and independent of verdicts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from catalog.evidence import services as evidence
from catalog.models import CaseRun
from core import metrics
from pipeline.ledger.attempt_metrics import count_attempts
from pipeline.ledger.attempt_store import Closed
from pipeline.llm.types import Answered, Usage
from pipeline.models import Run
from review.models import Item
from scriptsmith_site.models import Event
from scriptsmith_site.operation.counting import count_settled
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.catalog.evidence.conftest import cases_text
from tests.catalog.shelf import shelve
from tests.make import make_run
from tests.review.maker import make_study

ROOT = settings.BASE_DIR
Samples = Mapping[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def scrape(client: Client, administrator: User) -> Callable[[], str]:
    made = make_token(
        administrator, name="prometheus", scopes=["metrics"], days=None, by=administrator
    )

    def ask() -> str:
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {made.secret}"})
        assert answer.status_code == 200
        return answer.content.decode()

    return ask


def samples(text: str) -> Samples:
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def counted(name: str, **labels: str) -> float:
    """Return the current count for these labels."""
    key = (name, tuple(sorted(labels.items())))
    found = {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for metric in metrics.collect()
        for one in metric.samples
    }
    return found.get(key, 0.0)


@pytest.mark.slow
def test_requests_are_counted_by_status(client: Client, scrape: Callable[[], str]) -> None:
    """The middleware counts requests, and another view reads the counts from files."""
    before = counted("scriptsmith_http_requests_total", view="healthz", status="2xx")
    unknown = counted("scriptsmith_http_requests_total", view="none", status="4xx")
    client.get("/healthz")
    client.get("/no/such/address/of/alice/")
    after = samples(scrape())
    assert (
        after["scriptsmith_http_requests_total", (("status", "2xx"), ("view", "healthz"))]
        == before + 1
    )
    assert (
        after["scriptsmith_http_requests_total", (("status", "4xx"), ("view", "none"))]
        == unknown + 1
    )
    assert "alice" not in scrape()


def run_lines(lines: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run this Python code in a process that stores its counts in this folder."""
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)}
    command = [sys.executable, "-c", lines]
    return subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )


@pytest.mark.slow
def test_processes_are_added_up(tmp_path: Path) -> None:
    """Count in a parent and in a child that it forks, as gunicorn does after loading the product."""
    lines = """
import os, sys
from core import metrics
metrics.count(metrics.RUNS, "asked", "done")
child = os.fork()
if child == 0:
    metrics.count(metrics.RUNS, "asked", "done")
    metrics.count(metrics.RUNS, "asked", "done")
    os._exit(0)
os.waitpid(child, 0)
metrics.forget_process(child)
print(sum(s.value for m in metrics.collect() for s in m.samples if s.name == "scriptsmith_runs_total"))
metrics.empty_folder()
print(len(os.listdir(os.environ["PROMETHEUS_MULTIPROC_DIR"])))
"""
    done = run_lines(lines, tmp_path / "metrics")
    assert done.stdout.split() == ["3.0", "0"], done.stderr


def test_what_cannot_be_counted_stops_nothing(tmp_path: Path) -> None:
    lines = """
from core import metrics
metrics.count(metrics.RUNS, "asked", "done")
metrics.observe(metrics.HTTP_SECONDS, 0.1, "GET")
print("went on")
"""
    (tmp_path / "metrics").write_text("a file, where the folder should be")
    done = run_lines(lines, tmp_path / "metrics")
    assert done.stdout == "went on\n"
    assert done.stderr.count("not recorded") == 1


def _attempt(pk: int, stage: str, *, round: int = 0) -> tuple[object, object, Answered]:
    call = SimpleNamespace(
        stage=stage, round=round, refinement_id=None, endpoint=SimpleNamespace(name="counted")
    )
    ended = Answered(message={}, usage=Usage(), milliseconds=1500)
    return call, SimpleNamespace(pk=pk, message_batch_id=None), ended


def test_attempts_are_counted_once_and_with_their_time() -> None:
    tries = [_attempt(1, "generate"), _attempt(2, "refine", round=1)]
    before = counted("scriptsmith_attempts_total", endpoint="counted", result="answered")
    count_attempts(Closed(None, [1, 2]), tries)
    count_attempts(Closed(None, []), tries)
    after = counted("scriptsmith_attempts_total", endpoint="counted", result="answered")
    assert after - before == 2
    assert counted("scriptsmith_model_call_seconds_sum", endpoint="counted") >= 3.0


def _asked_in_a_study(flagged: bool) -> Iterator[tuple[object, object, Answered]]:
    """Yield the model calls of one item. A flagged script has more calls."""
    yield from (_attempt(pk, stage) for pk, stage in enumerate(["generate", "describe"]))
    yield from (_attempt(pk, stage) for pk, stage in ((2, "similarity"), (3, "difference")))
    if flagged:
        yield _attempt(4, "explain")
        yield _attempt(5, "refine", round=1)
        yield _attempt(6, "describe", round=1)


@pytest.mark.slow
def test_a_study_s_verdicts_change_nothing(
    reviewer: User, curator: User, manager: User, scrape: Callable[[], str]
) -> None:
    """Compare two databases with the same study. In one, every script is flagged and refined, and in the other, none
    is."""
    study = make_study(by=manager, reviewers=[reviewer], items=3, overlap=1, name="Blind")
    cases = evidence.add_cases(shelve().entry, cases_text(), by=curator).case_set
    CaseRun.objects.all().delete()  # a waiting run would change the metric for the age of waiting work
    Event.objects.update(distributed_at=timezone.now())  # undistributed events would change it too
    seen = []
    for flagged in (False, True):
        items = Item.objects.filter(campaign=study).select_related("run")
        for item in items:
            Run.objects.filter(pk=item.run.pk).update(
                verdict="incorrect" if flagged else "correct", origin="campaign"
            )
        before = samples(scrape())
        for item in items:
            tries = list(_asked_in_a_study(flagged))
            closed = Closed(1, list(range(len(tries))))
            count_attempts(closed, tries)
            count_settled(item.run_id or 0)
            if flagged:
                CaseRun.objects.create(
                    script="x",
                    script_sha256=f"{item.pk:064d}",
                    case_set=cases,
                    purpose="draft",
                    state="done",
                )
        after = samples(scrape())
        seen.append(
            {
                key: value - before.get(key, 0.0)
                for key, value in after.items()
                if "http_" not in key[0] and "created" not in key[0]
            }
        )
    assert seen[0] == seen[1]
    assert any(value for value in seen[0].values()), "nothing was counted at all"


def _counted_on_items() -> dict[tuple[str, str], float]:
    return {
        (one.labels["view"], one.labels["status"]): one.value
        for metric in metrics.collect()
        for one in metric.samples
        if one.labels.get("view", "").startswith("item-") and one.labels["status"] != "5xx"
    }


def test_review_failures_are_counted(reviewer: User, manager: User, as_reviewer: Client) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=1, overlap=1, name="Blind")
    item = Item.objects.get(campaign=study)
    before = counted("scriptsmith_http_request_seconds_count", method="GET")
    on_items = _counted_on_items()
    assert as_reviewer.get(f"/items/{item.pk}/").status_code in (200, 302, 404)
    assert _counted_on_items() == on_items
    assert counted("scriptsmith_http_request_seconds_count", method="GET") - before <= 1


def test_labels_hold_no_private_data(scrape: Callable[[], str], stranger: User) -> None:
    make_run(statement="Delete the secret folder of zoe", by=stranger)
    text = scrape()
    assert "zoe" not in text and stranger.username not in text
    labels = {name for _sample, pairs in samples(text) for name, _value in pairs}
    assert labels <= {
        "endpoint", "kind", "le", "method", "origin", "outcome", "part", "queue", "result", "state",
        "status", "tool", "version", "view",
    }  # fmt: skip


def test_a_scrape_asks_a_fixed_number_of_questions(
    scrape: Callable[[], str],
    stranger: User,
    django_assert_max_num_queries: Callable[[int], object],
) -> None:
    for number in range(3):
        make_run(statement=f"Do {number}", by=stranger)
    with django_assert_max_num_queries(30):
        scrape()


def _used_names() -> set[str]:
    """Return every metric that the documented dashboard and the alert rules use."""
    dashboard = json.loads((ROOT / "docs/monitoring/dashboard.json").read_text())
    expressions = [
        target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())
    ]
    rules = yaml.safe_load((ROOT / "docs/monitoring/alerts.yaml").read_text())
    expressions += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    assert len(expressions) > 10
    return {name for one in expressions for name in re.findall(r"\bscriptsmith_\w+", one)}


def test_dashboard_and_rules_ask_for_what_there_is(scrape: Callable[[], str]) -> None:
    known = set()
    for family in text_string_to_metric_families(scrape()):
        suffixes = {
            "counter": ["_total"],
            "histogram": ["_bucket", "_count", "_sum"],
            "gauge": [""],
        }[family.type]
        known |= {f"{family.name}{suffix}" for suffix in suffixes}
    assert _used_names() <= known


def test_promtool_takes_metrics_and_rules(scrape: Callable[[], str]) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("there is no promtool on the PATH: it is in Debian's package prometheus")
    rules = subprocess.run(
        [program, "check", "rules", str(ROOT / "docs/monitoring/alerts.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert rules.returncode == 0, rules.stdout + rules.stderr
    read = subprocess.run(
        [program, "check", "metrics"], input=scrape(), capture_output=True, text=True, check=False
    )
    # Exit code 3 reports naming advice, which we do not follow.
    assert read.returncode in (0, 3), read.stdout + read.stderr
