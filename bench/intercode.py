"""Published InterCode tasks run in their own file systems, and InterCode's own reward of published answers.

Asks for a folder with the tasks and the scripts that build their file systems: SCRIPTSMITH_INTERCODE=DIR.
Every difference is printed with what both printed, so that its cause can be said.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from bench.figures import CannotMeasure, Figure
from catalog.execution.cases.display import show_name
from catalog.execution.cases.intercode import Outcome, observe, reward
from catalog.execution.sandbox import Ended, Limits, PreparedRun, Sandbox, find_sandbox

TASKS = "intercode_fs1_fs2.jsonl"
ROOTS = {1: ("/testbed",), 2: ("/system", "/backup")}
LIMITS = Limits(seconds=10)
CLOSE = 0.02
HELD_REFERENCES = 100
HELD_SHARE = 0.8


class _Ran(NamedTuple):
    ended: Ended
    status: int | None
    outcome: Outcome


def measure() -> list[Figure]:
    """References that end with 0, and how many rewards are the published ones."""
    folder = Path(os.environ.get("SCRIPTSMITH_INTERCODE", ""))
    if not (folder / TASKS).is_file():
        raise CannotMeasure(f"SCRIPTSMITH_INTERCODE names no folder with {TASKS}")
    found = find_sandbox()
    if found.sandbox is None:
        raise CannotMeasure(f"no sandbox here: {found.reason} {found.remedy}")
    tasks = [json.loads(line) for line in (folder / TASKS).read_text().splitlines()]
    ended_well = both = close = 0
    for task in tasks:
        system = task["file_system"]
        setup = (folder / f"intercode_fs{system}.sh").read_text()
        wanted = _run(found.sandbox, setup, task["reference"], ROOTS[system])
        done = _run(found.sandbox, setup, task["candidate"], ROOTS[system])
        ended_well += wanted.status == 0
        if wanted.ended is not Ended.FINISHED or done.ended is not Ended.FINISHED:
            print(f"{task['id']}: {wanted.ended}, {done.ended}")
            continue
        both += 1
        ours = reward(done.outcome, wanted.outcome)
        if abs(ours - task["candidate_reward"]) <= CLOSE:
            close += 1
        else:
            _print_difference(task, ours, done, wanted)
    return [
        {
            "what": f"references of {len(tasks)} that end with status 0",
            "value": ended_well,
            "held": f"at least {HELD_REFERENCES} of 113",
        },
        {"what": "answers that both can run", "value": both, "held": ""},
        {
            "what": f"share of them with the published reward within {CLOSE}",
            "value": close / both if both else None,
            "held": f"at least {HELD_SHARE}",
        },
    ]


def _run(sandbox: Sandbox, setup: str, command: str, roots: tuple[str, ...]) -> _Ran:
    """The first of two runs builds the file system, the second is the command: what it did is its own."""
    script = (
        "if [ ! -e /run/built ]; then\n(\n"
        + setup
        + "\n) > /dev/null 2>&1\n: > /run/built\nexit 0\nfi\n"
        "cd /\n" + command + "\n"
    )
    seen = sandbox.run(PreparedRun(script=script, limits=LIMITS, runs=2))
    built, ran = seen.runs
    # The benchmark sees both outputs as one text.
    printed = ran.stdout + ran.stderr
    return _Ran(ran.ended, ran.status, observe(built.after, ran.after, printed, roots))


def _print_difference(task: dict[str, Any], ours: float, done: _Ran, wanted: _Ran) -> None:
    print(f"{task['id']}: {ours} here, {task['candidate_reward']} published")
    print(f"  {show_name(task['candidate'])} for {show_name(task['reference'])}")
    for what, ran in (("did", done), ("wanted", wanted)):
        changes = sorted(f"{code} {path}" for path, code in ran.outcome.changes)
        print(f"  {what}: {changes[:5]} {show_name(ran.outcome.printed[:150])}")
    print(f"  published output: {show_name(str(task.get('candidate_output', ''))[:150])}")
