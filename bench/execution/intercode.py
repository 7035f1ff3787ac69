"""Published InterCode tasks run in their own file systems, and InterCode's own reward of published answers.

Asks for a folder with the tasks and the scripts that build their file systems: SCRIPTSMITH_INTERCODE=DIR.
Every difference is printed with its cause and with what both printed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from bench.figures import CannotMeasure, Figure
from catalog.execution.cases.display import show_name
from catalog.execution.cases.intercode import Outcome, observe, reward
from catalog.execution.sandbox import Ended, Limits, PreparedRun, Sandbox, find_sandbox

TASKS = "intercode_fs1_fs2.jsonl"
# What the benchmark's repository holds.
_CLEAN = "find /testbed /system /backup -depth -mindepth 1 -type d -empty -delete"
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
        wanted = _run(found.sandbox, setup, task["reference"])
        done = _run(found.sandbox, setup, task["candidate"])
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


def _run(sandbox: Sandbox, setup: str, command: str) -> _Ran:
    """The first of two runs builds the file system, the second is the command: what it did is its own.

    Between tasks the benchmark has git put its files back, and git keeps no empty folder.
    """
    script = (
        "if [ ! -e /run/built ]; then\n(\n"
        + setup
        + f"\n{_CLEAN}\n) > /dev/null 2>&1\n: > /run/built\nexit 0\nfi\n"
        "cd /\n" + _as_it_was_run(command) + "\n"
    )
    seen = sandbox.run(PreparedRun(script=script, limits=LIMITS, runs=2))
    built, ran = seen.runs
    # The benchmark sees both outputs as one text.
    printed = ran.stdout + ran.stderr
    return _Ran(ran.ended, ran.status, observe(built.after, ran.after, printed))


def _as_it_was_run(command: str) -> str:
    """The benchmark puts the command between double quotes as they are, and splits that into words as a shell would.

    What stands between double quotes in the command loses them, and ends the command where a space is in it.
    """
    try:
        words = shlex.split(f'bash -c "{command}"')
    except ValueError:  # an odd number of quotes
        return command
    return shlex.join(words)


class _Cause(NamedTuple):
    """Why a reward can be another one here: what is looked for, where, and what it says."""

    pattern: re.Pattern[str]
    where: str
    words: str


# The first that is found is named.
_CAUSES = (
    _Cause(re.compile("command not found|Can't exec"), "here", "a program is missing here"),
    _Cause(re.compile("command not found"), "published", "a program was missing there"),
    _Cause(
        re.compile(r"\b(curl|wget|ping|dig|host|nslookup|ssh|scp)\b"), "asked", "no network here"
    ),
    _Cause(
        re.compile(r"-[acm](time|min)\b|-newer|-printf|\bls -\w*[lt]|-ls\b|\bstat\b|--preserve"),
        "asked",
        "times of files: theirs are of the day their image was built, and of tasks before this one",
    ),
    _Cause(
        re.compile(
            r"find (-|\. |/ |\S+ / |\"?\$)|/usr|/var|/etc|/proc|\$PATH|\bdf\b|\bfree\b|du -\w+ /(?!\w)"
        ),
        "asked",
        "the rest of the machine: other programs and files than in their image",
    ),
    _Cause(
        re.compile(
            r"\b(date|hostname|whoami|nproc|uname|ps|top|ifconfig|ip|screen|history|jobs)\b"
        ),
        "asked",
        "the machine itself: its date, name, processes",
    ),
    _Cause(
        re.compile(r"\b(tar|gzip|zip|bzip2)\b"), "asked", "archives hold times and their own order"
    ),
    _Cause(re.compile("/dev/tty|No such device"), "here", "no terminal here"),
)


def _cause(task: dict[str, Any], done: _Ran, wanted: _Ran) -> str:
    """In words; *not known* is a difference that is still to be looked into."""
    texts = {
        "asked": f"{task['candidate']}\n{task['reference']}",
        "here": done.outcome.printed + wanted.outcome.printed,
        "published": str(task.get("candidate_output", "")),
    }
    for cause in _CAUSES:
        if cause.pattern.search(texts[cause.where]):
            return cause.words
    return "not known"


def _print_difference(task: dict[str, Any], ours: float, done: _Ran, wanted: _Ran) -> None:
    print(
        f"{task['id']}: {ours} here, {task['candidate_reward']} published: {_cause(task, done, wanted)}"
    )
    print(f"  {show_name(task['candidate'])} for {show_name(task['reference'])}")
    for what, ran in (("did", done), ("wanted", wanted)):
        changes = sorted(f"{code} {path}" for path, code in ran.outcome.changes)
        print(f"  {what}: {changes[:5]} {show_name(ran.outcome.printed[:150])}")
    print(f"  published output: {show_name(str(task.get('candidate_output', ''))[:150])}")
