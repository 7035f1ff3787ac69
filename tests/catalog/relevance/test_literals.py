"""Literals of statements: what is found, and by what value it is compared."""

from __future__ import annotations

import pytest

from catalog.relevance import Kind, find_literals


def said(text: str) -> list[str]:
    """The literals of a text as "kind value", a guess with a question mark behind it."""
    return [
        f"{literal.kind} {literal.value}{'' if literal.firm else '?'}"
        for literal in find_literals(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("delete everything in /var/log", ["path /var/log"], id="absolute path"),
        pytest.param("list /var/log/", ["path /var/log"], id="trailing slash does not count"),
        pytest.param("list /var//log", ["path /var/log"], id="doubled slashes do not count"),
        pytest.param("look into /var/log.", ["path /var/log"], id="path at the end of a sentence"),
        pytest.param("search / for cores", ["path /"], id="root directory by sign"),
        pytest.param("list ~/src", ["path ~/src"], id="home by sign"),
        pytest.param("list $HOME/src", ["path ~/src"], id="home by variable"),
        pytest.param("list $DIR/sub", ["path $DIR/sub"], id="a path with a variable"),
        pytest.param("run ./deploy.sh", ["path deploy.sh"], id="dot slash is left out"),
        pytest.param("list ../other", ["path ../other"], id="parent directory"),
        pytest.param("show a/b.txt", ["path a/b.txt"], id="relative path"),
        pytest.param("show .bashrc", ["path .bashrc"], id="dotted file"),
        pytest.param("delete report.txt", ["path report.txt"], id="file name with type"),
        pytest.param(
            "unpack archive.tar.gz", ["path archive.tar.gz"], id="file name with two types"
        ),
        pytest.param("show my-notes.txt", ["path my-notes.txt"], id="file name with a dash"),
        pytest.param(
            "list files/directories and/or links", [], id="slash between words is no path"
        ),
        pytest.param("archive dir/", ["path dir"], id="a folder with a slash behind it"),
        pytest.param("list files in the current directory", ["path .?"], id="current directory"),
        pytest.param("list files in my home directory", ["path ~?"], id="home directory"),
        pytest.param("search the entire file system", ["path /?"], id="entire file system"),
        pytest.param("delete *.log", ["glob *.log"], id="glob"),
        pytest.param("delete '*.log'", ["glob *.log"], id="glob in quotes"),
        pytest.param("delete /tmp/*.log", ["glob /tmp/*.log"], id="glob in a path"),
        pytest.param("delete a?c", ["glob a?c"], id="glob of one letter"),
        pytest.param("delete [0-9]*", ["glob [0-9]*"], id="character class"),
        pytest.param("delete .log files", ["glob *.log"], id="file type with a dot"),
        pytest.param("delete pdf files", ["glob *.pdf?"], id="file type by a bare word"),
        pytest.param("which file?", [], id="question mark at the end is no glob"),
        pytest.param("find 'foo'", ["text foo"], id="single quotes"),
        pytest.param('find "two words"', ["text two words"], id="double quotes"),
        pytest.param("find `baz'", ["text baz"], id="back quotes"),
        pytest.param("find “foo”", ["text foo"], id="typographic quotes"),
        pytest.param("show the user's files and the host's name", [], id="apostrophe is no quote"),
        pytest.param(
            'find "foo and delete bar.txt', ["name foo?", "path bar.txt"], id="unbalanced quote"
        ),
        pytest.param('find "/var/log/"', ["path /var/log"], id="path in quotes"),
        pytest.param("older than 30 days", ["duration 2592000"], id="days"),
        pytest.param("older than 1 week", ["duration 604800"], id="a week is seven days"),
        pytest.param("within 24 hours", ["duration 86400"], id="24 hours are a day"),
        pytest.param("for 2h", ["duration 7200"], id="compact hours"),
        pytest.param("a 30-day window", ["duration 2592000"], id="hyphenated"),
        pytest.param("older than ten days", ["duration 864000"], id="number word with unit"),
        pytest.param("wait half an hour", ["duration 1800"], id="half an hour"),
        pytest.param("modified within the last hour", ["duration 3600"], id="last hour"),
        pytest.param("every hour", ["duration 3600?"], id="an hour is soft"),
        pytest.param("5 or more days ago", ["duration 432000"], id="or more"),
        pytest.param("in the last 7*24 hours", ["duration 604800"], id="product"),
        pytest.param("modified today", ["duration 86400?"], id="today is soft"),
        pytest.param("over 10M", ["size 10485760"], id="capital M is a size"),
        pytest.param("larger than 100 MB", ["size 104857600"], id="size"),
        pytest.param("larger than 100MB", ["size 104857600"], id="size without space"),
        pytest.param("over 4 KiB", ["size 4096"], id="kibibytes"),
        pytest.param("files of size 5m", ["size 5242880"], id="m near size is a size"),
        pytest.param(
            "between 10 and 20 MB",
            ["size 10485760", "size 20971520"],
            id="unit of the second number",
        ),
        pytest.param("200 bytes", ["size 200"], id="bytes"),
        pytest.param("over 90%", ["percent 90"], id="percent sign"),
        pytest.param("over 5 percent", ["percent 5"], id="percent"),
        pytest.param("the 10 largest files", ["number 10"], id="plain number"),
        pytest.param("the first 1,000 lines", ["number 1000"], id="thousands"),
        pytest.param("the five largest files", ["number 5?"], id="number word is soft"),
        pytest.param("the 2nd column", ["number 2"], id="ordinal"),
        pytest.param("the third line", ["number 3?"], id="ordinal word is soft"),
        pytest.param("lines 10-20", ["number 10-20"], id="range"),
        pytest.param("kill -9", ["number -9"], id="negative"),
        pytest.param("listening on port 8080", ["port 8080"], id="port"),
        pytest.param("open ports 80 and 443", ["port 80", "port 443"], id="ports"),
        pytest.param("set permissions to 644", ["mode 644"], id="mode"),
        pytest.param("set 0644 on x.sh", ["mode 644", "path x.sh"], id="mode with a zero"),
        pytest.param("chmod 4755 x.sh", ["mode 4755", "path x.sh"], id="mode of four digits"),
        pytest.param("give u+x to run.sh", ["mode u+x", "path run.sh"], id="symbolic mode"),
        pytest.param("set rw-r--r-- on x.sh", ["mode 644", "path x.sh"], id="listed mode"),
        pytest.param("ping 10.0.0.1", ["address 10.0.0.1"], id="IP address"),
        pytest.param("block 10.0.0.0/8", ["address 10.0.0.0/8"], id="network"),
        pytest.param("connect to 10.0.0.1:22", ["address 10.0.0.1:22"], id="address with port"),
        pytest.param("ping fe80::1", ["address fe80::1"], id="IPv6"),
        pytest.param(
            "download https://example.com/a?b=c", ["url https://example.com/a?b=c"], id="URL"
        ),
        pytest.param("mail admin@example.com", ["email admin@example.com"], id="e-mail"),
        pytest.param("log in to db01.example.com", ["host db01.example.com"], id="host"),
        pytest.param(
            "connect to db01.example.com:5432", ["host db01.example.com:5432"], id="host with port"
        ),
        pytest.param("since 2024-01-31", ["date 2024-01-31"], id="date"),
        pytest.param("at 02:30", ["date 02:30"], id="time"),
        pytest.param("print $PATH_OLD", ["variable $PATH_OLD"], id="variable"),
        pytest.param("print ${NAME}", ["variable $NAME"], id="variable in braces"),
        pytest.param("restart nginx", ["name nginx"], id="service after the verb"),
        pytest.param("the nginx service", ["name nginx"], id="service before its role"),
        pytest.param("the service nginx", ["name nginx"], id="service after its role"),
        pytest.param("owned by joe", ["name joe"], id="user"),
        pytest.param("lock user bob", ["name bob"], id="user by role"),
        pytest.param("install curl", ["name curl"], id="package"),
        pytest.param("stop container web1", ["name web1"], id="container"),
        pytest.param(
            "pods in the default namespace", ["name default?"], id="namespace by an ordinary word"
        ),
        pytest.param("dump database orders", ["name orders"], id="database by an ordinary word"),
        pytest.param("files named core", ["name core"], id="named ordinary word"),
        pytest.param(
            "merge branch feature/login", ["path feature/login"], id="branch with a slash"
        ),
        pytest.param("ping web-01", ["name web-01"], id="identifier with digits"),
        pytest.param("print my_var", ["name my_var"], id="identifier with underscore"),
        pytest.param("print fooBar", ["name fooBar"], id="identifier with inner capital"),
        pytest.param("restart when frobnicated", ["name frobnicated?"], id="unknown word is soft"),
        pytest.param("show disk usage of every file system", [], id="ordinary words are nothing"),
        pytest.param("processes with UID=1000", ["number 1000"], id="assignment"),
        pytest.param("with --force", ["text --force?"], id="option is soft"),
        pytest.param("e.g. the others", [], id="abbreviation is nothing"),
        pytest.param("", [], id="empty"),
        pytest.param("?!,.;:()", [], id="only punctuation"),
    ],
)
def test_literals_are_found_and_comparable(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "role"),
    [
        pytest.param("restart nginx", "service", id="object of restart"),
        pytest.param("reload the nginx service", "service", id="before its role"),
        pytest.param("the status of service nginx", "service", id="after its role"),
        pytest.param("install the package curl", "package", id="package"),
        pytest.param("files owned by joe", "user", id="owner"),
        pytest.param("lock the user named bob", "user", id="named"),
        pytest.param("drain worker7", "host", id="object of drain"),
        pytest.param("logs of the pod web-7f", "pod", id="pod"),
        pytest.param("kill tomcat", "process", id="object of kill"),
        pytest.param("listening on port 443", "port", id="port"),
        pytest.param("show /var/log", "", id="none"),
    ],
)
def test_a_role_is_told_by_the_words_beside(text: str, role: str) -> None:
    assert find_literals(text)[0].role == role


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        pytest.param("copy /a to /b", ["", "to"], id="to"),
        pytest.param("copy /b from /a", ["", "from"], id="from"),
        pytest.param("copy from /a into /b", ["from", "to"], id="both"),
        pytest.param("copy /a to the host web-01", ["", "to"], id="with a role between"),
        pytest.param("copy /a and /b", ["", ""], id="neither"),
        pytest.param("move to trash, then list /a", [""], id="not beyond a comma"),
    ],
)
def test_from_and_to_are_kept(text: str, sides: list[str]) -> None:
    assert [literal.side for literal in find_literals(text)] == sides


def test_positions_point_into_the_text() -> None:
    text = "Delete '*.log' older than 30 days in /var/log, owned by joe's group"

    found = {literal.kind: text[literal.start : literal.end] for literal in find_literals(text)}

    assert found == {
        Kind.GLOB: "*.log",
        Kind.DURATION: "30 days",
        Kind.PATH: "/var/log",
        Kind.NAME: "joe",
    }


def test_only_the_first_characters_of_a_long_text_are_read() -> None:
    assert find_literals("x " * 10_000 + "/var/log") == ()
