"""The statements that pages and README give as examples, in twenty wordings each, whatever example stands beside."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from pipeline.actions.views import _examples
from pipeline.standin.description.script_description import describe
from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import load_book
from tests.first_cases import first_cases

EMPTY = load_book(None)
STARTER = Path("catalog/starter")
# What people are shown to ask for: on the page, in the README's first sentence, its steps and its commands.
ASKED = tuple(map(str, _examples()))
README = tuple(
    " ".join(statement.split())
    for statement in re.findall(
        r'action statement\s+\("([^"]+)"\)|for example \*([^*]+)\*|(?:run_pipeline|retrieve) "([^"]+)"',
        Path("README.md").read_text(),
    )
    for statement in statement
    if statement
)
SHOWN = tuple(dict.fromkeys((*ASKED, *README)))


def of(word: str) -> tuple[str, ...]:
    """The statements shown to people that have this word."""
    return tuple(statement for statement in SHOWN if word in statement.lower())


DELETE = (
    *of("delete"),
    "delete all files in /srv/reports that are older than 45 days",
    "Remove files older than 45 days from /srv/reports",
    "remove every file under /srv/reports older than 45 days",
    "Clean up /srv/reports: delete everything older than 45 days",
    "Please delete the files in /srv/reports which are more than 45 days old",
    "Files in /srv/reports older than 45 days should be deleted",
    "Get rid of files older than 45 days in /srv/reports",
    "Purge files older than 45 days in /srv/reports",
    "Delete files in /srv/reports not modified in the last 45 days",
    "Delete files in /srv/reports that were last modified more than 45 days ago",
    "Find and delete files older than 45 days in /srv/reports",
    "Erase files over 45 days old in the directory /srv/reports",
    "In /srv/reports, delete files that are older than 45 days",
    "I need to delete files older than 45 days in /srv/reports",
    "Delete old files (older than 45 days) in /srv/reports",
    "Delete any file in /srv/reports whose age exceeds 45 days",
    "Delete files untouched for 45 days in /srv/reports",
    "Delete files in the folder /srv/reports that have not changed for 45 days",
    "Drop files older than 45 days from /srv/reports",
)

RESTART = (
    *of("nginx"),
    "restart nginx only if the configuration is valid",
    "Restart nginx when the config test passes",
    "Restart nginx after checking that its configuration is valid",
    "Check the nginx configuration and restart nginx if it is valid",
    "Check that the nginx configuration is valid, then restart nginx",
    "Validate the nginx config and restart the service if it is OK",
    "Test the nginx configuration and restart it only when the test succeeds",
    "If the nginx configuration is valid, restart nginx",
    "If the configuration of nginx is valid, restart it",
    "Restart the nginx service provided its configuration is valid",
    "Restart nginx, unless its configuration is invalid",
    "Don't restart nginx unless its configuration is valid",
    "Make sure the nginx configuration is valid before restarting nginx",
    "Verify nginx's configuration, and restart nginx only if it passes",
    "Restart nginx safely: only with a valid configuration",
    "Restart nginx only if nginx -t succeeds",
    "Please restart nginx but only when its configuration has no errors",
    "Bounce nginx if its configuration is valid",
)

LARGEST = (
    *of("largest"),
    "List the 10 largest files in /var/log",
    "Show the ten largest files in /var/log",
    "Show the 10 biggest files under /var/log",
    "Find the ten largest files in /var/log",
    "What are the ten largest files in /var/log?",
    "Which ten files in /var/log are the largest?",
    "Print the ten largest files below /var/log",
    "list the top 10 largest files in /var/log",
    "List the ten biggest files in /var/log, largest first",
    "Display the ten largest files in the directory /var/log",
    "Give me the ten largest files in /var/log",
    "The ten largest files in /var/log",
    "I want to see the ten largest files in /var/log",
    "List the ten files in /var/log that are largest",
    "List the ten files that take the most space in /var/log",
    "Show the largest 10 files in /var/log by size",
    "Find the top ten files by size in /var/log",
    "Report the ten largest log files in /var/log",
    "Sort the files in /var/log by size and show the ten largest",
)


@cache
def example(name: str) -> tuple[str, str]:
    """Title and script of an entry that retrieval could hand to the model, and that is wrong here as it is."""
    about = yaml.safe_load((STARTER / name / "metadata.yaml").read_text())
    return about["title"], (STARTER / name / "script.sh").read_text()


def write(statement: str, given: tuple[str, str] | None) -> str:
    """The script that the demo model writes."""
    sections = [("STATEMENT", statement)]
    if given:
        sections += [("EXAMPLE_STATEMENT", given[0]), ("EXAMPLE_SCRIPT", given[1])]
    return str(answer_prompt(Prompt("generate", tuple(sections)), EMPTY).get("script", "none"))


def passes(statement: str, script: str) -> bool:
    """Whether both comparisons pass the script, so that it would go to the queue as correct."""
    sections = (("STATEMENT", statement), ("FUNCTIONALITY", describe(script)))
    answers = [
        answer_prompt(Prompt(task, sections), EMPTY) for task in ("similarity", "difference")
    ]
    return all(answer["verdict"] == "match" for answer in answers)


def write_beside(statement: str, *names: str) -> set[str]:
    """Its scripts without an example, and with each of these entries as one."""
    return {write(statement, given) for given in [None, *(example(name) for name in names)]}


def test_every_statement_that_people_are_shown_is_among_the_wordings() -> None:
    assert len(ASKED) == 3 and len(README) == 4, README
    for wordings in (DELETE, RESTART, LARGEST):
        assert len(set(wordings)) >= 20
    assert set(SHOWN) <= {*DELETE, *RESTART, *LARGEST}


@pytest.mark.parametrize("statement", first_cases(3, DELETE))
def test_old_files_are_deleted_and_no_pattern_is_added(statement: str) -> None:
    place, days = re.findall(r"/\w[\w/]+", statement)[0], re.findall(r"\d+", statement)[0]
    for script in write_beside(statement, "delete-rotated-app-logs"):
        assert f"find {place} -type f -mtime +{days} -delete" in script
        assert passes(statement, script)


@pytest.mark.parametrize("statement", first_cases(3, RESTART))
def test_nginx_is_restarted_after_its_configuration_was_tested(statement: str) -> None:
    for script in write_beside(
        statement,
        "deny-address-in-nginx",
        "raise-haproxy-file-limit",
        "restart-service-and-wait",
        "show-why-container-stopped",
    ):
        assert 0 < script.find("nginx -t") < script.find("systemctl restart nginx"), script
        assert passes(statement, script)


@pytest.mark.parametrize("statement", first_cases(3, LARGEST))
def test_the_ten_largest_files_are_listed(statement: str) -> None:
    for script in write_beside(statement, "show-inode-usage", "show-largest-files"):
        assert "-type f" in script
        assert "sort -rn" in script
        assert "1,10p" in script
        assert "/var/log" in script
        assert "-name" not in script
        assert passes(statement, script)
    assert "-xdev" not in write(statement, None), "nobody asked for that"


@pytest.mark.parametrize(
    ("words", "number"), [("five", 5), ("three", 3), ("twenty", 20), ("7", 7), ("ten", 10)]
)
def test_how_many_is_as_many_as_was_asked_for(words: str, number: int) -> None:
    assert f"sed -n 1,{number}p" in write(f"List the {words} largest files in /var/log", None)
