"""Tests that two machines with separate data folders can share one database, one broker and one folder of files."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.first_cases import first_cases
from tests.ports import free_port
from tests.site_process import PASSWORD, ROOT, Site, wait_until_ready

pytestmark = pytest.mark.slow


@contextmanager
def another_machine(site: Site, data: Path) -> Iterator[str]:
    """Start a second ScriptSmith that shares the services of the first, and yield its address."""
    port = free_port()
    log = data / "supervisor.log"
    environment = site.environment | {"SCRIPTSMITH_DATA": str(data), "PORT": str(port)}
    with log.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "scriptsmith_site.embedded", "--with-parent"],
            cwd=ROOT,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url, process, log)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def token_of(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found
    return found[1]


@pytest.mark.nightly
def test_a_session_and_an_export_of_one_are_good_on_the_other(site: Site, tmp_path: Path) -> None:
    """Only two running installations can show which data they share and which each of them stores."""
    campaign = int(site.run(_STUDY).split("campaign ")[-1])
    with another_machine(site, tmp_path) as second, httpx2.Client(timeout=60) as browser:
        form = browser.get(f"{site.url}/login/").text
        signed_in = browser.post(
            f"{site.url}/login/",
            data={"csrfmiddlewaretoken": token_of(form), "username": "maria", "password": PASSWORD},
            headers={"Referer": f"{site.url}/login/"},
        )
        assert signed_in.status_code == 302
        page = browser.get(f"{second}/campaigns/{campaign}/export/")
        assert page.status_code == 200, "the session is good on the second machine"
        begun = browser.post(
            str(page.url),
            data={"csrfmiddlewaretoken": token_of(page.text), "layout": "jsonl"},
            headers={"Referer": str(page.url)},
        )
        transfer = begun.headers["Location"]
        deadline = time.monotonic() + 60
        while f"{transfer}file/" not in browser.get(second + transfer).text:
            assert time.monotonic() < deadline, "the export did not end"
            time.sleep(0.2)
        files = [browser.get(f"{machine}{transfer}file/") for machine in (site.url, second)]
        assert [one.status_code for one in files] == [200, 200]
        assert files[0].content == files[1].content
        assert files[0].content.count(b"\n") >= 1


_WEB = (
    "-m gunicorn scriptsmith_site.wsgi:application --preload --bind 127.0.0.1:0 --no-control-socket"
)
_WORKER = "-m celery -A scriptsmith_site worker --pool threads"


@pytest.mark.parametrize(
    "command",
    first_cases(1, ["-m scriptsmith_site.embedded", _WEB, "manage.py migrate", _WORKER]),
    ids=["make run", "web", "migrate", "worker"],
)
def test_another_secret_key_is_refused(site: Site, tmp_path: Path, command: str) -> None:
    """Each start command runs in its own process and must check the key before it does anything else."""
    key = "another-key-of-fifty-characters-0123456789-0123456789"
    own = {"SCRIPTSMITH_DATA": str(tmp_path), "SCRIPTSMITH_SECRET_KEY": key, "PORT": "0"}
    ended = subprocess.run(
        [sys.executable, *command.split()],
        cwd=ROOT,
        env=site.environment | own,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ended.returncode != 0
    assert "secret key does not match this database" in " ".join(
        (ended.stdout + ended.stderr).split()
    )


_STUDY = f"""
from django.contrib.auth.models import Group, User
from review.models import Campaign
maria, is_new = User.objects.get_or_create(username="maria")
maria.set_password({PASSWORD!r})
maria.save()
maria.groups.add(Group.objects.get(name="manager"))
made = Campaign.objects.create(name="Of two machines", created_by=maria)
print("campaign", made.pk)
"""
