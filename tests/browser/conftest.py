"""The product as people start it, and a real Chromium in front of it.

One set of processes for the whole suite: web, worker and demo model under the product's own supervisor, on
a database of their own in the suite's PostgreSQL.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

if TYPE_CHECKING:
    from _pytest.tmpdir import TempPathFactory

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a test's own passphrase"
PEOPLE = {"rita": "reviewer", "rolf": "reviewer", "carla": "curator", "adam": "administrator"}
_CHROMIUM = next(
    (
        found
        for name in (os.environ.get("SCRIPTSMITH_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
        if name and (found := shutil.which(name))
    ),
    None,
)
_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)
            # One worker of the suite keeps the processes; the others go on with the rest.
            item.add_marker(pytest.mark.xdist_group("browser"))


@dataclass(frozen=True)
class Site:
    """A running ScriptSmith."""

    url: str
    data: Path


@pytest.fixture(scope="session")
def site(tmp_path_factory: TempPathFactory) -> Iterator[Site]:
    if _CHROMIUM is None:
        pytest.skip("no Chromium on this machine: install Debian's chromium to run the browser tests")
    data = tmp_path_factory.mktemp("site")
    port = _free_port()
    database = f"browser_{os.getpid()}"
    admin_url = os.environ["DATABASE_URL"]
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}")
    environment = {
        **os.environ,
        "DATABASE_URL": _with_database(admin_url, database),
        "SCRIPTSMITH_DATA": str(data),
        "SCRIPTSMITH_DEMO": "False",
        "SCRIPTSMITH_EMBEDDER": "minilm",
        "SCRIPTSMITH_ENDPOINTS": "demo",
        "PORT": str(port),
        "DJANGO_SETTINGS_MODULE": "scriptsmith_site.settings",
    }
    log = (data / "supervisor.log").open("w")
    demo_model = subprocess.Popen(
        [sys.executable, "-m", "pipeline.standin", "--port", "0", "--announce", str(data / "model.json")],
        cwd=ROOT,
    )
    environment["SCRIPTSMITH_DEMO_MODEL_URL"] = f"http://127.0.0.1:{_announced_port(data / 'model.json')}"
    process = subprocess.Popen(
        [sys.executable, "-m", "scriptsmith_site.embedded", "--with-parent"],
        cwd=ROOT,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, process, data)
        _make_people(environment)
        yield Site(url, data)
    finally:
        for one in (process, demo_model):
            one.send_signal(signal.SIGTERM)
        for one in (process, demo_model):
            one.wait(timeout=30)
        log.close()


@pytest.fixture(scope="session")
def browser(site: Site) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def sign_in(site: Site, browser: Browser) -> Iterator[Callable[..., Page]]:
    """A page in a fresh browser profile, signed in; anything on its console that is an error fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def make(name: str, *, width: int = 1440, height: int = 900, theme: str = "light") -> Page:
        context = browser.new_context(
            base_url=site.url,
            viewport={"width": width, "height": height},
            color_scheme=theme,  # type: ignore[arg-type]
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto("/login/")
        page.keyboard.type(name)
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "/login/" not in url)
        errors.clear()
        return page

    yield make
    for context in contexts:
        context.close()
    assert errors == []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _with_database(url: str, database: str) -> str:
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def _announced_port(path: Path) -> int:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, "the demo model did not start"
        time.sleep(0.05)
    return int(json.loads(path.read_text())["port"])


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], data: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, (data / "supervisor.log").read_text()
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError((data / "supervisor.log").read_text())


_PEOPLE_SCRIPT = """
from django.contrib.auth.models import Group, User
for name, role in {people!r}.items():
    user = User.objects.create_user(name, password={password!r}, first_name=name.capitalize())
    user.groups.add(Group.objects.get(name=role))
    if role == "administrator":
        User.objects.filter(pk=user.pk).update(is_staff=True)
"""


def _make_people(environment: dict[str, str]) -> None:
    script = _PEOPLE_SCRIPT.format(people=PEOPLE, password=PASSWORD)
    subprocess.run(
        [sys.executable, "manage.py", "shell", "-c", script],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
