"""Run a Django shell as a server, so that tests do not start Django for every few lines of Python.

    python -m tests.shell

It reads lines of JSON, each a number and a piece of Python code. For each line it prints a line of JSON with the
number, the output of the code, and the traceback if it failed. Each piece of code runs in one transaction, so the
site's workers see all of its changes or none.
"""

from __future__ import annotations

import io
import json
import sys
import traceback
from contextlib import redirect_stdout

import django


def main() -> None:
    """Answer requests until standard input ends."""
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
