#!/usr/bin/env python
"""Run a Django management command. Start the servers that the command needs, and stop them afterwards."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from scriptsmith_site.embedded.commands import run_command
from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.layout import Layout


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scriptsmith_site.settings")
    try:
        run_command(sys.argv[1:], Layout.from_environment(Path(__file__).resolve().parent))
    except (CannotStart, ImproperlyConfigured) as error:
        sys.exit(f"manage.py: {error}")


if __name__ == "__main__":
    main()
