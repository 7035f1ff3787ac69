"""Tests for twenty phrasings of each example statement on pages and in the README, with any retrieved entry."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from _pytest.mark import ParameterSet

from pipeline.actions.views import _examples
from pipeline.standin.description.script_description import describe
from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import load_book
from tests.first_cases import first_cases

EMPTY = load_book(None)
STARTER = Path("catalog/starter")
# The example statements on the page, and those in the README's first sentence, steps and commands.
ASKED = tuple(map(str, _examples()))
README = tuple(
    " ".join(statement.split())
    for statement in re.findall(
        r'a request\s+\("([^"]+)"\)|for example \*([^*]+)\*|(?:run_pipeline|retrieve) "([^"]+)"',
        Path("README.md").read_text(),
    )
    for statement in statement
    if statement
)
SHOWN = tuple(dict.fromkeys((*ASKED, *README)))


def of(word: str) -> tuple[str, ...]:
    """Return the example statements that contain this word."""
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
    """Return the title and script of an entry that may be retrieved but is wrong unless it is adapted."""
    about = yaml.safe_load((STARTER / name / "metadata.yaml").read_text())
    return about["title"], (STARTER / name / "script.sh").read_text()


def write(statement: str, given: tuple[str, str] | None) -> str:
    """Return the script that the demo model writes."""
    sections = [("STATEMENT", statement)]
    if given:
        sections += [("EXAMPLE_STATEMENT", given[0]), ("EXAMPLE_SCRIPT", given[1])]
    return str(answer_prompt(Prompt("generate", tuple(sections)), EMPTY).get("script", "none"))


def passes(statement: str, script: str) -> bool:
    """Return whether both comparisons pass the script, which would then be queued as correct."""
    sections = (("STATEMENT", statement), ("FUNCTIONALITY", describe(script)))
    answers = [
        answer_prompt(Prompt(task, sections), EMPTY) for task in ("similarity", "difference")
    ]
    return all(answer["verdict"] == "match" for answer in answers)


def write_beside(statement: str, *names: str) -> set[str]:
    """Return the scripts that the model writes without an example and with each of these entries."""
    return {write(statement, given) for given in [None, *(example(name) for name in names)]}


def test_every_statement_that_people_are_shown_is_among_the_wordings() -> None:
    assert len(ASKED) == 3 and len(README) == 4, README
    for wordings in (DELETE, RESTART, LARGEST):
        assert len(set(wordings)) >= 20
    assert set(SHOWN) <= {*DELETE, *RESTART, *LARGEST}


def split(statements: tuple[str, ...]) -> list[ParameterSet]:
    """Return the statements for `parametrize`, with all but the first three marked as nightly."""
    few, others = statements[:3], statements[3:]
    return first_cases(1, [pytest.param(few, id="few"), pytest.param(others, id="others")])


@pytest.mark.parametrize("statements", split(DELETE))
def test_script_deletes_old_files(subtests: pytest.Subtests, statements: tuple[str, ...]) -> None:
    for statement in statements:
        place, days = re.findall(r"/\w[\w/]+", statement)[0], re.findall(r"\d+", statement)[0]
        for script in write_beside(statement, "delete-rotated-app-logs"):
            with subtests.test(statement):
                assert f"find {place} -type f -mtime +{days} -delete" in script
                assert passes(statement, script)


@pytest.mark.parametrize("statements", split(RESTART))
def test_script_restarts_nginx_after_testing_its_configuration(
    subtests: pytest.Subtests, statements: tuple[str, ...]
) -> None:
    entries = ("deny-address-in-nginx", "raise-haproxy-file-limit", "restart-service-and-wait")
    for statement in statements:
        for script in write_beside(statement, *entries, "show-why-container-stopped"):
            with subtests.test(statement):
                assert 0 < script.find("nginx -t") < script.find("systemctl restart nginx"), script
                assert passes(statement, script)


@pytest.mark.parametrize("statements", split(LARGEST))
def test_script_lists_largest_files(subtests: pytest.Subtests, statements: tuple[str, ...]) -> None:
    needed = ("-type f", "sort -rn", "1,10p", "/var/log")
    for statement in statements:
        for script in write_beside(statement, "show-inode-usage", "show-largest-files"):
            with subtests.test(statement):
                assert [words for words in needed if words not in script] == []
                assert "-name" not in script
                assert passes(statement, script)
        with subtests.test(statement):
            assert "-xdev" not in write(statement, None), "not requested"


def test_script_lists_as_many_files_as_requested() -> None:
    numbers = {"five": 5, "three": 3, "twenty": 20, "7": 7, "ten": 10}
    written = {
        words: write(f"List the {words} largest files in /var/log", None) for words in numbers
    }
    assert not {
        word: text for word, text in written.items() if f"sed -n 1,{numbers[word]}p" not in text
    }
