"""manage.py settings_table"""

from __future__ import annotations

from django.core.management.base import BaseCommand

from scriptsmith_site.env import KNOWN, Variable


class Command(BaseCommand):
    help = "Print every setting of the environment as the Markdown table that the README holds."
    requires_system_checks = ()

    def handle(self, **_options: object) -> None:
        self.stdout.write("| Variable | Default | What it does |\n|---|---|---|")
        for variable in sorted(KNOWN.values()):
            self.stdout.write(row_of(variable))


def row_of(variable: Variable) -> str:
    """One row; a bar inside a cell would end it."""
    default = f"`{variable.default}`" if variable.default else ""
    cells = (f"`{variable.name}`", default, variable.help)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
