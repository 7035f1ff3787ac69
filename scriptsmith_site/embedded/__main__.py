"""Run ScriptSmith with all its processes and, if none is configured, PostgreSQL and Redis. `make run` calls this."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.supervision.children import SUPERVISED
from scriptsmith_site.embedded.supervision.processes import follow_parent


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m scriptsmith_site.embedded", description=__doc__
    )
    parser.add_argument(
        "--with-parent", action="store_true", help="stop when the parent process ends"
    )
    if parser.parse_args().with_parent:
        follow_parent(signal.SIGTERM)
    layout = Layout.from_environment(Path(__file__).resolve().parents[2])
    _become_supervisor_of(layout)
    _supervise(layout)


def _become_supervisor_of(layout: Layout) -> None:
    """Restart this program with a marker in its environment, which identifies it and its forks after a crash."""
    if os.environ.get(SUPERVISED) != str(layout.data):
        environment = {SUPERVISED: str(layout.data), "SCRIPTSMITH_DATA": str(layout.data)}
        os.execve(
            sys.executable, sys.orig_argv, os.environ | environment | {"PYTHONUNBUFFERED": "1"}
        )


def _supervise(layout: Layout) -> None:
    # Imported here, because the replaced process does not need these modules.
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    from scriptsmith_site.embedded.errors import CannotStart
    from scriptsmith_site.embedded.folders import cannot_write, make_data_folder
    from scriptsmith_site.embedded.load import load
    from scriptsmith_site.embedded.local_model.server import Resources
    from scriptsmith_site.embedded.local_model.weights import served_models
    from scriptsmith_site.embedded.supervision.supervisor import Options, run

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scriptsmith_site.settings")
    try:
        make_data_folder(
            layout
        )  # before the settings are loaded, because they store a secret in this folder
        options = Options(
            bind=settings.BIND,
            port=settings.PORT,
            demo_model=settings.SCRIPTSMITH_DEMO and not settings.SCRIPTSMITH_DEMO_MODEL_URL,
            local_models=served_models(),
            resources=Resources(
                threads=settings.SCRIPTSMITH_LOCAL_MODEL_THREADS,
                context=settings.SCRIPTSMITH_LOCAL_MODEL_CONTEXT,
                slots=settings.SCRIPTSMITH_LOCAL_MODEL_SLOTS,
            ),
        )
        run(layout, options, load)
    except (CannotStart, ImproperlyConfigured) as error:
        sys.exit(f"ScriptSmith can't run: {error}")
    except OSError as error:
        place = Path(error.filename or layout.data)
        sys.exit(f"ScriptSmith can't run: {cannot_write(place, error)}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
