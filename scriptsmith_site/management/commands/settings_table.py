"""manage.py settings_table"""

from __future__ import annotations

from django.core.management.base import BaseCommand

from scriptsmith_site.env import KNOWN, Variable

_HEAD = """\
# Settings

Set these environment variables before you start ScriptSmith. An empty variable has its default. Separate the values of
a list by commas.

| Variable | Default | Effect |
|---|---|---|"""


class Command(BaseCommand):
    help = "Print docs/settings.md: every environment variable with its default and its effect."
    requires_system_checks = ()

    def handle(self, **_options: object) -> None:
        self.stdout.write(_HEAD)
        for variable in sorted(KNOWN.values()):
            self.stdout.write(row_of(variable))


def row_of(variable: Variable) -> str:
    """Return the variable as a table row, with pipe characters escaped."""
    default = f"`{variable.default}`" if variable.default else ""
    cells = (f"`{variable.name}`", default, variable.help)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
