"""Tests for retries, truncated alerts and resolved alerts with the real Alertmanager on loopback, if installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from scriptsmith_site.models import AlertDelivery, AlertSource, Incident
from tests.ports import free_port
from tests.site.alerts.conftest import OpenDoor, take_in_all
from tests.site.loopback import Handler, serving

BINARY = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.skipif(
        BINARY is None, reason="no Alertmanager here: install Debian's prometheus-alertmanager"
    ),
]
CONFIGURATION = """
route: {{receiver: ours, group_by: [alertname], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}}
receivers:
  - name: ours
    webhook_configs:
      - url: {url}
        max_alerts: 2
        http_config: {{authorization: {{credentials: {secret}}}}}
"""


@pytest.fixture
def alertmanager(open_door: OpenDoor, tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """Return Alertmanager's address and the statuses it received. Its first request gets 503, and the others reach the
    product."""
    door, answers = open_door(), list[int]()

    class Front(Handler):
        def do_POST(self) -> None:
            body, status = self.read(), 503
            if answers:
                try:
                    headers = {"Authorization": self.headers["Authorization"]}
                    status = door.post(body, headers=headers).status_code
                finally:
                    connection.close()
            answers.append(status)
            self.answer(status)

    port = free_port()
    with serving(Front) as front:
        configuration = CONFIGURATION.format(url=f"{front}/", secret=door.secret)
        (tmp_path / "am.yml").write_text(configuration)
        process = subprocess.Popen(
            [
                *(BINARY, f"--config.file={tmp_path / 'am.yml'}", f"--storage.path={tmp_path}"),
                *(f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _until(lambda: _asked(f"{url}/-/ready"))
            yield url, answers
        finally:
            process.terminate()
            process.wait(timeout=20)


def _has_told_of_all() -> bool:
    take_in_all()
    return Incident.objects.get().truncated == 1


def test_alertmanager_retries_after_503(alertmanager: tuple[str, list[int]]) -> None:
    url, answers = alertmanager
    names = ["a1", "a2", "a3"]
    _post(url, [_alert(name) for name in names])
    _until(lambda: answers[:2] == [503, 202])
    # Alertmanager may send the first alert before it has read the others.
    _until(_has_told_of_all)
    incident = Incident.objects.get()
    assert (incident.firing, incident.truncated, incident.is_open) == (2, 1, True)
    assert incident.title == "Exports are old"
    _post(url, [_alert(name, over=True) for name in names])
    _until(
        lambda: AlertDelivery.objects.filter(raw__contains='"status":"resolved","alerts"').exists()
    )
    take_in_all()
    incident.refresh_from_db()
    assert not incident.is_open and incident.firing == 0


def test_throttled_alert_is_sent_again(alertmanager: tuple[str, list[int]]) -> None:
    """Reject requests above the source's rate. The test raises the limit instead of waiting a minute."""
    url, answers = alertmanager
    AlertSource.objects.update(requests_per_minute=0)
    _post(url, [_alert("a1")])
    _until(lambda: len(answers) >= 3)
    assert set(answers) == {503} and not AlertDelivery.objects.exists()
    AlertSource.objects.update(requests_per_minute=100)
    _until(lambda: 202 in answers)
    take_in_all()
    assert Incident.objects.get().firing == 1


def _alert(name: str, *, over: bool = False) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "labels": {"alertname": "OldExports", "instance": name},
        "annotations": {"summary": "Exports are old"},
        "startsAt": (now - timedelta(minutes=5)).replace(second=0, microsecond=0).isoformat(),
        "endsAt": (now if over else now + timedelta(hours=1)).isoformat(),
    }


def _post(url: str, alerts: list[dict[str, Any]]) -> None:
    body = json.dumps(alerts).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/api/v2/alerts", body, headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 200


def _asked(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except OSError:
        return False


def _until(condition: Callable[[], bool]) -> None:
    """Wait until another process meets the condition. The deadline is long enough for a busy machine."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)
