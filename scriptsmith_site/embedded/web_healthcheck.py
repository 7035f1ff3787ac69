"""The health check of a web server in a container: whether it answers.

    python -I scriptsmith_site/embedded/web_healthcheck.py

Of other parts it asks nothing: a restart of this one heals none of them. Needs nothing but Python.
"""

from __future__ import annotations

import os
import sys
from urllib.request import Request, urlopen

SECONDS = 5.0


def main() -> None:
    port = os.environ.get("PORT") or "8000"
    # As the proxy in front of it would, or it is told to come by HTTPS.
    asked = Request(f"http://localhost:{port}/healthz", headers={"X-Forwarded-Proto": "https"})
    try:
        with urlopen(asked, timeout=SECONDS):
            pass
    except OSError as error:
        sys.exit(f"no answer at port {port}: {error}")


if __name__ == "__main__":
    main()
