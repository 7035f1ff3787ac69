"""Scripts in their worlds: how long a case takes, how many run beside each other, and what is left when killed."""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from bench.execution import campaign
from bench.figures import CannotMeasure, Figure
from catalog.execution.cases import Case, run_case
from catalog.execution.sandbox import Sandbox, find_sandbox

CASES = 40
AT_ONCE = (1, 2, 4)
HELD_MEDIAN = 0.150
KILLED_RUNS = 200
KILLS = 50
_MARK = f"05{os.getpid():09}"  # after the point of the seconds that a script sleeps

_FILES = 50
_SCRIPT = """find /var/log/app -type f -name '*.log' -mtime +7 -delete
nginx -t && systemctl restart nginx
"""


def measure() -> list[Figure]:
    """Start, run and comparison of one case with 50 files and three recorded calls, again and again."""
    found = find_sandbox()
    if found.sandbox is None:
        raise CannotMeasure(f"no sandbox here: {found.reason} {found.remedy}")
    case = _make_case()
    sandbox = found.sandbox
    seconds = [_time(case, sandbox) for _ in range(CASES)]
    figures: list[Figure] = [
        {
            "what": "seconds of one case, median",
            "value": statistics.median(seconds),
            "held": f"under {HELD_MEDIAN} on an idle core",
        },
        {
            "what": "seconds of one case, 95th percentile",
            "value": statistics.quantiles(seconds, n=20)[18],
            "held": "",
        },
    ]
    for at_once in AT_ONCE:
        with ThreadPoolExecutor(at_once) as pool:
            begun = time.monotonic()
            list(pool.map(lambda _: _time(case, sandbox), range(CASES)))
            rate = CASES / (time.monotonic() - begun)
        figures.append({"what": f"cases a second, {at_once} at once", "value": rate, "held": ""})
    return [*figures, *kill_at_random(), *campaign.measure()]


def holds(figures: list[Figure]) -> bool:
    """Nothing may be left, however slow the machine is."""
    return all(figure["value"] == 0 for figure in figures if figure["held"] == "0")


def _time(case: Case, sandbox: Sandbox) -> float:
    begun = time.monotonic()
    result = run_case(case, _SCRIPT, sandbox)
    if set(result.verdicts) != {"passed"}:
        raise CannotMeasure(f"the case went wrong: {result.checks}")
    return time.monotonic() - begun


def _make_case() -> Case:
    old, young = ("193h", "180h")
    files = [
        {"path": f"/var/log/app/{number}.log", "age": old if number % 2 else young}
        for number in range(_FILES)
    ]
    case = {
        "title": "old logs go",
        "about": "old logs",
        "kind": "usual",
        "world": {
            "files": files,
            "commands": {"systemctl": [], "nginx": [{"args": ["-t"]}]},
            "states": {"nginx": "active"},
        },
        "expect": [
            {
                "check": "removed",
                "exactly": [f"/var/log/app/{number}.log" for number in range(1, _FILES, 2)],
            },
            {"check": "called", "call": {"command": "systemctl", "args": ["restart", "nginx"]}},
        ],
    }
    return Case.model_validate_json(json.dumps(case))


def kill_at_random() -> list[Figure]:
    """Runs in workers of their own; helpers and workers are killed at any moment of their lives."""
    mounts = len(Path("/proc/self/mountinfo").read_text().splitlines())
    files = _count_files()
    threads = [threading.Thread(target=_run_and_kill, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    deadline = time.monotonic() + 10
    while (left := _count_processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    now = len(Path("/proc/self/mountinfo").read_text().splitlines())
    what = f"after {KILLED_RUNS} runs with {KILLS} kill -9"
    return [
        {"what": f"processes left {what}", "value": left, "held": "0"},
        {"what": f"mounts left {what}", "value": now - mounts, "held": "0"},
        {"what": f"files left {what}", "value": _count_files() - files, "held": "0"},
    ]


def _run_and_kill(seed: int) -> None:
    """Half of all: each worker runs four scripts in turn, and every kill ends one worker or one helper."""
    chance = random.Random(seed)
    workers = KILLED_RUNS // 2 // 4
    kills = KILLS // 2
    run = (
        "from catalog.execution.sandbox import *\n"
        "s = find_sandbox().sandbox\n"
        f"for n in range(4):\n try: s.run(PreparedRun(script='echo > /srv/x; sleep 0.{_MARK}'))\n"
        " except SandboxFailed: pass\n"
    )
    for number in range(workers):
        worker = subprocess.Popen([sys.executable, "-c", run], stderr=subprocess.DEVNULL)
        if number < kills:
            time.sleep(chance.uniform(0.2, 1.0))
            victims = [worker.pid, *_children(worker.pid)]
            with suppress(ProcessLookupError):
                os.kill(chance.choice(victims), signal.SIGKILL)
        worker.wait()


def _children(parent: int) -> list[int]:
    try:
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split()]


def _count_processes() -> int:
    """Helpers and what they started, by what stands on their command lines."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        count += b"execution.helper.process" in words or _MARK.encode() in words
    return count


def _count_files() -> int:
    """Where a helper could have left some."""
    return sum(len(list(Path(folder).glob("*"))) for folder in ("/mnt", "/srv", "/media"))
