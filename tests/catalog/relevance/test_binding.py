"""Which literal goes into which parameter."""

from __future__ import annotations

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


FILLS: list[tuple[str, list[Parameter], dict[str, str]]] = [
    ("in /srv/www", [DIRECTORY], {"DIRECTORY": "/srv/www"}),
    ("in ./www/", [DIRECTORY], {"DIRECTORY": "./www/"}),
    ("in the current directory", [DIRECTORY], {"DIRECTORY": "."}),
    ("older than 7 days", [DIRECTORY], {}),
    ("older than 2 weeks", [DAYS], {"DAYS": "14"}),
    ("older than 36 hours", [DAYS], {}),
    ("older than 2 weeks", [AGE], {"AGE": "14"}),
    ("older than 2 weeks", [COUNT], {}),
    ("within an hour", [MINUTES], {"MINUTES": "60"}),
    ("over 2 GB", [MEGABYTES], {"MEGABYTES": "2048"}),
    ("over 2 GB", [DAYS], {}),
    ("the 10 largest", [COUNT], {"COUNT": "10"}),
    ("the ten largest", [COUNT], {"COUNT": "10"}),
    ("the 10 largest", [DAYS], {}),
    ("on port 8080", [COUNT, PORT], {"PORT": "8080"}),
    ("on 8080", [PORT], {"PORT": "8080"}),
    ("above 90%", [PERCENT], {"PERCENT": "90"}),
    ("restart nginx", [SERVICE], {"SERVICE": "nginx"}),
    ("restart nginx", [USERNAME], {}),
    ("lock user bob", [SERVICE, USERNAME], {"USERNAME": "bob"}),
    ("on db1.example.com", [HOST], {"HOST": "db1.example.com"}),
    ("on 10.0.0.1", [HOST], {"HOST": "10.0.0.1"}),
    ("the *.log files", [PATTERN], {"PATTERN": "*.log"}),
    ("the *.log files", [SERVICE], {}),
    ("set 0640", [MODE], {"MODE": "0640"}),
    ("since 5 minutes ago", [SINCE], {"SINCE": "5 minutes ago"}),
    ("lines with 'x y'", [TEXT], {"TEXT": "x y"}),
    ("show warning lines", [LEVEL], {"LEVEL": "warning"}),
    ("show 'error' lines", [LEVEL], {"LEVEL": "error"}),
    ("show debug lines", [LEVEL], {}),
    ("copy /a to /b", [DESTINATION, SOURCE], {"DESTINATION": "/b", "SOURCE": "/a"}),
    ("copy to /b from /a", [SOURCE, DESTINATION], {"SOURCE": "/a", "DESTINATION": "/b"}),
    ("copy to /b", [SOURCE], {}),
    ("of /a and /b", [DIRECTORY], {"DIRECTORY": "/a"}),
    ("", [DIRECTORY, DAYS], {}),
]


def test_literals_go_into_parameters_of_their_kind() -> None:
    wrong = [
        (text, got, wanted)
        for text, parameters, wanted in FILLS
        if (got := bind(find_literals(text), parameters, text).fills) != wanted
    ]

    assert not wrong
