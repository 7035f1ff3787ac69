"""The health check of a web server in a container.

    python -I scriptsmith_site/embedded/web_healthcheck.py

It checks no other part, because restarting the web server would not fix other parts. It needs only Python.
"""

from __future__ import annotations

import os
import sys
from urllib.request import Request, urlopen

SECONDS = 5.0


def main() -> None:
    port = os.environ.get("PORT") or "8000"
    # Send the header that a proxy would send, because the server redirects HTTP to HTTPS.
    asked = Request(f"http://localhost:{port}/healthz", headers={"X-Forwarded-Proto": "https"})
    try:
        with urlopen(asked, timeout=SECONDS):
            pass
    except OSError as error:
        sys.exit(f"no response on port {port}: {error}")


if __name__ == "__main__":
    main()
