"""Run a Django shell as a server, because starting Django for every few lines of Python is slow.

    python -m tests.shell

The server reads lines of JSON, each with a number and Python code. For each line it prints a line of JSON with the
number, the output of the code, and the traceback if the code failed. The code of each line runs in one transaction, so
the site's workers see either all of its changes or none.
"""

from __future__ import annotations

import io
import json
import sys
import traceback
from contextlib import redirect_stdout

import django


def main() -> None:
    """Answer requests until standard input is closed."""
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
        # Tests kill the site's servers and start them again, which would break an open connection.
        connection.close()
        answer = {"number": number, "said": said.getvalue(), "wrong": wrong}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
