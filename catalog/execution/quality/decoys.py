"""Add unexpected files to a scenario: odd names, links, folders and a file in the working folder.

The script's treatment of these files is its *robustness*. Poor robustness is never a failure, because the request did
not mention such files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from catalog.execution.cases import Case, CaseResult, Variation, find_effects, run_case
from catalog.execution.cases.display import show_name
from catalog.execution.cases.effects import Effects
from catalog.execution.helper.messages import FileRequest
from catalog.execution.sandbox import Entry, Limits, Observation, Sandbox

MOST_TWINS = 3


class _Decoy(NamedTuple):
    request: FileRequest
    twin: str  # the test's file that the decoy resembles
    what: str
    alike: bool  # whether the script should treat it like its twin


def try_decoys(
    case: Case, script: str, result: CaseResult, sandbox: Sandbox, limits: Limits
) -> tuple[str, ...]:
    """Return sentences about unwanted effects on the decoys, from at most two runs.

    A decoy in the working folder may affect the whole run, so it is tried in a separate run.
    """
    found: list[str] = []
    for decoys in (list(_twins(case)), list(_in_working_folder(case))):
        if result.observation is None or not decoys:
            continue
        requests = tuple(decoy.request for decoy in decoys)
        tried = run_case(case, script, sandbox, Variation(decoys=requests), limits).observation
        if tried is not None:
            found += _compare(decoys, result.observation, tried)
    return tuple(found)


def _twins(case: Case) -> Iterator[_Decoy]:
    files = [file for file in case.world.files if file.link is None and file.kind != "folder"]
    for file in files[:MOST_TWINS]:
        path = PurePosixPath(file.path)
        names = {
            f"{path.stem} with space{path.suffix}": "a space in its name",
            f"{path.stem}\nline{path.suffix}": "a line break in its name",
            f"-{path.name}": "a leading dash in its name",
        }
        for name, what in names.items():
            request = file.to_request()
            request["path"] = f"{path.parent}/{name}".replace("//", "/")
            yield _Decoy(request, file.path, f"a file with {what}", alike=True)
        link = f"{path.parent}/{path.stem}-link{path.suffix}".replace("//", "/")
        age = file.to_request().get("age", 3600)
        yield _Decoy(
            {"path": link, "kind": "link", "target": "/nowhere", "age": age},
            file.path, "a link", alike=False,
        )  # fmt: skip
        folder = f"{path.parent}/{path.stem}-folder{path.suffix}".replace("//", "/")
        yield _Decoy(
            {"path": folder, "kind": "folder", "age": age}, file.path, "a folder", alike=False
        )


def _in_working_folder(case: Case) -> Iterator[_Decoy]:
    """Yield a file that an unquoted pattern would match in the working folder."""
    for file in case.world.files[:1]:
        path = PurePosixPath(file.path)
        if path.suffix and str(path.parent) != case.world.cwd:
            decoy = f"{case.world.cwd}/decoy{path.suffix}".replace("//", "/")
            request = FileRequest(path=decoy, kind="file", content="", age=60)
            yield _Decoy(request, file.path, "a file in the working folder", alike=False)


def _compare(decoys: list[_Decoy], first: Observation, tried: Observation) -> Iterator[str]:
    fates, odd_fates = _fates(first), _fates(tried)
    for decoy in decoys:
        name = decoy.request["path"]
        fate, odd = fates.get(decoy.twin, "kept"), odd_fates.get(name, "kept")
        if decoy.alike and fate != odd:
            yield (
                f"{decoy.what} is {odd}: {show_name(name)} (but {show_name(decoy.twin)} is {fate})"
            )
        elif not decoy.alike and odd != "kept":
            yield f"{decoy.what} is also {odd}: {show_name(name)}"
    for twin in dict.fromkeys(decoy.twin for decoy in decoys):
        before, after = fates.get(twin, "kept"), odd_fates.get(twin, "kept")
        if before != after:
            beside = " and ".join(dict.fromkeys(decoy.what for decoy in decoys))
            yield f"next to {beside}, {show_name(twin)} is {after} instead of {before}"


def _fates(observation: Observation) -> Mapping[str, str]:
    after: Mapping[str, Entry] = observation.runs[0].after
    effects: Effects = find_effects(observation.before, after)
    return {
        **dict.fromkeys(effects.removed, "removed"),
        **dict.fromkeys(effects.changed, "changed"),
        **dict.fromkeys(effects.touched, "touched"),
    }
