"""Read compose.yaml and the chart as their tools do, without a container engine or a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from scriptsmith_site.embedded.supervision.children import Program
from scriptsmith_site.env import KNOWN

ROOT = Path(settings.BASE_DIR)
BIN = Path(sys.executable).parent
CHART = ROOT / "deploy" / "chart"
SETTINGS = {
    "POSTGRES_PASSWORD": "word",
    "SCRIPTSMITH_HOSTS": "scripts.example.org",
    "SCRIPTSMITH_ORIGINS": "https://scripts.example.org",
    "SCRIPTSMITH_ENDPOINTS": "claude",
}
# Settings with fixed values in compose.yaml and the chart, with the reason.
FIXED = {
    "DATABASE_URL": "PostgreSQL is one of the services of compose.yaml, and a Secret of the chart",
    "REDIS_URL": "the same",
    "PORT": "of the container: what is seen outside is a matter of ports and of the Service",
    "SCRIPTSMITH_BIND": "of the container",
    "SCRIPTSMITH_DATA": "where the image has its volume",
    "SCRIPTSMITH_DEBUG": "never in production",
    "SCRIPTSMITH_DEMO": "never in production",
    "SCRIPTSMITH_DEMO_MODEL_URL": "never in production",
    "SCRIPTSMITH_LOCAL_MODEL": "of `make run`, which starts the server of the model",
    "SCRIPTSMITH_LOCAL_MODEL_CONTEXT": "of the same server",
    "SCRIPTSMITH_LOCAL_MODEL_SLOTS": "of the same server",
    "SCRIPTSMITH_LOCAL_MODEL_THREADS": "of the same server",
    "SCRIPTSMITH_POSTGRES_FOLDER": "of the embedded PostgreSQL",
    "SCRIPTSMITH_POSTGRES_USER": "of the embedded PostgreSQL",
    "SCRIPTSMITH_PRODUCTION": "it is",
}
# Credentials that a program that runs scripts must not receive.
SECRET = {
    "ANTHROPIC_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "SCRIPTSMITH_MAIL_URL",
    "SCRIPTSMITH_OIDC_CLIENT_SECRET",
}


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


def settable() -> list[str]:
    """Return the settings that an operator may set."""
    return sorted(set(KNOWN) - set(FIXED) - {"SCRIPTSMITH_UNDER_TEST"})


# Addresses of the database and the broker, which only the operator knows.
PLACES = {
    "databaseTo": [{"ipBlock": {"cidr": "10.0.3.7/32"}}],
    "brokerTo": [{"podSelector": {"matchLabels": {"app": "valkey"}}}],
}


def documents(**values: object) -> list[dict[str, Any]]:
    helm = pytest.importorskip("helm_python", reason="helm-python-sdk has no build for this Python")
    given = {"host": "scripts.example.org", "networkPolicy": PLACES, **values}
    rendered = helm.Chart.load(str(CHART)).render(given, name="team", namespace="scripts")
    return [
        document
        for name, text in rendered.items()
        if name.endswith(".yaml")
        for document in yaml.safe_load_all(text)
        if document
    ]


def pods(made: list[dict[str, Any]]) -> Mapping[str, dict[str, Any]]:
    return {
        document["metadata"]["name"].removeprefix("team-scriptsmith-"): document["spec"][
            "template"
        ]["spec"]
        for document in made
        if document["kind"] in ("Deployment", "Job")
    }


def arguments_of(program: Program) -> list[str]:
    """Return the arguments of Celery or gunicorn under `make run`."""
    assert isinstance(program.main, partial)
    arguments, *_ = program.main.args
    return list(arguments)
