"""Tests for the literals found in statements, their comparison, and the parameters that they fill."""

from __future__ import annotations

from catalog.models import Version
from catalog.relevance import Kind, Parameter, find_literals
from catalog.relevance.binding import bind
from catalog.retrieval.answers import Found, candidate_of


def said(text: str) -> list[str]:
    """Return the literals of a text as "kind value", with a question mark after guesses."""
    return [
        f"{literal.kind} {literal.value}{'' if literal.firm else '?'}"
        for literal in find_literals(text)
    ]


LITERALS = {
    "delete everything in /var/log": ["path /var/log"],
    "list /var/log/": ["path /var/log"],
    "list /var//log": ["path /var/log"],
    "look into /var/log.": ["path /var/log"],
    "search / for cores": ["path /"],
    "list ~/src": ["path ~/src"],
    "list $HOME/src": ["path ~/src"],
    "list $DIR/sub": ["path $DIR/sub"],
    "run ./deploy.sh": ["path deploy.sh"],
    "list ../other": ["path ../other"],
    "show a/b.txt": ["path a/b.txt"],
    "show .bashrc": ["path .bashrc"],
    "delete report.txt": ["path report.txt"],
    "unpack archive.tar.gz": ["path archive.tar.gz"],
    "show my-notes.txt": ["path my-notes.txt"],
    "list files/directories and/or links": [],
    "archive dir/": ["path dir"],
    "list files in the current directory": ["path .?"],
    "list files in my home directory": ["path ~?"],
    "search the entire file system": ["path /?"],
    "delete *.log": ["glob *.log"],
    "delete '*.log'": ["glob *.log"],
    "delete /tmp/*.log": ["glob /tmp/*.log"],
    "delete a?c": ["glob a?c"],
    "delete [0-9]*": ["glob [0-9]*"],
    "delete .log files": ["glob *.log"],
    "delete pdf files": ["glob *.pdf?"],
    "which file?": [],
    "find 'foo'": ["text foo"],
    'find "two words"': ["text two words"],
    "find `baz'": ["text baz"],
    "find “foo”": ["text foo"],
    "show the user's files and the host's name": [],
    'find "foo and delete bar.txt': ["name foo?", "path bar.txt"],
    'find "/var/log/"': ["path /var/log"],
    "older than 30 days": ["duration 2592000"],
    "older than 1 week": ["duration 604800"],
    "within 24 hours": ["duration 86400"],
    "for 2h": ["duration 7200"],
    "a 30-day window": ["duration 2592000"],
    "older than ten days": ["duration 864000"],
    "wait half an hour": ["duration 1800"],
    "modified within the last hour": ["duration 3600"],
    "every hour": ["duration 3600?"],
    "5 or more days ago": ["duration 432000"],
    "in the last 7*24 hours": ["duration 604800"],
    "modified today": ["duration 86400?"],
    "over 10M": ["size 10485760"],
    "larger than 100 MB": ["size 104857600"],
    "larger than 100MB": ["size 104857600"],
    "over 4 KiB": ["size 4096"],
    "files of size 5m": ["size 5242880"],
    "between 10 and 20 MB": ["size 10485760", "size 20971520"],
    "200 bytes": ["size 200"],
    "over 90%": ["percent 90"],
    "over 5 percent": ["percent 5"],
    "the 10 largest files": ["number 10"],
    "the first 1,000 lines": ["number 1000"],
    "the five largest files": ["number 5?"],
    "the 2nd column": ["number 2"],
    "the third line": ["number 3?"],
    "lines 10-20": ["number 10-20"],
    "kill -9": ["number -9"],
    "listening on port 8080": ["port 8080"],
    "open ports 80 and 443": ["port 80", "port 443"],
    "set permissions to 644": ["mode 644"],
    "set 0644 on x.sh": ["mode 644", "path x.sh"],
    "chmod 4755 x.sh": ["mode 4755", "path x.sh"],
    "give u+x to run.sh": ["mode u+x", "path run.sh"],
    "set rw-r--r-- on x.sh": ["mode 644", "path x.sh"],
    "ping 10.0.0.1": ["address 10.0.0.1"],
    "block 10.0.0.0/8": ["address 10.0.0.0/8"],
    "connect to 10.0.0.1:22": ["address 10.0.0.1:22"],
    "ping fe80::1": ["address fe80::1"],
    "download https://example.com/a?b=c": ["url https://example.com/a?b=c"],
    "mail admin@example.com": ["email admin@example.com"],
    "log in to db01.example.com": ["host db01.example.com"],
    "connect to db01.example.com:5432": ["host db01.example.com:5432"],
    "since 2024-01-31": ["date 2024-01-31"],
    "at 02:30": ["date 02:30"],
    "print $PATH_OLD": ["variable $PATH_OLD"],
    "print ${NAME}": ["variable $NAME"],
    "restart nginx": ["name nginx"],
    "the nginx service": ["name nginx"],
    "the service nginx": ["name nginx"],
    "owned by joe": ["name joe"],
    "lock user bob": ["name bob"],
    "install curl": ["name curl"],
    "stop container web1": ["name web1"],
    "pods in the default namespace": ["name default?"],
    "dump database orders": ["name orders"],
    "files named core": ["name core"],
    "merge branch feature/login": ["path feature/login"],
    "ping web-01": ["name web-01"],
    "print my_var": ["name my_var"],
    "print fooBar": ["name fooBar"],
    "restart when frobnicated": ["name frobnicated?"],
    "show disk usage of every file system": [],
    "processes with UID=1000": ["number 1000"],
    "with --force": ["text --force?"],
    "e.g. the others": [],
    "": [],
    "?!,.;:()": [],
}


def test_literals_are_found_and_comparable() -> None:
    wrong = {text: got for text, wanted in LITERALS.items() if (got := said(text)) != wanted}
    assert not wrong
    assert find_literals("x " * 10_000 + "/var/log") == ()


ROLES = {
    "restart nginx": "service",
    "reload the nginx service": "service",
    "the status of service nginx": "service",
    "install the package curl": "package",
    "files owned by joe": "user",
    "lock the user named bob": "user",
    "drain worker7": "host",
    "logs of the pod web-7f": "pod",
    "kill tomcat": "process",
    "listening on port 443": "port",
    "show /var/log": "",
}


def test_role_and_side_of_a_literal_are_told() -> None:
    found = {text: find_literals(text)[0].role for text in ROLES}
    assert found == ROLES
    found = {text: [literal.side for literal in find_literals(text)] for text in SIDES}
    assert found == SIDES


SIDES = {
    "copy /a to /b": ["", "to"],
    "copy /b from /a": ["", "from"],
    "copy from /a into /b": ["from", "to"],
    "copy /a to the host web-01": ["", "to"],
    "copy /a and /b": ["", ""],
    "move to trash, then list /a": [""],
}


def test_positions_point_into_the_text() -> None:
    text = "Delete '*.log' older than 30 days in /var/log, owned by joe's group"
    found = {literal.kind: text[literal.start : literal.end] for literal in find_literals(text)}
    assert found == {
        Kind.GLOB: "*.log",
        Kind.DURATION: "30 days",
        Kind.PATH: "/var/log",
        Kind.NAME: "joe",
    }


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


def test_value_of_an_undescribed_optional_text_is_not_taken_from_a_statement() -> None:
    rows: list[dict[str, object]] = [
        {"name": "SERVICE"},
        {"name": "FORCE", "required": False},
        {"name": "LABEL", "required": False, "description": "which pods"},
        {"name": "LINES", "required": False, "type": "number"},
        {"name": "ZONE", "required": False, "default": "UTC"},
    ]
    found = Found(Version(script="ls", parameters=rows), "List", ("List",), 0.9)
    offered = [parameter.name for parameter in candidate_of(found).parameters]
    assert offered == ["SERVICE", "LABEL", "LINES", "ZONE"]
