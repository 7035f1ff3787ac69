from __future__ import annotations

import time

import pytest

from scriptsmith_site.embedded.supervision.restarts import Restarts


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def test_what_dies_again_and_again_is_started_ever_later_and_then_no_more(clock: Clock) -> None:
    restarts = Restarts()
    delays = []
    while restarts.note_end():
        delays.append(restarts.due_at - clock.now)
        clock.now = restarts.due_at
        restarts.note_start()
    assert delays == [0.5, 1, 2, 4, 8]


def test_starts_that_fail_count_like_ends(clock: Clock) -> None:
    restarts = Restarts()
    clock.now += 1000
    tries = 0
    while restarts.note_end():
        clock.now = restarts.due_at
        tries += 1
    assert tries == 5


def test_what_has_run_for_a_while_is_forgiven_its_past(clock: Clock) -> None:
    restarts = Restarts()
    for _ in range(20):
        assert restarts.note_end()
        assert restarts.due_at == clock.now + 0.5
        restarts.note_start()
        clock.now += 61
