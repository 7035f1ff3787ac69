"""Measure sandbox tests of scripts: time per test, parallel throughput, and leftovers after kills."""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bench.execution import campaign
from bench.figures import CannotMeasure, Figure, figure, machine, size, slowness
from catalog.execution.cases import Case, run_case
from catalog.execution.helper.user import FIRST_USER, SLOTS
from catalog.execution.sandbox import Sandbox, find_sandbox

CASES = 40
AT_ONCE = (1, 2, 4)
HELD_MEDIAN = 0.150
LEAST_RATE = 12  # tests per second with two concurrent tests
KILLED_RUNS = size(full=200, quick=60)
KILLS = size(full=50, quick=16)
LONGEST_KILLING = 1200.0  # seconds
_MARK = f"05{os.getpid():09}"  # decimals of a script's sleep time, which identify its processes and files

_FILES = 50
_SCRIPT = """find /var/log/app -type f -name '*.log' -mtime +7 -delete
nginx -t && systemctl restart nginx
"""


def measure() -> list[Figure]:
    """Time a test with 50 files and stubbed commands repeatedly, then kill processes during runs."""
    found = find_sandbox()
    if found.sandbox is None:
        raise CannotMeasure(f"no sandbox here: {found.reason} {found.remedy}")
    case = _make_case()
    sandbox = found.sandbox
    seconds = [_time(case, sandbox) for _ in range(CASES)]
    figures: list[Figure] = [
        figure(
            "seconds of one case, median",
            statistics.median(seconds),
            most=HELD_MEDIAN * slowness(),
        ),
        figure("seconds of one case, 95th percentile", statistics.quantiles(seconds, n=20)[18]),
    ]
    for at_once in AT_ONCE:
        with ThreadPoolExecutor(at_once) as pool:
            begun = time.monotonic()
            list(pool.map(lambda _: _time(case, sandbox), range(CASES)))
            rate = CASES / (time.monotonic() - begun)
        least = LEAST_RATE / slowness() if at_once == 2 else None
        figures.append(figure(f"cases a second, {at_once} at once", rate, least=least))
    return [*figures, *kill_at_random(), *campaign.measure(), machine()]


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
    """Kill workers, helpers and the first processes of their namespaces at random times, during runs.

    Count only finished runs. A worker that is killed immediately finishes no runs.
    """
    mounts = len(Path("/proc/self/mountinfo").read_text().splitlines())
    files = _find_files()
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(_run_and_kill, range(2)))
    runs = sum(one.runs for one in ended)
    killed = sum((one.killed for one in ended), Counter())
    deadline = time.monotonic() + 60
    while (left := _count_processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    now = len(Path("/proc/self/mountinfo").read_text().splitlines())
    what = f"after {KILLED_RUNS} runs with {KILLS} kill -9"
    new = sorted(_find_files() - files)
    return [
        figure("runs that came to their end", runs, least=KILLED_RUNS),
        figure(
            "processes killed",
            killed.total(),
            least=KILLS,
            note=", ".join(f"{name}: {count}" for name, count in sorted(killed.items())),
        ),
        figure(f"processes left {what}", left, exactly=0),
        figure(f"mounts left {what}", now - mounts, exactly=0),
        figure(f"files left {what}", len(new), exactly=0, note=", ".join(new[:5])),
    ]


class _Killed(NamedTuple):
    runs: int
    killed: Counter[str]


def _run_and_kill(seed: int) -> _Killed:
    """Run and kill workers until half of the runs and kills are done. A worker runs six scripts one after another."""
    chance = random.Random(seed)
    run = (
        "from catalog.execution.sandbox import *\n"
        "s = find_sandbox().sandbox\n"
        f"script = 'echo > /srv/{_MARK}; sleep 0.{_MARK}'\n"
        "for n in range(6):\n"
        "  try: s.run(PreparedRun(script=script)); print('ended', flush=True)\n"
        "  except SandboxFailed: pass\n"
    )
    runs, killed = 0, Counter[str]()
    deadline = time.monotonic() + LONGEST_KILLING
    while (runs < KILLED_RUNS // 2 or killed.total() < KILLS // 2) and time.monotonic() < deadline:
        worker = subprocess.Popen(
            [sys.executable, "-c", run],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if killed.total() < KILLS // 2:
            time.sleep(chance.uniform(0.3, 1.5))
            name = ("worker", "helper", "first of the namespace")[killed.total() % 3]
            killed[name] += _kill(worker.pid, name)
        told, _ = worker.communicate()
        runs += told.count("ended")
    return _Killed(runs, killed)


def _kill(worker: int, name: str) -> bool:
    """Kill a process of this kind. Return whether such a process was found."""
    victims = [worker]
    for _ in range(("worker", "helper", "first of the namespace").index(name)):
        victims = [child for one in victims for child in _children(one)]
    if not victims:
        return False
    with suppress(ProcessLookupError):
        os.kill(victims[0], signal.SIGKILL)
    return True


def _children(parent: int) -> list[int]:
    try:
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split()]


def _count_processes() -> int:
    """Return the number of helpers and of processes that they started, based on command lines."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        count += b"execution.helper.process" in words or _MARK.encode() in words
    return count


def _find_files() -> set[str]:
    """Return files that a helper may have left: files of runs and sandbox users, and all files in mount folders."""
    found: set[str] = set()
    data = os.environ.get("SCRIPTSMITH_DATA", "data")
    for folder in ("/mnt", "/srv", "/media", "/opt", "/tmp", "/var/tmp", "/dev/shm", data):
        for parent, folders, names in os.walk(folder):
            for name in (*folders, *names):
                path = os.path.join(parent, name)
                if folder in ("/mnt", "/srv", "/media") or _MARK in name or _is_of_sandbox(path):
                    found.add(path)
    return found


def _is_of_sandbox(path: str) -> bool:
    try:
        return FIRST_USER <= os.lstat(path).st_uid < FIRST_USER + SLOTS
    except OSError:
        return False
