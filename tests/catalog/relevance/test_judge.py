"""Tests for the judgment (match, starting point or neither) and its reasons, differences and values, at realistic
cosines."""

from __future__ import annotations

from dataclasses import replace

from catalog.relevance import Candidate, Parameter, judge, judge_all, shipped_model
from catalog.relevance.judge import MOST_COMPARED
from catalog.types import Answer

MATCH, ADAPT, NONE = Answer.MATCH, Answer.ADAPT, Answer.NONE

CLEAN = Candidate(
    phrasing="Delete files older than 7 days in /tmp",
    script="find /tmp -type f -mtime +7 -delete",
    cosine=0.95,
)
CLEAN_ANY = Candidate(
    phrasing="Delete files older than 30 days in a directory",
    script=': "${DIRECTORY:?}" "${DAYS:=30}"\nfind "$DIRECTORY" -type f -mtime +"$DAYS" -delete',
    parameters=(
        Parameter(name="DIRECTORY", type="path"),
        Parameter(name="DAYS", type="number", default="30", description="age in days"),
    ),
    cosine=0.75,
)
NGINX = Candidate(phrasing="Restart nginx", script="systemctl restart nginx", cosine=0.9)
SERVICE = Candidate(
    phrasing="Restart a service if its configuration is valid",
    script=': "${SERVICE:?}"\nsystemctl restart "$SERVICE"',
    parameters=(Parameter(name="SERVICE", description="unit"),),
    cosine=0.7,
)
COPY = Candidate(
    phrasing="Copy /etc/app.conf to /backup", script="cp /etc/app.conf /backup", cosine=0.95
)
LARGEST = Candidate(
    phrasing="Show the 10 largest files under /var",
    script=': "${COUNT:=10}" "${DIRECTORY:=/var}"\n'
    'du -a "$DIRECTORY" | sort -nr | head -n "$COUNT"',
    parameters=(
        Parameter(name="COUNT", type="number", default="10"),
        Parameter(name="DIRECTORY", type="path", default="/var"),
    ),
    cosine=0.72,
)
LOGS = Candidate(
    phrasing="Compress log files larger than 100 MB in /var/log",
    script=': "${MEGABYTES:=100}"\n'
    'find /var/log -name "*.log" -size +"$MEGABYTES"M -exec gzip {} +',
    parameters=(Parameter(name="MEGABYTES", type="number", default="100"),),
    cosine=0.95,
)
DISK = Candidate(
    phrasing="Show disk usage of every mounted file system", script="df -h", cosine=0.85
)
LINES = Candidate(
    phrasing="Count the lines of all *.py files",
    script="find . -name '*.py' | xargs wc -l",
    cosine=0.9,
)
EMPTY = Candidate(
    phrasing="List empty files in /srv", script="find /srv -type f -empty", cosine=0.92
)

ANSWERS = {
    CLEAN: {
        "Delete files older than 7 days in /tmp": MATCH,
        "delete  files older than 7 days in /tmp.": MATCH,
        "remove files older than 7 days from /tmp": MATCH,
        "Purge files in /tmp older than 1 week": MATCH,
        "delete the files in /tmp not modified in the last 7 days": MATCH,
        "remove files under /tmp/ that are more than seven days old": MATCH,
        "delete files older than 30 days in /var": ADAPT,
        "delete files older than 30 days in /tmp": ADAPT,
        "delete files older than 7 days in /var": ADAPT,
        "delete files older than 7 hours in /tmp": ADAPT,
        "delete files older than 7 days": ADAPT,
        "delete *.log files older than 7 days in /tmp": ADAPT,
        "delete files older than 7 days in /tmp except *.log": ADAPT,
        "compress and delete files older than 7 days in /tmp": ADAPT,
        "delete files older than 7 days in /tmp after asking": ADAPT,
        "delete files newer than 7 days in /tmp": NONE,
        "delete files modified in the last 7 days in /tmp": NONE,
        "list files older than 7 days in /tmp": NONE,
        "count files older than 7 days in /tmp": NONE,
        "copy files older than 7 days to /tmp": NONE,
        "delete directories older than 7 days in /tmp": NONE,
        "never delete files older than 7 days in /tmp": NONE,
    },
    replace(CLEAN, cosine=0.1): {"who is logged in?": NONE},
    CLEAN_ANY: {
        "purge files older than 2 weeks in /srv": MATCH,
        "delete files in /srv not modified for 90 days": MATCH,
        "delete files older than 36 hours in /srv": ADAPT,
        "delete files older than 90 days in /srv owned by joe": ADAPT,
        "delete files newer than 2 weeks in /srv": NONE,
    },
    NGINX: {
        "Restart the nginx service": MATCH,
        "restart apache2": ADAPT,
        "stop nginx": NONE,
        "start nginx": NONE,
        "reload nginx": NONE,
        "do not restart nginx": NONE,
    },
    SERVICE: {
        "restart nginx, but only if its configuration is valid": MATCH,
        "restart the postgresql service when the config is valid": MATCH,
        "stop nginx if its configuration is valid": NONE,
    },
    COPY: {
        "Copy the file /etc/app.conf into /backup": MATCH,
        "back up /etc/app.conf to /backup": MATCH,
        "copy /etc/app.conf from /backup": ADAPT,
        "copy /backup to /etc/app.conf": ADAPT,
        "copy /etc/other.conf to /backup": ADAPT,
        "move /etc/app.conf to /backup": NONE,
    },
    LARGEST: {
        "show the 20 largest files in /home": MATCH,
        "Show the five biggest files under /opt": MATCH,
        "show the 20 smallest files in /home": NONE,
    },
    LOGS: {
        "compress log files larger than 1 GB in /var/log": MATCH,
        "compress log files larger than 1 GB in /var/log/nginx": ADAPT,
        "compress log files smaller than 100 MB in /var/log": NONE,
        "decompress log files larger than 100 MB in /var/log": NONE,
    },
    DISK: {
        "show inode usage of every mounted file system": ADAPT,
        "show memory usage of every process": NONE,
    },
    LINES: {
        "count lines of all the *.py files": MATCH,
        "count all *.py files": NONE,
        "count the lines of each *.py file": ADAPT,
        "count the lines of all *.rb files": ADAPT,
    },
    EMPTY: {
        "find empty files under /srv": MATCH,
        "find files under /srv": ADAPT,
        "find non-empty files under /srv": NONE,
    },
}


def test_answers() -> None:
    wrong = [
        (statement, candidate.phrasing, judgement.answer, [str(one) for one in judgement.differs])
        for candidate, answers in ANSWERS.items()
        for statement, answer in answers.items()
        if (judgement := judge(statement, candidate)).answer != answer
    ]
    assert not wrong


FILLS: list[tuple[str, Candidate, dict[str, str]]] = [
    ("purge files older than 2 weeks in /srv/www", CLEAN_ANY, {"DAYS": "14", "DIRECTORY": "/srv/www"}),
    ("restart nginx if its configuration is valid", SERVICE, {"SERVICE": "nginx"}),
    ("what are the largest files under /var?", LARGEST, {"DIRECTORY": "/var"}),
    ("compress log files larger than 1 GB in /var/log", LOGS, {"MEGABYTES": "1024"}),
    ("restart nginx", NGINX, {}),
]  # fmt: skip


def test_parameters_get_the_values_of_the_statement() -> None:
    wrong = [
        (statement, fills)
        for statement, candidate, fills in FILLS
        if judge(statement, candidate).fills != fills
    ]
    assert not wrong


REASONS = [
    ("delete files older than 7 days in /var", CLEAN, "same duration 7 days"),
    ("remove files older than 7 days in /tmp", CLEAN, "same action: remove"),
    ("purge files older than 2 weeks in /srv", CLEAN_ANY, "sets DAYS to 14"),
    ("Restart nginx", NGINX, "identical wording"),
]


def test_reasons_and_differences_are_sentences() -> None:
    missing = [
        (statement, sentence)
        for statement, candidate, sentence in REASONS
        if sentence not in map(str, judge(statement, candidate).reasons)
    ]
    assert not missing
    missing = [
        (statement, sentence)
        for statement, candidate, sentence in DIFFERENCES
        if sentence not in map(str, judge(statement, candidate).differs)
    ]
    assert not missing
    statement = "delete files older than 30 days in /tmp"
    [difference] = judge(statement, CLEAN).differs
    start, end = difference.span
    assert statement[start:end] == "30 days"


DIFFERENCES = [
    ("delete files older than 30 days in /tmp", CLEAN, "the request has 30 days, the entry 7 days"),
    ("delete files older than 7 days", CLEAN, "the request does not mention /tmp"),
    ("delete *.log files older than 7 days in /tmp", CLEAN, "the entry does not mention *.log"),
    ("stop nginx", NGINX, "the request asks to stop, the entry to restart"),
    ("delete files newer than 7 days in /tmp", CLEAN, "the request says newer, the entry older"),
    ("do not restart nginx", NGINX, "only in the request: a negation"),
    ("find files under /srv", EMPTY, "only in the entry: empty items"),
    ("delete directories older than 7 days in /tmp", CLEAN, "the request is about directories, the entry about files"),
    ("what are the largest files under /var?", LARGEST, "COUNT stays 10 unless set"),
    ("delete files/directories older than 7 days in /tmp", CLEAN,
     "the script covers other places or files than requested, or leaves some out"),
    ("restart a service", SERVICE, "SERVICE must be filled in"),
]  # fmt: skip


def test_only_a_match_reaches_the_threshold() -> None:
    for statement in (
        "delete files older than 30 days in /tmp",
        "delete files newer than 7 days in /tmp",
    ):
        judgement = judge(statement, replace(CLEAN, cosine=1.0))
        assert judgement.answer != MATCH, statement
        assert judgement.confidence < shipped_model().match_threshold, statement


def test_a_starting_point_is_ranked_by_its_likeness() -> None:
    near = judge("delete files older than 30 days in /tmp", CLEAN)
    far = judge("delete files older than 30 days in /var", replace(CLEAN, cosine=0.7))
    assert near.likeness > far.likeness > near.confidence


def test_thresholds_are_those_of_the_model() -> None:
    strict = replace(shipped_model(), match_threshold=0.999)
    assert judge("remove files older than 7 days from /tmp", CLEAN, strict).answer == ADAPT


def test_any_phrasing_answers_word_for_word() -> None:
    candidate = replace(NGINX, phrasings=("Restart nginx", "Bounce the web server"), cosine=0.3)
    assert judge("Bounce the web server", candidate).answer == MATCH
    assert judge("Bounce the mail server", candidate).answer == NONE


def test_best_candidates_come_first() -> None:
    candidates = [NGINX, CLEAN, EMPTY]
    judged = judge_all("remove files older than 7 days from /tmp", candidates)
    assert [one.place for one in judged][0] == 1
    confidences = [one.judgement.confidence for one in judged]
    assert confidences == sorted(confidences, reverse=True)
    crowd = [replace(CLEAN, phrasing=f"Start unit {n}", cosine=0.1) for n in range(60)]
    judged = judge_all("remove files older than 7 days from /tmp", [*crowd, CLEAN])
    assert len(judged) == MOST_COMPARED
    assert judged[0].place == len(crowd)
    assert judge_all("restart nginx", []) == []


def test_a_rival_that_is_as_good_takes_confidence_away() -> None:
    statement = "remove files older than 7 days from /tmp"
    rival = replace(CLEAN, phrasing="Remove files older than 7 days in /tmp", script="find /tmp")
    alone, beside = judge(statement, CLEAN), judge_all(statement, [CLEAN, rival])
    assert max(one.judgement.confidence for one in beside) < alone.confidence
