"""Tests for compose.yaml that need no container engine."""

from __future__ import annotations

import ipaddress
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.site.deployment.deploying import ROOT, SECRET, SETTINGS, run, settable

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())


@pytest.mark.slow
def test_compose_is_of_its_schema() -> None:
    checked = run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    assert checked.returncode == 0, checked.stdout


@pytest.fixture
def resolve(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that resolves compose.yaml with these variables. A fake podman is enough for podman-compose."""
    engine = tmp_path / "podman"
    engine.write_text("#!/bin/sh\necho podman version 5.0.0\n")
    engine.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"

    def ask(**variables: str) -> subprocess.CompletedProcess[str]:
        command = ("podman-compose", "-f", str(ROOT / "compose.yaml"), "config")
        return run(*command, **variables, PATH=path)

    return ask


Resolve = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.slow
def test_compose_is_resolved_and_what_is_missing_is_named(resolve: Resolve) -> None:
    resolved = resolve(**SETTINGS)
    assert resolved.returncode == 0, resolved.stderr
    services = yaml.safe_load(resolved.stdout)["services"]
    programs = {"prepare", "web", "worker", "scheduler", "runner"}
    assert set(services) == {*programs, "database", "broker"}
    fewer = {name: text for name, text in SETTINGS.items() if name != "POSTGRES_PASSWORD"}
    refused = resolve(**fewer)
    assert refused.returncode != 0
    assert "a password for the database" in refused.stdout + refused.stderr


@pytest.mark.slow
def test_every_setting_can_be_set_where_compose_is_started(resolve: Resolve) -> None:
    wanted = {name: SETTINGS.get(name, f"told-{name.lower()}") for name in settable()}
    resolved = resolve(**SETTINGS, **{n: t for n, t in wanted.items() if n not in SETTINGS})
    services = yaml.safe_load(resolved.stdout)["services"]
    for program in ("prepare", "web", "worker"):
        told = services[program]["environment"]
        lost = [name for name, text in wanted.items() if text not in str(told.get(name))]
        assert not lost, f"{program} is not told {lost}"
    # Unset variables are passed as empty strings, and the settings then use their defaults.
    resolved = resolve(**SETTINGS)
    told = yaml.safe_load(resolved.stdout)["services"]["web"]["environment"]
    for key, text in told.items():
        assert "$" not in str(text), key
    environment = {key: str(text) for key, text in told.items()}
    checked = run("python", "-c", _READ_SETTINGS, **environment, SCRIPTSMITH_DATA="/nonexistent")
    assert checked.stdout.split() == ["172.31.251.0/28", "12", "scripts.example.org"], checked


_READ_SETTINGS = """
import os
os.environ["SCRIPTSMITH_SECRET_KEY"] = 50 * "x"
from scriptsmith_site import settings as s
print(*s.SCRIPTSMITH_TRUSTED_PROXIES, s.SCRIPTSMITH_OIDC_SESSION_HOURS + 4, s.SCRIPTSMITH_URL.partition("//")[2])
"""


def test_the_proxy_on_the_machine_of_compose_is_believed_and_nobody_else() -> None:
    """The proxy connects from the gateway of a network that only the web service uses."""
    (pool,) = COMPOSE["networks"]["front"]["ipam"]["config"]
    default = re.compile(r":-([^}]+)\}$")
    subnet = default.findall(pool["subnet"])
    told = COMPOSE["services"]["web"]["environment"]
    trusted = default.findall(told["SCRIPTSMITH_TRUSTED_PROXIES"])
    assert subnet == trusted and ipaddress.ip_network(subnet[0]).is_private
    in_it = [name for name, one in COMPOSE["services"].items() if "front" in one["networks"]]
    assert in_it == ["web"]
    assert COMPOSE["services"]["web"]["ports"] == ["127.0.0.1:8000:8000"], "past the proxy nobody"


def test_every_program_of_compose_may_do_little() -> None:
    services = COMPOSE["services"]
    for name in ("prepare", "web", "worker", "scheduler", "runner"):
        service = services[name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
    told = [name for name, one in services.items() if "API_KEY" in str(one.get("environment"))]
    assert told == ["worker"], "keys of models are for workers"
    for name in ("scheduler", "runner"):
        assert not SECRET & set(services[name]["environment"]), name


def test_the_runner_of_compose_reaches_database_and_broker_and_nothing_else() -> None:
    services = COMPOSE["services"]
    assert services["runner"]["networks"] == ["sandbox"]
    assert COMPOSE["networks"]["sandbox"]["internal"] is True
    beside = {name for name, one in services.items() if "sandbox" in one["networks"]}
    assert beside == {"runner", "database", "broker"}


def test_every_lasting_service_has_its_own_health_check() -> None:
    services = COMPOSE["services"]
    for service, check in {
        "web": "web_healthcheck.py",
        "worker": "worker_healthcheck.py",
        "scheduler": "worker_healthcheck.py scheduler",
        "runner": "worker_healthcheck.py runner",
        "database": "pg_isready",
        "broker": "valkey-cli ping",
    }.items():
        assert check in " ".join(services[service]["healthcheck"]["test"]), service
