"""Run published InterCode tasks in their own file systems, and compare rewards with the published rewards.

SCRIPTSMITH_INTERCODE=DIR names a folder with the tasks and the scripts that build their file systems. Every difference
is printed with its cause and both outputs.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bench.figures import CannotMeasure, Figure, figure
from catalog.execution.cases.display import show_name
from catalog.execution.cases.intercode import Outcome, observe, reward
from catalog.execution.sandbox import Ended, Limits, PreparedRun, Sandbox, find_sandbox

TASKS = "intercode_fs1_fs2.jsonl"
# The benchmark's repository contains no empty folders.
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
    """Measure how many references exit with status 0, and how many rewards match the published rewards."""
    folder = Path(os.environ.get("SCRIPTSMITH_INTERCODE", ""))
    if not (folder / TASKS).is_file():
        raise CannotMeasure(f"SCRIPTSMITH_INTERCODE names no folder with {TASKS}")
    found = find_sandbox()
    if found.sandbox is None:
        raise CannotMeasure(f"no sandbox here: {found.reason} {found.remedy}")
    tasks = [json.loads(line) for line in (folder / TASKS).read_text().splitlines()]
    ended_well = both = close = without_cause = 0
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
            causes = _causes(task, ours, found.sandbox, setup, done, wanted)
            without_cause += not causes
            _print_difference(task, ours, done, wanted, causes)
    return [
        figure(
            f"references of {len(tasks)} that end with status 0",
            ended_well,
            least=HELD_REFERENCES,
        ),
        figure("answers that both can run", both),
        figure(
            f"share of them with the published reward within {CLOSE}",
            close / both if both else None,
            least=HELD_SHARE,
        ),
        figure("differences without a cause", without_cause, exactly=0),
    ]


def _run(sandbox: Sandbox, setup: str, command: str) -> _Ran:
    """Build the file system in the first run and execute the command in the second run, to separate their changes.

    Remove empty folders, because the benchmark restores its files with git, and git ignores empty folders.
    """
    script = (
        "if [ ! -e /run/built ]; then\n(\n"
        + setup
        + f"\n{_CLEAN}\n) > /dev/null 2>&1\n: > /run/built\nexit 0\nfi\n"
        "cd /\n" + _as_it_was_run(command) + "\n"
    )
    seen = sandbox.run(PreparedRun(script=script, limits=LIMITS, runs=2))
    built, ran = seen.runs
    # The benchmark concatenates both outputs.
    printed = ran.stdout + ran.stderr
    return _Ran(ran.ended, ran.status, observe(built.after, ran.after, printed))


def _as_it_was_run(command: str) -> str:
    """Return the command as the benchmark runs it. The benchmark inserts the command unescaped between double quotes.

    Text in double quotes therefore loses its quotes, and a space in the text ends the command.
    """
    try:
        words = shlex.split(f'bash -c "{command}"')
    except ValueError:  # unbalanced quotes
        return command
    return shlex.join(words)


_SHOWN = 8
_DATE = re.compile(r"\d{1,2}:\d{2}(:\d{2})?|(19|20)\d{2}(-\d{2}-\d{2})?|\d{10}(\.\d+)?")
_MONTHS = re.compile(
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|utc"
)
_NOT_THERE = re.compile(
    r"(\S+): (?:command )?not found|can't exec|no such file or directory.*?(/dev/\w+)",
    re.IGNORECASE,
)
_NO_NETWORK = re.compile(
    r"could not resolve|network is unreachable|temporary failure|name or service", re.IGNORECASE
)
_WORLD = re.compile(r"/?(?:testbed|system|backup)\b|^\.{0,2}/?$")


def _causes(
    task: dict[str, Any], ours: float, sandbox: Sandbox, setup: str, done: _Ran, wanted: _Ran
) -> list[str]:
    """Return the causes of a different reward, such as different outputs or file ages.

    The benchmark published the candidate's output, but nothing about the reference's results.
    """
    published, printed = str(task.get("candidate_output", "")), done.outcome.printed
    as_published = reward(replace(done.outcome, printed=published), wanted.outcome)
    causes = []
    if _words(published) != _words(printed):
        explains = (
            "which explains it"
            if abs(as_published - task["candidate_reward"]) <= CLOSE
            else "in part"
        )
        causes.append(
            f"the candidate printed something else, {explains}: {_difference(published, printed)}"
        )
    for who, ran in (("candidate", done), ("reference", wanted)):
        missing = _NOT_THERE.search(ran.outcome.printed)
        if missing is not None and not _NOT_THERE.search(published):
            causes.append(f"the {who} misses here: {show_name(missing[0])}")
        network = _NO_NETWORK.search(ran.outcome.printed)
        if network is not None:
            causes.append(f"the {who} has no network here: {show_name(network[0])}")
    for who, command, ran in (
        ("candidate", task["candidate"], done),
        ("reference", task["reference"], wanted),
    ):
        aged = _run(sandbox, setup + _AGED, command)
        if (
            _words(aged.outcome.printed) != _words(ran.outcome.printed)
            or aged.outcome.changes != ran.outcome.changes
        ):
            causes.append(f"the {who} goes by the times of files, which are of another day there")
    outside = [word for word in _paths(wanted.outcome.printed) if not _WORLD.match(word)]
    if outside:
        causes.append(
            f"the reference prints what is of this machine: {', '.join(map(show_name, outside[:3]))}"
        )
    if _DATE.search(wanted.outcome.printed) and not causes:
        causes.append("the reference prints a date or time")
    for hashes, words in (
        (dict.fromkeys(done.outcome.hashes, "other"), "are equal here, and were not there"),
        (wanted.outcome.hashes, "were equal there, and are not here"),
    ):
        changed = reward(replace(done.outcome, hashes=hashes), wanted.outcome)
        if ours != changed and abs(changed - task["candidate_reward"]) <= CLOSE:
            causes.append(f"the files that both make {words}")
    return causes


# Simulate the files of an image that was built two years ago.
_AGED = "\nfind /testbed /system /backup -exec touch -h -d '700 days ago' {} + 2> /dev/null\n"


def _words(text: str) -> list[str]:
    return re.findall(r"\w\w+|\d", text.lower())


def _paths(text: str) -> list[str]:
    return re.findall(r"(?<!\S)\.?/[\w./+-]+", text)


def _difference(published: str, printed: str) -> str:
    """Describe the words that occur in only one of the outputs, and their kind."""
    theirs, ours = Counter(_words(published)), Counter(_words(printed))
    only_theirs, only_ours = list(theirs - ours), list(ours - theirs)
    if not only_theirs and not only_ours:
        return "the same words in another order"
    apart = [*only_theirs, *only_ours]
    dates = sum(bool(_MONTHS.fullmatch(word) or re.fullmatch(r"\d+", word)) for word in apart)
    kind = "dates and numbers" if dates == len(apart) else "words"
    return f"{kind} only there {only_theirs[:_SHOWN]}, only here {only_ours[:_SHOWN]}"


def _print_difference(
    task: dict[str, Any], ours: float, done: _Ran, wanted: _Ran, causes: list[str]
) -> None:
    print(f"{task['id']}: {ours} here, {task['candidate_reward']} published")
    for cause in causes:
        print(f"  - {cause}")
    print(f"  {show_name(task['candidate'])} for {show_name(task['reference'])}")
    for what, ran in (("did", done), ("wanted", wanted)):
        changes = sorted(f"{code} {path}" for path, code in ran.outcome.changes)
        print(f"  {what}: {changes[:5]} {show_name(ran.outcome.printed[:150])}")
    print(f"  published output: {show_name(str(task.get('candidate_output', ''))[:150])}")
