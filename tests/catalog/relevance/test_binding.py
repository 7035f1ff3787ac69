"""Which literal goes into which parameter."""

from __future__ import annotations

import pytest

from catalog.relevance import Parameter, find_literals
from catalog.relevance.binding import bind

DIRECTORY = Parameter(name="DIRECTORY", type="path")
SOURCE = Parameter(name="SOURCE", type="path")
DESTINATION = Parameter(name="DESTINATION", type="path")
DAYS = Parameter(name="DAYS", type="number")
AGE = Parameter(name="AGE", type="number", description="in days")
MINUTES = Parameter(name="MINUTES", type="number")
MEGABYTES = Parameter(name="MEGABYTES", type="number")
COUNT = Parameter(name="COUNT", type="number")
PORT = Parameter(name="PORT", type="number")
PERCENT = Parameter(name="PERCENT", type="number")
SERVICE = Parameter(name="SERVICE")
USERNAME = Parameter(name="USERNAME")
HOST = Parameter(name="HOST")
PATTERN = Parameter(name="PATTERN")
SINCE = Parameter(name="SINCE", default="2 hours ago")
MODE = Parameter(name="MODE")
LEVEL = Parameter(name="LEVEL", type="choice", choices=("error", "warning"))
TEXT = Parameter(name="TEXT")


@pytest.mark.parametrize(
    ("text", "parameters", "fills"),
    [
        pytest.param("in /srv/www", [DIRECTORY], {"DIRECTORY": "/srv/www"}, id="path"),
        pytest.param("in ./www/", [DIRECTORY], {"DIRECTORY": "./www/"}, id="path as written"),
        pytest.param("in the current directory", [DIRECTORY], {"DIRECTORY": "."}, id="here"),
        pytest.param("older than 7 days", [DIRECTORY], {}, id="a duration is no path"),
        pytest.param("older than 2 weeks", [DAYS], {"DAYS": "14"}, id="weeks in days"),
        pytest.param("older than 36 hours", [DAYS], {}, id="no whole number of days"),
        pytest.param("older than 2 weeks", [AGE], {"AGE": "14"}, id="unit in the description"),
        pytest.param("older than 2 weeks", [COUNT], {}, id="a duration is no count"),
        pytest.param("within an hour", [MINUTES], {"MINUTES": "60"}, id="an hour in minutes"),
        pytest.param("over 2 GB", [MEGABYTES], {"MEGABYTES": "2048"}, id="size in its unit"),
        pytest.param("over 2 GB", [DAYS], {}, id="a size is no duration"),
        pytest.param("the 10 largest", [COUNT], {"COUNT": "10"}, id="number"),
        pytest.param("the ten largest", [COUNT], {"COUNT": "10"}, id="number in words"),
        pytest.param("the 10 largest", [DAYS], {}, id="a bare number has no unit"),
        pytest.param("on port 8080", [COUNT, PORT], {"PORT": "8080"}, id="port"),
        pytest.param("on 8080", [PORT], {"PORT": "8080"}, id="port by number alone"),
        pytest.param("above 90%", [PERCENT], {"PERCENT": "90"}, id="percent"),
        pytest.param("restart nginx", [SERVICE], {"SERVICE": "nginx"}, id="service"),
        pytest.param("restart nginx", [USERNAME], {}, id="a service is no user"),
        pytest.param("lock user bob", [SERVICE, USERNAME], {"USERNAME": "bob"}, id="user"),
        pytest.param("on db1.example.com", [HOST], {"HOST": "db1.example.com"}, id="host"),
        pytest.param("on 10.0.0.1", [HOST], {"HOST": "10.0.0.1"}, id="address as host"),
        pytest.param("the *.log files", [PATTERN], {"PATTERN": "*.log"}, id="glob"),
        pytest.param("the *.log files", [SERVICE], {}, id="a glob is no service"),
        pytest.param("set 0640", [MODE], {"MODE": "0640"}, id="mode as written"),
        pytest.param("since 5 minutes ago", [SINCE], {"SINCE": "5 minutes ago"}, id="ago"),
        pytest.param("lines with 'x y'", [TEXT], {"TEXT": "x y"}, id="quoted words"),
        pytest.param("show warning lines", [LEVEL], {"LEVEL": "warning"}, id="choice by a word"),
        pytest.param("show 'error' lines", [LEVEL], {"LEVEL": "error"}, id="choice in quotes"),
        pytest.param("show debug lines", [LEVEL], {}, id="not among the choices"),
        pytest.param(
            "copy /a to /b",
            [DESTINATION, SOURCE],
            {"DESTINATION": "/b", "SOURCE": "/a"},
            id="source and destination",
        ),
        pytest.param(
            "copy to /b from /a",
            [SOURCE, DESTINATION],
            {"SOURCE": "/a", "DESTINATION": "/b"},
            id="the other way round",
        ),
        pytest.param("copy to /b", [SOURCE], {}, id="a destination is no source"),
        pytest.param("of /a and /b", [DIRECTORY], {"DIRECTORY": "/a"}, id="one value for one"),
        pytest.param("", [DIRECTORY, DAYS], {}, id="nothing said"),
    ],
)
def test_literals_go_into_parameters_of_their_kind(
    text: str, parameters: list[Parameter], fills: dict[str, str]
) -> None:
    assert bind(find_literals(text), parameters, text).fills == fills
