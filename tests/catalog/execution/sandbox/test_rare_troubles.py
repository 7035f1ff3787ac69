"""What seldom happens: a full file system, folders without end, files that are mostly holes, a clock that jumps."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from catalog.execution.cases import run_case
from catalog.execution.sandbox import Limits, Observation, PreparedRun, Sandbox, bubblewrap
from tests.catalog.execution.cases.writing import make_case
from tests.catalog.execution.scripted import ScriptedSandbox, run_seen, world_seen

LIMITS = Limits(seconds=60)
SMALL = bubblewrap._START.replace(
    "; main()", "; process.PRIVATE_SIZE = '64k'; process.main()"
).replace(
    "from catalog.execution.helper.process import main",
    "from catalog.execution.helper import process",
)


def test_a_full_file_system_is_no_fault_of_the_script_and_leaves_nothing(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that the helper makes for itself is so small that bubblewrap does not fit: a real ENOSPC."""
    assert "PRIVATE_SIZE" in SMALL
    mounts = Path("/proc/self/mountinfo").read_text()
    monkeypatch.setattr(bubblewrap, "_START", SMALL)
    (found,) = run_case(make_case(), ":", sandbox, limits=LIMITS).checks
    assert found.state == "not run"
    assert "No space left on device" in found.got
    assert Path("/proc/self/mountinfo").read_text() == mounts
    monkeypatch.undo()
    assert run_case(make_case(), ":", sandbox, limits=LIMITS).state == "passed"


@pytest.mark.slow
def test_four_thousand_nested_folders_are_left_out_and_gone(sandbox: Sandbox) -> None:
    script = "perl -e 'for (1 .. 4000) { mkdir q(d) and chdir q(d) or die $! }' && echo made"
    seen = sandbox.run(PreparedRun(script=script, limits=LIMITS))
    assert (seen.runs[0].stdout, seen.cut) == ("made\n", "folders more than 100 deep")
    result = run_case(make_case(), script, sandbox, limits=LIMITS)
    assert result.state == "unsupported"
    assert "folders more than 100 deep" in result.checks[0].got


@pytest.mark.slow
def test_a_sparse_file_larger_than_what_is_read_is_left_out(sandbox: Sandbox) -> None:
    large = Limits(seconds=60, disk_bytes=128 << 20)
    seen = sandbox.run(PreparedRun(script="truncate -s 100M /srv/holes", limits=large))
    assert seen.cut == "more than 64 MB in files"
    assert (seen.runs[0].after["/srv/holes"].size, seen.runs[0].after["/srv/holes"].sha256) == (
        100 << 20,
        None,
    )
    several = "for i in 1 2 3; do truncate -s 30M /srv/$i; done"
    assert sandbox.run(PreparedRun(script=several, limits=LIMITS)).cut == "more than 64 MB in files"
    assert (
        "File too large" in sandbox.run(PreparedRun(script="truncate -s 65M /srv/x")).runs[0].stderr
    )


@pytest.mark.parametrize(
    "moments, days",
    [
        pytest.param(["23:59:59", "+1 00:00:01", "+1 00:00:02", "+1 00:00:03"], 2, id="midnight"),
        pytest.param(["12:00:00", "-3 12:00:00", "-3 12:00:01", "-3 12:00:02"], 2, id="a clock set back"),
        pytest.param(["12:00:00", "12:00:09"], 1, id="the same day"),
    ],
)  # fmt: skip
def test_a_run_over_which_the_day_changes_is_made_once_more(
    moments: list[str], days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(moments)
    paths: list[str] = []

    def answer(prepared: PreparedRun) -> Observation:
        paths.append(prepared.files[-1]["path"])
        return world_seen(run_seen())

    monkeypatch.setattr("time.time", lambda: _moment(next(clock)))
    case = make_case(world={"files": [{"path": "/srv/x"}]})
    dated = case.model_copy(
        update={"world": case.world.model_copy(
            update={"files": (case.world.files[0].model_copy(update={"path": "/srv/{date:%d}"}),)}
        )}
    )  # fmt: skip
    assert run_case(dated, ":", ScriptedSandbox(answer)).state == "passed"
    assert len(paths) == len(set(paths)) == days, "each with the date of its own day"


def _moment(told: str) -> float:
    day, _, time = told.rpartition(" ")
    hour, minute, second = map(int, time.split(":"))
    return datetime(2026, 3, 10 + int(day or 0), hour, minute, second, tzinfo=UTC).timestamp()
