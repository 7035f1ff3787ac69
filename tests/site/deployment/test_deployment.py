"""Image, compose.yaml and chart, as far as they can be tried without an engine and without a cluster."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.conf import settings

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.supervision import programs

ROOT = Path(settings.BASE_DIR)
BIN = Path(sys.executable).parent
CHART = ROOT / "deploy" / "chart"
SETTINGS = {
    "POSTGRES_PASSWORD": "word",
    "SCRIPTSMITH_HOSTS": "scripts.example.org",
    "SCRIPTSMITH_ORIGINS": "https://scripts.example.org",
    "SCRIPTSMITH_ENDPOINTS": "claude",
}
KUBERNETES = "1.34"


def run(*command: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# --- compose.yaml ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_compose_is_of_its_schema() -> None:
    checked = run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_compose_is_resolved_and_what_is_missing_is_named(tmp_path: Path) -> None:
    # No engine is asked anything but its version.
    engine = tmp_path / "podman"
    engine.write_text("#!/bin/sh\necho podman version 5.0.0\n")
    engine.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    command = ("podman-compose", "-f", str(ROOT / "compose.yaml"), "config")
    resolved = run(*command, **SETTINGS, PATH=path)
    assert resolved.returncode == 0, resolved.stderr
    services = yaml.safe_load(resolved.stdout)["services"]
    programs = {"prepare", "web", "worker", "scheduler", "runner"}
    assert set(services) == {*programs, "database", "broker"}
    fewer = {name: text for name, text in SETTINGS.items() if name != "POSTGRES_PASSWORD"}
    refused = run(*command, **fewer, PATH=path)
    assert refused.returncode != 0
    assert "a password for the database" in refused.stdout + refused.stderr


def test_every_program_of_compose_may_do_little() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for name in ("prepare", "web", "worker", "scheduler", "runner"):
        service = services[name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
    told = [name for name, one in services.items() if "API_KEY" in str(one.get("environment"))]
    assert told == ["worker"], "keys of models are for workers"


# --- The image ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_image_has_all_that_the_product_reads(tmp_path: Path) -> None:
    """The files that the Dockerfile copies, without the rest of the tree, are enough to check and to serve."""
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
    assert "answering.py" in text


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    class Answer(BaseHTTPRequestHandler):
        status = 200

        def do_GET(self) -> None:
            wanted = ("/healthz", "https")
            is_asked_well = (self.path, self.headers["X-Forwarded-Proto"]) == wanted
            self.send_response(self.status if is_asked_well else 404)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as made:
        Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


@pytest.mark.slow
def test_the_check_of_a_web_container(server: HTTPServer) -> None:
    command = ("python", "-I", "scriptsmith_site/embedded/answering.py")
    port = str(server.server_port)
    assert run(*command, PORT=port).returncode == 0
    server.RequestHandlerClass.status = 503  # type: ignore[attr-defined]
    assert run(*command, PORT=port).returncode == 1


# --- The chart ------------------------------------------------------------------------------------------------


def documents(**values: object) -> list[dict[str, Any]]:
    helm = pytest.importorskip("helm_python", reason="helm-python-sdk has no build for this Python")
    rendered = helm.Chart.load(str(CHART)).render(
        {"host": "scripts.example.org", **values}, name="team", namespace="scripts"
    )
    return [
        document
        for name, text in rendered.items()
        if name.endswith(".yaml")
        for document in yaml.safe_load_all(text)
        if document
    ]


ALL = {
    "endpoints": "claude",
    "modelSecretName": "models",
    "files": {"claimName": "shared"},
    "settings": {"SCRIPTSMITH_LOG_LEVEL": "INFO"},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecretName": "tls"},
    "image": {"pullSecrets": [{"name": "registry"}]},
}


def test_the_chart_is_sound() -> None:
    helm = pytest.importorskip("helm_python", reason="helm-python-sdk has no build for this Python")
    said = helm.lint(str(CHART), {"host": "scripts.example.org"}, strict=True)
    assert not [one for one in said["messages"] if one["severity"] not in ("INFO", 1)], said


@pytest.mark.parametrize("values", [{}, ALL], ids=["as it comes", "with everything"])
def test_every_manifest_is_one_of_kubernetes(values: dict[str, object]) -> None:
    made = documents(**values)
    for document in made:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    kinds = [document["kind"] for document in made]
    assert kinds.count("Deployment") == 4
    assert {"Job", "Service", "PodDisruptionBudget", "NetworkPolicy"} < set(kinds)
    assert ("Ingress" in kinds) == bool(values)


def test_a_host_is_wanted() -> None:
    with pytest.raises(Exception, match="the name that people type"):
        documents(host="")


def pods(made: list[dict[str, Any]]) -> Mapping[str, dict[str, Any]]:
    return {
        document["metadata"]["name"].removeprefix("team-scriptsmith-"): document["spec"][
            "template"
        ]["spec"]
        for document in made
        if document["kind"] in ("Deployment", "Job")
    }


def test_every_pod_may_do_little() -> None:
    for name, pod in pods(documents(**ALL)).items():
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["automountServiceAccountToken"] is False, name
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            allowed = container["securityContext"]
            assert allowed["readOnlyRootFilesystem"], name
            assert allowed["capabilities"] == {"drop": ["ALL"]}, name
            assert not allowed["allowPrivilegeEscalation"], name


def test_keys_of_models_go_to_workers_alone_and_the_runner_is_apart() -> None:
    made = documents(**ALL)
    told = {
        name: [source["secretRef"]["name"] for source in pod["containers"][0]["envFrom"]]
        for name, pod in pods(made).items()
    }
    assert [name for name, names in told.items() if "models" in names] == ["worker"]
    assert pods(made)["runner"]["runtimeClassName"] == "gvisor"
    (egress,) = [
        document["spec"]["egress"]
        for document in made
        if document["kind"] == "NetworkPolicy" and "Egress" in document["spec"]["policyTypes"]
    ]
    assert {port["port"] for rule in egress for port in rule["ports"]} == {53, 5432, 6379}


def test_compose_chart_and_make_run_start_the_same_queues() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    chart = " ".join(
        word
        for pod in pods(documents()).values()
        for word in pod["containers"][0].get("command", ())
    )
    for program, service in (
        (programs.worker(Layout(Path("/data"))), "worker"),
        (programs.sandbox_worker(), "runner"),
    ):
        queues = program.command[list(program.command).index("--queues") + 1]
        assert f"--queues {queues}" in services[service]["command"]
        assert f"--queues={queues}" in chart
