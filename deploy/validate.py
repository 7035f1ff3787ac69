"""Validate the image, compose.yaml and the chart without a container engine or a cluster: `make deployment`.

Prints the tool and the version of each check. deploy/README.md quotes this output. Exits with status 1 if a check
fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import helm_python
import kubernetes_validate
import yaml

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
CHART = str(ROOT / "deploy" / "chart")
KUBERNETES = "1.34"
VARIABLES = {
    "POSTGRES_PASSWORD": "word",
    "SCRIPTSMITH_HOSTS": "scripts.example.org",
    "SCRIPTSMITH_ORIGINS": "https://scripts.example.org",
    "SCRIPTSMITH_ENDPOINTS": "claude",
}
VALUES = {
    "host": "scripts.example.org",
    "networkPolicy": {
        "databaseTo": [{"ipBlock": {"cidr": "10.0.3.7/32"}}],
        "brokerTo": [{"podSelector": {"matchLabels": {"app": "valkey"}}}],
    },
}
# Unreachable servers, for commands that use neither a database nor a broker.
NOWHERE = {
    "DATABASE_URL": "postgresql://nobody@/none?host=/nowhere",
    "REDIS_URL": "redis://127.0.0.1:9",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = [*check_image(Path(folder)), *check_compose(Path(folder)), *check_chart()]
    sys.exit(0 if all(results) else 1)


def check_image(folder: Path) -> Iterator[bool]:
    """Check that the product starts with only the files that the Dockerfile copies."""
    text = (ROOT / "Dockerfile").read_text()
    copies = re.findall(r"^COPY (?!--from)(.+)$", text, re.M)
    (folder / "image").mkdir()
    for name in (name for line in copies for name in line.split()[:-1]):
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / "image" / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / "image" / name)
    told = NOWHERE | {"SCRIPTSMITH_DATA": str(folder / "data")}
    yield run(
        "Image: manage.py check, Django",
        "django",
        "python",
        "manage.py",
        "check",
        cwd=folder / "image",
        **told,
    )


def check_compose(folder: Path) -> Iterator[bool]:
    """Check compose.yaml against its schema, and resolve it with all variables and with a missing variable."""
    tool = ("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    yield run("compose.yaml: check-jsonschema", "check-jsonschema", *tool)
    # podman-compose only asks the engine for its version, so a stub is sufficient.
    engine = folder / "podman"
    engine.write_text("#!/bin/sh\necho podman version 5.0.0\n")
    engine.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    command = ("podman-compose", "-f", "compose.yaml", "config")
    title = "compose.yaml: podman-compose config"
    yield run(title, "podman-compose", *command, shows=services_of, **VARIABLES, PATH=path)
    fewer = {name: text for name, text in VARIABLES.items() if name != "POSTGRES_PASSWORD"}
    title = f"{title} without POSTGRES_PASSWORD"
    yield not run(title, "podman-compose", *command, shows=last_line, **fewer, PATH=path)


def check_chart() -> Iterator[bool]:
    """Lint the chart with Helm, and validate each manifest against the Kubernetes schemas."""
    print(f"\n== Chart: helm lint --strict (helm-python-sdk {version('helm-python-sdk')})")
    said = helm_python.lint(CHART, VALUES, strict=True)
    for message in said["messages"]:
        print(f"{message['path']}: {message['error']}")
    print(f"{said['total_charts_linted']} chart linted, {len(said['errors'])} errors")
    yield not said["errors"]
    print(
        f"\n== Chart: kubernetes-validate {version('kubernetes-validate')}, Kubernetes {KUBERNETES}, strict"
    )
    rendered = helm_python.Chart.load(CHART).render(VALUES, name="team", namespace="scripts")
    for name, text in sorted(rendered.items()):
        for document in yaml.safe_load_all(text) if name.endswith(".yaml") else ():
            if document:
                kubernetes_validate.validate(document, KUBERNETES, strict=True)
                print(f"ok {document['kind']} {document['metadata']['name']}")
    yield True


def services_of(said: str) -> str:
    return "services: " + ", ".join(yaml.safe_load(said)["services"])


def last_line(said: str) -> str:
    return said.strip().splitlines()[-1]


def run(
    title: str, package: str, *command: str, shows: object = None, cwd: Path = ROOT, **told: str
) -> bool:
    print(f"\n== {title} {version(package)}")
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), **told},
        capture_output=True,
        text=True,
        check=False,
    )
    said = (done.stdout + done.stderr) if done.returncode or not callable(shows) else done.stdout
    print(shows(said) if callable(shows) else said.strip())
    return done.returncode == 0


if __name__ == "__main__":
    main()
