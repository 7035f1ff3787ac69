"""Run management commands with the servers that they need."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import django
from django.core.management import call_command, execute_from_command_line
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor

from core.database.migration_history import require_whole_history
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.servers.holders import is_set, running

_WITHOUT_SERVERS = {
    "collectstatic",
    "compilemessages",
    "diffsettings",
    "findstatic",
    "help",
    "makemessages",
    "settings_table",
    "simulate",
    "startapp",
    "startproject",
    "version",
}
_ABOUT_MIGRATIONS = {
    "makemigrations",
    "migrate",
    "optimizemigration",
    "showmigrations",
    "sqlmigrate",
    "squashmigrations",
}


def needs_servers(arguments: list[str]) -> bool:
    """Return whether a command needs the database, based on its name and options."""
    if not arguments or arguments[0].startswith("-") or "--help" in arguments or "-h" in arguments:
        return False
    if arguments[0] == "check":
        return any(argument.startswith("--database") for argument in arguments)
    return arguments[0] not in _WITHOUT_SERVERS


def run_command(arguments: list[str], layout: Layout) -> None:
    """Run the management command. If no other process uses the database, migrate it first.

    Raises CannotStart, ImproperlyConfigured, or SystemExit as commands do.
    """
    if not needs_servers(arguments):
        _end_cleanly_when_told_to()
        execute_from_command_line([sys.argv[0], *arguments])
        return
    # Fail on invalid settings here, before a server is started.
    django.setup()
    ours = not is_set("DATABASE_URL")
    prepare = migrate if ours and arguments[0] not in _ABOUT_MIGRATIONS else None
    _end_cleanly_when_told_to()
    with running(layout, prepare=prepare):
        try:
            execute_from_command_line([sys.argv[0], *arguments])
        finally:
            connections.close_all()


def migrate() -> None:
    """Apply the pending migrations silently.

    Raises ImproperlyConfigured if the database is half-migrated.
    """
    require_whole_history(connection)
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)
    else:
        # Record squashed migrations whose predecessors are all applied, as Django's command does.
        executor.check_replacements()


def _end_cleanly_when_told_to() -> None:
    """Make SIGTERM and SIGHUP raise SystemExit, so that the servers are stopped."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, leave)
