"""The rules in paths.txt for files that are sensitive to read or write."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from catalog.analysis.risk.rule_data import Block, read_blocks

_FILE = Path(__file__).with_name("paths.txt")
_NO_SECRET = re.compile(
    r"\.pub\b|known_hosts|authorized_keys|example|sample|template|\.dist$|\.crt$"
)
# Files that a pattern such as /etc/sha* or ~/.ssh/id_* may match.
_SAMPLES = (
    *("/etc/shadow", "/etc/gshadow", "/root/.ssh/id_rsa", "~/.ssh/id_rsa", "~/.ssh/id_ed25519"),
    *("/home/user/.ssh/id_rsa", "~/.aws/credentials", "~/.kube/config", "~/.bash_history"),
)
MAXIMUM_LENGTH = 300  # characters of a path


@lru_cache(maxsize=4096)
def secret_kind(path: str) -> str | None:
    """Return the kind of secrets in the file or URL, or None if no rule matches."""
    if len(path) > MAXIMUM_LENGTH or _NO_SECRET.search(path):
        return None
    start = re.split(r"[*?\[]", path, maxsplit=1)[0]
    if start != path and path.rstrip("*")[-1:] not in ("/", ""):
        # Filter first, because fnmatch is slow.
        likely = (one for one in _SAMPLES if one.startswith(start))
        path = next((one for one in likely if fnmatchcase(one, path)), path)
    rule = _find(_READING, path)
    return rule.message if rule else None


@lru_cache(maxsize=4096)
def writing_rule(path: str) -> Block | None:
    """Return the rule for writing to this path, or None if no rule matches."""
    return _find(_WRITING, path) if len(path) <= MAXIMUM_LENGTH else None


def _find(rules: tuple[re.Pattern[str], list[Block]], path: str) -> Block | None:
    pattern, blocks = rules
    found = pattern.search(path.rstrip("/"))
    return blocks[int(found.lastgroup[1:])] if found and found.lastgroup else None


def _compile(blocks: list[Block]) -> tuple[re.Pattern[str], list[Block]]:
    ends = "|".join(f"(?P<r{place}>{block.head})" for place, block in enumerate(blocks))
    return re.compile(f"(?:^|[/=@:,])(?:{ends})$"), blocks


_BLOCKS = list(read_blocks(_FILE.read_text("utf-8")))
_READING = _compile([block for block in _BLOCKS if block.code == "reads_secrets"])
_WRITING = _compile([block for block in _BLOCKS if block.code != "reads_secrets"])
for _block in _READING[1]:
    _block.check(_FILE.name, lambda path, kind=_block.message: secret_kind(path) == kind)  # type: ignore[misc]
for _block in _WRITING[1]:
    _block.check(_FILE.name, lambda path, block=_block: writing_rule(path) is block)  # type: ignore[misc]
