"""Run the checkers that are separate programs, with a minimal environment and a time limit."""

from __future__ import annotations

import re
import subprocess
from functools import lru_cache

# This environment excludes BASH_ENV, SHELLOPTS and similar variables. The locale makes messages English and lets
# ShellCheck read UTF-8.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "LANGUAGE": "C"}
VERSION_TIMEOUT = 5.0  # seconds


class ToolFailed(Exception):
    """The checker gave no result because it is missing, too slow or crashed. The message is shown to users."""


def run_tool(
    argv: list[str], script: bytes, *, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """Run the tool with the script on its standard input, and return the completed process. Raises ToolFailed."""
    name = argv[0].rpartition("/")[2]
    try:
        done = subprocess.run(
            argv,
            input=script,
            capture_output=True,
            timeout=timeout,
            check=False,
            env=ENVIRONMENT,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolFailed(f"{name} needed more than {timeout:g} s for this script.") from error
    except OSError as error:
        raise ToolFailed(f"{name} could not be started: {error.strerror}.") from error
    if done.returncode < 0:
        raise ToolFailed(f"{name} was killed by signal {-done.returncode} on this script.")
    return done


@lru_cache(maxsize=8)
def tool_version(path: str) -> str:
    """Return the version that the tool reports, such as 5.2.15. Raises ToolFailed."""
    stated = run_tool([path, "--version"], b"", timeout=VERSION_TIMEOUT).stdout
    found = re.search(rb"version:? (\d+(?:\.\d+)*)", stated)
    if found is None:
        raise ToolFailed(f"{path.rpartition('/')[2]} does not report its version.")
    return found[1].decode()
