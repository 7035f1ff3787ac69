"""Tests that /metrics adds the counts of all web and worker processes, including killed processes."""

from __future__ import annotations

import os
import signal
import time
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.site_process import Site

_RUN = """
from django.contrib.auth.models import User
from pipeline import services
run = services.ask_and_run('list the files in /var/tmp', by=User.objects.get(username='rita'))
print('run', run.pk)
"""
_TOKEN = """
from django.contrib.auth.models import User
from scriptsmith_site.people.sign_in.tokens import make_token
adam = User.objects.get(username='adam')
print('token', make_token(adam, name='prometheus', scopes=['metrics'], days=1, by=adam).secret)
"""


def scrape(site: Site, token: str) -> dict[str, float]:
    """Scrape /metrics and return the sum of the samples of each name."""
    request = urllib.request.Request(
        f"{site.url}/metrics", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return samples_by_name(answer.read().decode())


def samples_by_name(text: str) -> dict[str, float]:
    """Return the sum of the samples of each name in a scrape."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            found[one.name] = found.get(one.name, 0.0) + one.value
    return found


def wait_for(site: Site, token: str, name: str, least: float) -> dict[str, float]:
    deadline = time.monotonic() + 90  # the worker may still be starting
    while (found := scrape(site, token)).get(name, 0.0) < least:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found


def test_what_web_and_worker_count_is_added_up(site: Site) -> None:
    token = site.run(_TOKEN).split("token ")[1].strip()
    before = scrape(site, token)
    site.run(_RUN)
    runs = before.get("scriptsmith_runs_total", 0.0)
    after = wait_for(site, token, "scriptsmith_runs_total", runs + 1)
    assert after["scriptsmith_attempts_total"] > before.get("scriptsmith_attempts_total", 0.0)
    assert after["scriptsmith_model_call_seconds_count"] == after["scriptsmith_attempts_total"]
    assert after["scriptsmith_http_requests_total"] > before["scriptsmith_http_requests_total"]
    assert after["scriptsmith_workers"] >= 1
    writers = {path.name.split("_")[1] for path in Path(site.data, "metrics").glob("counter_*.db")}
    assert len(writers) >= 2, "a web process and the worker have a file each"

    os.kill(site.child("scriptsmith worker"), signal.SIGKILL)
    assert scrape(site, token)["scriptsmith_runs_total"] == after["scriptsmith_runs_total"]
