"""A Django shell that keeps running: Python on the site's database without starting Django for every few lines.

    python -m tests.shell

reads lines of JSON, each a number and a text of Python, and answers each with a line of JSON that has this number,
what the text printed, and its traceback if it failed. Each text runs in one transaction: the site's own workers and
sweeps see all of what it creates or nothing.
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
        number, text = json.loads(line)
        said, wrong = io.StringIO(), ""
        with redirect_stdout(said):
            try:
                with transaction.atomic():
                    exec(text, {"__name__": "shell"})  # noqa: S102 - the tests' own lines
            except Exception:
                wrong = traceback.format_exc()
        # Tests kill the site's servers and start them again.
        connection.close()
        answer = {"number": number, "said": said.getvalue(), "wrong": wrong}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
