"""Connections are kept, and not for ever."""

from __future__ import annotations

from scriptsmith_site import serving


class _Asked:
    closes = False

    def force_close(self) -> None:
        self.closes = True


def test_most_requests_leave_the_connection_open_and_some_do_not() -> None:
    asked = [_Asked() for _number in range(2_000)]
    for one in asked:
        serving.pre_request(None, one)
    # A third of 2,000 is 667; these bounds are more than ten standard deviations away.
    assert 400 < sum(one.closes for one in asked) < 900
