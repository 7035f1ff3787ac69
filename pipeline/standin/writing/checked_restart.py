"""Restart or reload nginx if its configuration is valid. This is the only condition that the rules support."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.standin.language.coverage import list_unplaced
from pipeline.standin.language.idioms import load_idioms
from pipeline.standin.language.literals import Mention
from pipeline.standin.language.marked_text import MarkedText
from pipeline.standin.writing.attempt import Attempt

_SCRIPT = """\
if ! nginx -t; then
  echo "The configuration of nginx is not valid; nothing was changed." >&2
  exit 1
fi
systemctl {verb} nginx"""
_ORDER = r"\b(?:restart|reload|bounc)(?:e|ing)?\b"
_CHECK = r"\b(?:check|verify|validate|test|make sure|ensure)\b"
_VALID = r"\b(?:valid|invalid|ok|okay|correct|pass(?:es|ed)?|succeeds?|sound|errors?|fails?|failed|nginx -t)\b"
# "... before restarting", "after checking", "only if", "check and restart": the test comes first.
_CONDITION = (
    rf"\b(?:if|when|once|unless|provided|only|safely)\b|\bbefore (?:the )?{_ORDER}|"
    rf"\bafter (?:checking|verifying|validating|testing)\b|{_CHECK}.*{_ORDER}"
)
_TOO_LATE = (
    rf"\bbefore (?:checking|testing)|\bafter (?:re|the re|bounc)|{_ORDER}.*\bthen\b.*{_CHECK}"
)
# An even number of negations cancels out.
_TURNS_ROUND = re.compile(
    r"\b(?:not|never|no|without|unless|invalid|fails?|failed|broken|errors?)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOT_TO_BE_DONE = r"(?:\b(?:not|never)|n['’]t) (?:restart|reload|bounce)\b"
_WORDS = load_idioms().restart_words.split()


def write_checked_restart(statement: str, mentions: Sequence[Mention]) -> Attempt | None:
    """Return the script, or None if the statement asks for something else or for the opposite."""
    nginx = [mention for mention in mentions if mention.value == "nginx"]
    verbs = {match[0][:6].lower() for match in re.finditer(_ORDER, statement, re.IGNORECASE)}
    if not nginx or not verbs or not _is_conditional(statement):
        return None
    reloads = verbs == {"reload"}
    if "reload" in verbs and not reloads:
        return None
    unplaced = list_unplaced(MarkedText(statement, mentions), _WORDS)
    return Attempt(_SCRIPT.format(verb="reload" if reloads else "restart"), tuple(unplaced))


def _is_conditional(statement: str) -> bool:
    """Return whether a statement makes the action depend on a valid configuration."""
    turned = len(_TURNS_ROUND.findall(statement)) % 2
    forbidden = _says(_NOT_TO_BE_DONE, statement) and not _says(r"\bunless\b", statement)
    return (
        _says(_VALID, statement)
        and _says(r"\b(?:config\w*|syntax|nginx -t)\b", statement)
        and _says(_CONDITION, statement)
        and not _says(_TOO_LATE, statement)
        and not turned
        and not forbidden
    )


def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
