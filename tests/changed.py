"""Run the fast tests of the modules that a change affects, nearest first, for about a minute.

    python -m tests.changed [BASE]

The working tree is compared with BASE. The default is HEAD, or the commit before HEAD if the tree has no changes. A
change affects three kinds of test modules: changed ones, those in the test folder of a changed module or template, and
those that import a changed module directly or indirectly.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import grimp

from tests.budget import TIERS

ROOT = Path(__file__).resolve().parents[1]
APPS = ("core", "catalog", "pipeline", "review", "scriptsmith_site")
CASES = 1500  # about 40 s on two cores, plus 15 s to start
_FOLDER, _FAR = 1, 99


def main(base: str = "") -> int:
    changed = changed_files(base)
    nearest = rank(changed)
    chosen, left_out = choose(nearest)
    if not chosen:
        print("The change reaches no test.")
        return 0
    if left_out:
        print(f"Left out {left_out} test modules that the change reaches from further away.")
    tier = next(iter(TIERS))
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", "-m", tier, *chosen]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def changed_files(base: str) -> list[str]:
    """Return the changed and new files as paths relative to the project folder."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    new = git("ls-files", "--others", "--exclude-standard")
    if base:
        return git("diff", "--name-only", base) + new
    return git("diff", "--name-only", "HEAD") + new or git("diff", "--name-only", "HEAD~1")


def rank(changed: list[str]) -> dict[str, int]:
    """Return the distance in imports of each affected test module."""
    graph = grimp.build_graph(*APPS, "tests", cache_dir=str(ROOT / ".import_linter_cache"))
    distance: dict[str, int] = {}
    level = {name for path in changed if (name := _module(path)) in graph.modules}
    for steps in range(_FAR):
        for name in level:
            distance.setdefault(name, steps)
        level = {
            other for name in level for other in graph.find_modules_that_directly_import(name)
        } - distance.keys()
        if not level:
            break
    reached = {
        path: distance[_module(path)] for path in _test_modules() if _module(path) in distance
    }
    for folder in {_test_folder(path) for path in changed} - {None}:
        for path in _test_modules(folder):
            reached[path] = min(_FOLDER, reached.get(path, _FAR))
    return reached


def choose(reached: dict[str, int]) -> tuple[list[str], int]:
    """Return the nearest test modules with about CASES tests, and the number of omitted modules."""
    by_distance = defaultdict(list)
    for path, distance in reached.items():
        by_distance[distance].append(path)
    chosen: list[str] = []
    cases = 0
    for _, paths in sorted(by_distance.items()):
        for path in sorted(paths):
            cases += (ROOT / path).read_text().count("\ndef test_")
            if chosen and cases > CASES:
                return chosen, len(reached) - len(chosen)
            chosen.append(path)
    return chosen, 0


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _test_modules(folder: str = "tests") -> list[str]:
    return [str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("test_*.py")]


def _test_folder(path: str) -> str | None:
    """Return the test folder of a module or template, tests/<app>/<package>, or None."""
    parts = Path(path).parent.parts
    if parts[:1] == ("templates",):
        parts = parts[1:]
    parts = ("site", *parts[1:]) if parts[:1] == ("scriptsmith_site",) else parts
    while len(parts) > 1:
        if (ROOT / "tests").joinpath(*parts).is_dir():
            return str(Path("tests", *parts))
        parts = parts[:-1]
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
