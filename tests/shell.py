"""A Django shell that stays: Python on the site's database without starting Django for every few lines.

    python -m tests.shell

reads lines of JSON, each a text of Python, and answers each with a line {"said": ..., "wrong": ...}. Each text is
one transaction: the site's own workers and its sweeps see all of what it makes or nothing.
"""

from __future__ import annotations

import io
import json
import sys
import traceback
from contextlib import redirect_stdout

import django


def main() -> None:
    """Answer until standard input ends."""
    django.setup()
    from django.db import connection, transaction

    answers = sys.stdout
    for line in sys.stdin:
        said, wrong = io.StringIO(), ""
        with redirect_stdout(said):
            try:
                with transaction.atomic():
                    exec(json.loads(line), {"__name__": "shell"})  # noqa: S102 - the tests' own lines
            except Exception:
                wrong = traceback.format_exc()
        # The site's servers are killed and started again meanwhile.
        connection.close()
        print(json.dumps({"said": said.getvalue(), "wrong": wrong}), file=answers, flush=True)


if __name__ == "__main__":
    main()
