"""Fill in the dates of sandbox tests. At run time, `{date:%F}` is today and `{date:%F:-1d}` is yesterday.

A script reads the real clock, which can't be faked completely, so the test describes the expected date. Only whole days
are supported, because the comparison may happen up to a minute after the script reads the clock.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

_ANY = re.compile(r"\{date\b[^{}]*\}?")
_FORM = re.compile(
    r"\{date:((?:%[FYmdyjbBaAeuVG]|[-_./ ]|[A-Za-z]){1,40})(?::([+-]\d{1,4})([dw]))?\}"
)
_DAYS = {"d": 1, "w": 7}


def find_bad_dates(data: JsonValue) -> list[str]:
    """Return strings that look like date expressions but are invalid."""
    return [
        found for text in _texts(data) for found in _ANY.findall(text) if not _FORM.fullmatch(found)
    ]


def fill_dates(data: JsonValue, now: float) -> JsonValue:
    """Return the data with all date expressions replaced by dates in UTC."""
    today = datetime.fromtimestamp(now, UTC)

    def fill(match: re.Match[str]) -> str:
        form, offset, unit = match.groups()
        day = today + timedelta(days=int(offset) * _DAYS[unit]) if offset else today
        return day.strftime(form)

    return _map_texts(data, lambda text: _FORM.sub(fill, text))


def day_of(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%F")


def _texts(data: JsonValue) -> list[str]:
    found: list[str] = []
    _map_texts(data, lambda text: found.append(text) or text)  # type: ignore[func-returns-value]
    return found


def _map_texts(data: JsonValue, change: object) -> JsonValue:
    assert callable(change)
    if isinstance(data, str):
        return str(change(data))
    if isinstance(data, list):
        return [_map_texts(item, change) for item in data]
    if isinstance(data, dict):
        return {key: _map_texts(value, change) for key, value in data.items()}
    return data
