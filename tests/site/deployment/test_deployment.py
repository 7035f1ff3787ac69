"""Tests for the image, and for what it shares with compose.yaml and the chart. They need no container engine."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.supervision import programs
from tests.site.deployment.deploying import ROOT, arguments_of, documents, pods, run
from tests.site.loopback import Handler, serving


@pytest.mark.slow
def test_the_image_has_all_that_the_product_reads(tmp_path: Path) -> None:
    """The files that the Dockerfile copies are sufficient to run the checks and the server."""
    text = (ROOT / "Dockerfile").read_text()
    let_in = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.M))
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.M)
        for name in line.split()[:-1]
    ]
    assert set(copied) == let_in
    for name in copied:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, tmp_path)
    environment = {
        "SCRIPTSMITH_DATA": str(tmp_path / "data"),
        "DATABASE_URL": "postgresql://nobody@/none?host=/nowhere",
        "REDIS_URL": "redis://127.0.0.1:9",
    }
    checked = run("python", "manage.py", "check", cwd=tmp_path, **environment)
    assert checked.returncode == 0, checked.stderr
    served = run("python", "-c", "import scriptsmith_site.wsgi", cwd=tmp_path, **environment)
    assert served.returncode == 0, served.stderr
    assert (tmp_path / "docs" / "reviewing.md").exists(), "the guides are pages"


def test_the_image_runs_as_nobody_in_particular() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER 999$", text, re.M), "whose the volumes of earlier images are"
    assert pods(documents())["web"]["securityContext"]["runAsUser"] == 999
    assert "web_healthcheck.py" in text


@pytest.mark.slow
def test_health_check_of_a_web_container() -> None:
    class Answer(Handler):
        status = 200

        def do_GET(self) -> None:
            asked = (self.path, self.headers["X-Forwarded-Proto"])
            self.answer(self.status if asked == ("/healthz", "https") else 404)

    command = ("python", "-I", "scriptsmith_site/embedded/web_healthcheck.py")
    with serving(Answer) as url:
        port = url.rpartition(":")[2]
        assert run(*command, PORT=port).returncode == 0
        Answer.status = 503
        assert run(*command, PORT=port).returncode == 1


@pytest.mark.slow
def test_what_the_validation_prints_is_what_its_page_says() -> None:
    pytest.importorskip("helm_python", reason="helm-python-sdk has no build for this Python")
    done = run("python", "-m", "deploy.validate")
    assert done.returncode == 0, done.stdout + done.stderr
    page = (ROOT / "deploy" / "README.md").read_text()
    assert done.stdout.strip() in page, "put the output of `make deployment` there"


def commands_of_chart() -> list[str]:
    return [" ".join(pod["containers"][0].get("command", ())) for pod in pods(documents()).values()]


@pytest.mark.slow
def test_compose_chart_and_make_run_start_the_same_queues() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    chart = " ".join(commands_of_chart())
    for program, service in (
        (programs.worker(Layout(Path("/data"))), "worker"),
        (programs.sandbox_worker(), "runner"),
    ):
        queues = arguments_of(program)[arguments_of(program).index("--queues") + 1]
        assert f"--queues {queues}" in services[service]["command"]
        assert f"--queues={queues}" in chart


@pytest.mark.slow
def test_each_deployment_has_one_scheduler_a_thread_under_make_run_and_a_program_elsewhere() -> (
    None
):
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    of_compose = [service.get("command", "") for service in services.values()]
    of_make_run = [
        " ".join(arguments_of(program))
        for program in (programs.worker(Layout(Path("/data"))), programs.sandbox_worker())
    ]
    for commands, word in (
        (of_compose, "beat"),
        (commands_of_chart(), "beat"),
        (of_make_run, "--scheduler-thread"),
    ):
        assert sum(word in command.replace(",", " ").split() for command in commands) == 1
    assert not any("--scheduler-thread" in one for one in (*of_compose, *commands_of_chart()))


def test_runner_of_compose_yields_to_other_containers() -> None:
    runner = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["runner"]
    assert f"nice -n {programs.SANDBOX_NICENESS} " in runner["command"]
    assert runner["cpu_shares"] < 1024 / 10, "containers have 1,024 shares unless told otherwise"
