"""Build the shipped artifacts, all or those named.

    python -m bench.ship [NAME ...]

`embedder` is the graph of the embedding model, `relevance` the relevance model (it needs the NL2Bash pairs),
`vectors` the vectors of the starter catalogue, `results` what its cases and those of the demo come to, `aws_actions`
what each action at AWS may do (it needs policy_sentry).
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

# In the order in which one needs another. Each module has a function build(), which returns a line about it.
ARTIFACTS = ("embedder", "relevance", "vectors", "results", "aws_actions")


def main(names: list[str]) -> int:
    unknown = set(names).difference(ARTIFACTS)
    if unknown:
        print(f"No artifact is called {unknown.pop()!r}. Choose from {', '.join(ARTIFACTS)}.")
        return 2
    if len(names) == 1:
        print(f"{names[0]}: {import_module(f'bench.ship.{names[0]}').build()}")
        return 0
    # Each in a process of its own, because `results` sets Django up.
    ended = [
        subprocess.run([sys.executable, "-m", "bench.ship", name], check=False).returncode
        for name in names or ARTIFACTS
    ]
    return max(ended)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
