"""Checks of calls to stubbed commands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from catalog.execution.cases.checks.base import BaseCheck, CallPattern, Seen
from catalog.execution.cases.display import show_list, show_name


class Called(BaseCheck):
    check: Literal["called"]
    call: CallPattern
    times: Annotated[int, Field(ge=1, le=100)] | None = None  # None: at least once

    @property
    def calls(self) -> tuple[CallPattern, ...]:
        return (self.call,)

    def sentence(self) -> str:
        times = "" if self.times is None else f", {_times(self.times)}"
        return f"calls {show_name(str(self.call))}{times}"

    def find_fault(self, seen: Seen) -> str | None:
        count = sum(self.call.fits(call) for call in seen.first.calls)
        if count == self.times or (count and self.times is None):
            return None
        return f"called {_times(count)}; calls made: {_list_calls(seen)}"


class NotCalled(BaseCheck):
    check: Literal["not_called"]
    call: CallPattern

    @property
    def calls(self) -> tuple[CallPattern, ...]:
        return (self.call,)

    def sentence(self) -> str:
        return f"does not call {show_name(str(self.call))}"

    def find_fault(self, seen: Seen) -> str | None:
        if not any(self.call.fits(call) for call in seen.first.calls):
            return None
        return f"calls made: {_list_calls(seen)}"


class CalledBefore(BaseCheck):
    check: Literal["called_before"]
    call: CallPattern
    then: CallPattern

    @property
    def calls(self) -> tuple[CallPattern, ...]:
        return (self.call, self.then)

    def sentence(self) -> str:
        first, then = show_name(str(self.call)), show_name(str(self.then))
        return f"calls {first} before {then} (both required)"

    def find_fault(self, seen: Seen) -> str | None:
        calls = seen.first.calls
        first = next((i for i, call in enumerate(calls) if self.call.fits(call)), None)
        then = next((i for i, call in enumerate(calls) if self.then.fits(call)), None)
        if first is not None and then is not None and first < then:
            return None
        return f"calls made: {_list_calls(seen)}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _list_calls(seen: Seen) -> str:
    return show_list([str(call) for call in seen.first.calls]) if seen.first.calls else "none"
