"""The statements that pages and README give as examples, in twenty wordings each, whatever example stands beside."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml

from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import load_book

EMPTY = load_book(None)
STARTER = Path("catalog/starter")
DELETE = (
    "Delete files older than 45 days in /srv/reports",
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
    "Restart nginx, but only if its configuration is valid",
    "restart nginx only if the configuration is valid",
    "Restart nginx if its configuration is valid",
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
    "List the ten largest files in /var/log",
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


def write_beside(statement: str, *names: str) -> set[str]:
    """Its scripts without an example, and with each of these entries as one."""
    return {write(statement, given) for given in [None, *(example(name) for name in names)]}


@pytest.mark.parametrize("statement", DELETE)
def test_old_files_are_deleted_and_no_pattern_is_added(statement: str) -> None:
    for script in write_beside(statement, "delete-rotated-app-logs"):
        assert "find /srv/reports" in script
        assert "-mtime +45" in script
        assert "-delete" in script
        assert "-name" not in script
        assert "-size" not in script


@pytest.mark.parametrize("statement", RESTART)
def test_nginx_is_restarted_after_its_configuration_was_tested(statement: str) -> None:
    for script in write_beside(
        statement,
        "deny-address-in-nginx",
        "raise-haproxy-file-limit",
        "restart-service-and-wait",
        "show-why-container-stopped",
    ):
        assert 0 < script.find("nginx -t") < script.find("systemctl restart nginx"), script


@pytest.mark.parametrize("statement", LARGEST)
def test_the_ten_largest_files_are_listed(statement: str) -> None:
    for script in write_beside(statement, "show-inode-usage", "show-largest-files"):
        assert "-type f" in script
        assert "sort -rn" in script
        assert "head -n 10" in script or "1,10p" in script
        assert "/var/log" in script
        assert "-name" not in script


@pytest.mark.parametrize(
    ("words", "number"), [("five", 5), ("three", 3), ("twenty", 20), ("7", 7), ("ten", 10)]
)
def test_how_many_is_as_many_as_was_asked_for(words: str, number: int) -> None:
    assert f"head -n {number}" in write(f"List the {words} largest files in /var/log", None)
