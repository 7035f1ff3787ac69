"""Search for tests' regular expressions in a separate process, which is killed if a search takes too long.

Python's `re` backtracks, and patterns such as `(a+)+b` can take exponential time. No rule recognizes all such patterns,
so the search has a processor time limit.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence

CPU_SECONDS = 1
LONGEST_PATTERN = 200
LONGEST_TEXT = 64 << 10

_SEARCH = """
import json, re, resource, sys
seconds = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
for pattern, text in json.load(sys.stdin):
    try:
        found = re.search(pattern, text, re.MULTILINE) is not None
    except (re.error, OverflowError, RecursionError) as error:
        found = str(error)
    print(json.dumps(found), flush=True)
"""


class TooSlow(Exception):
    """The search for the pattern took too long."""


class BadPattern(ValueError):
    """The pattern is invalid. The message contains the location."""


def search(pattern: str, text: str) -> bool:
    """Return whether the pattern matches anywhere in the text. ^ and $ match at every line. Raises BadPattern and
    TooSlow.
    """
    return search_all([(pattern, text)])[0]


def search_all(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Return for each pair whether the pattern matches its text. One process searches all pairs. Raises BadPattern and
    TooSlow.
    """
    asked = json.dumps([(pattern, text[:LONGEST_TEXT]) for pattern, text in pairs])
    try:
        process = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _SEARCH, str(CPU_SECONDS)],
            input=asked.encode(), capture_output=True, timeout=CPU_SECONDS * 10, check=False, env={},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TooSlow(pairs[0][0]) from None
    found = [json.loads(line) for line in process.stdout.splitlines()]
    for (pattern, _), answer in zip(pairs, found, strict=False):
        if isinstance(answer, str):
            raise BadPattern(f"{pattern!r}: {answer}")
    if len(found) < len(pairs):
        raise TooSlow(pairs[len(found)][0])
    return found


def find_never_failing(patterns: Sequence[str]) -> list[str]:
    """Return the patterns that match any text.

    Each pattern is tried on an empty text, on an unlikely text and on its own words. The pattern's own words are needed
    for patterns that exclude text, such as `\\A(?![\\s\\S]*yes)`. Such patterns can fail but match the other two texts.
    """
    pairs = [(pattern, text) for pattern in patterns for text in _texts_for(pattern)]
    found = search_all(pairs)
    missed = {pattern for (pattern, _), there in zip(pairs, found, strict=True) if not there}
    return [pattern for pattern in patterns if pattern not in missed]


def _texts_for(pattern: str) -> list[str]:
    texts = ["", "\x01~\x02"]
    if "(?!" in pattern or "(?<!" in pattern:
        # Extract the text that the pattern excludes. Replace character classes and escapes with spaces.
        plain = re.sub(r"\\[AZbBdDsSwW]|\[[^\]]*\]", " ", pattern).replace("\\", "")
        words = [word for word in re.split(r"[()|?*+{}^$!=<>:]+", plain) if word.strip()]
        texts += [
            *words,
            *(word.strip() for word in words),
            " ".join(word.strip() for word in words),
        ]
    return texts
