"""Run a study through Message Batches, kill its worker, and compare the ledger with the model's log."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from django.contrib.auth.models import User

from pipeline import services
from pipeline.models import Configuration, Endpoint, Price
from review.campaigns.services import editing, rules, runs
from tests.flow.storm import Storm, wait_until
from tests.standin_process import ROOT

NAME = "Through batches"
# Prices are in micro-dollars per million tokens.
INPUT, OUTPUT = 2_000_000, 10_000_000
# The second batch expires after the model has answered this many of its requests.
EXPIRES: dict[str, object] = {"kind": "expire", "task": "batch_create", "skip": 1, "answered": 5}

_REPORT = f"""
import django, json
django.setup()
from review.models import Campaign
from review.report.services import make_report
print(json.dumps(make_report(Campaign.objects.get(name={NAME!r}))["details"]["costs"]))
"""


@dataclass(frozen=True)
class Books:
    """The study's results in the product's database and in the model's log."""

    items: dict[str, int]  # number of items in each state
    batches: int
    expired: int  # requests in batches that expired
    answered: int  # calls with an answer
    answered_twice: int
    billed: int  # requests that the model answered
    billed_twice: int  # requests that the model answered more than once
    unknown: int  # requests that the model answered but that are not in the ledger
    created_twice: int  # batches that the model has but that are not in the ledger
    paid: int  # micro-dollars in the report
    full_price: float  # micro-dollars for the tokens that the model counted


def prepare_study(items: int, *, by: User) -> None:
    """Create a study and request its runs at an endpoint with batches and a price."""
    endpoint = Endpoint.objects.get(name="demo")
    Endpoint.objects.filter(pk=endpoint.pk).update(has_batches=True, timeout_seconds=20)
    Price.objects.filter(endpoint=endpoint).delete()
    for model in ("demo-smith", "demo-smith-2"):
        Price.objects.create(
            endpoint=endpoint, model=model, since=date(2026, 1, 1), input=INPUT, output=OUTPUT
        )
    study = rules.create_campaign(NAME, by=by, rules=rules.Rules(uses_message_batches=True))
    actions = [
        services.ask(f"Count the files in /var/tmp/batches/{number}", by=by)
        for number in range(items)
    ]
    editing.add_actions(study, actions, by=by)
    study.configurations.set([Configuration.objects.get(is_default=True)])
    runs.ask_for_runs(study, by=by)
    runs.start_asked(study)


def carry_through(product: Storm, *, seconds: float) -> Books:
    """Kill the worker during a batch and again while it reads results, then wait until all items are prepared."""

    def count(query: str) -> int:
        return int(str(product.ask(query)[0][0]))

    sent = "SELECT count(*) FROM pipeline_messagebatch WHERE state = 'in_progress'"
    wait_until(lambda: count(sent) > 0, seconds=seconds, what="a batch under way")
    product.kill_worker()
    read = (
        "SELECT count(*) FROM pipeline_attempt attempt JOIN pipeline_messagebatch batch"
        " ON batch.id = attempt.message_batch_id"
        " WHERE attempt.outcome = 'answered' AND batch.state IN ('in_progress', 'ended')"
    )
    wait_until(lambda: count(read) > 0, seconds=seconds, what="results being read")
    product.kill_worker()
    left = "SELECT count(*) FROM review_item WHERE state = 'preparing'"
    wait_until(lambda: count(left) == 0, seconds=seconds, what="the end of all items")
    return _books(product)


def _books(product: Storm) -> Books:
    log = _log_lines(product)
    asked = Counter(line["custom_id"] for line in log if line["billed"] and line["custom_id"])
    known = {str(key) for (key,) in product.ask("SELECT key FROM pipeline_modelcall")}
    ours = {name for (name,) in product.ask("SELECT remote_id FROM pipeline_messagebatch")}
    theirs = {line["batch"] for line in log if line["task"] == "batch_create" and line["batch"]}
    [(batches, expired)] = product.ask(
        "SELECT count(*), coalesce(sum(expired), 0) FROM pipeline_messagebatch"
    )
    [(answered, calls)] = product.ask(
        "SELECT count(*), count(DISTINCT call_id) FROM pipeline_attempt WHERE outcome = 'answered'"
    )
    totals = product.standin.totals()
    return Books(
        items={
            str(state): int(str(count))
            for state, count in product.ask(
                "SELECT state, count(*) FROM review_item GROUP BY state"
            )
        },  # fmt: skip
        batches=int(str(batches)),
        expired=int(str(expired)),
        answered=int(str(calls)),
        answered_twice=int(str(answered)) - int(str(calls)),
        billed=totals["billed"],
        billed_twice=sum(count > 1 for count in asked.values()),
        unknown=len(asked.keys() - known),
        created_twice=len(theirs - ours),
        paid=_paid(product),
        full_price=(INPUT * totals["input_tokens"] + OUTPUT * totals["output_tokens"]) / 1_000_000,
    )


def _log_lines(product: Storm) -> list[dict[str, str]]:
    lines = Path(product.standin_log).read_text().splitlines()
    return [json.loads(line) for line in lines]


def _paid(product: Storm) -> int:
    """Return the cost in the study's report, in micro-dollars."""
    done = subprocess.run(
        [sys.executable, "-c", _REPORT],
        cwd=ROOT,
        env=product.environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    costs = json.loads(done.stdout)
    return sum(int(one["micro_dollars"]) for one in costs.values())
