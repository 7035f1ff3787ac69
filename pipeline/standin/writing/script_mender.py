"""Rules that explain, refine and repair scripts."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from pipeline.standin.description.script_description import describe
from pipeline.standin.language.idioms import load_idioms
from pipeline.standin.language.literals import Mention, find_mentions
from pipeline.standin.language.shell_syntax import Edit, insert_at, is_broken
from pipeline.standin.language.statement_comparison import list_differences, missing_literals
from pipeline.standin.writing.example_adapter import find_edits

_MOST_POINTS = 3
_DEEPEST = 4
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
# Lines without a difference: a placeholder, and this model's own reasons.
_EMPTY = re.compile(r"\(nothing\)|The description covers ")
_SAYS = re.compile(
    r"the (?:request|statement) says (?P<wanted>.+?)(?:;|, but) the (?:description|script) (?P<rest>.+)",
    re.IGNORECASE,
)


def _thing(side: str) -> str:
    """Return a pattern for a requested value: quoted text, or one word with its unit."""
    quoted = rf"\"(?P<{side}_d>[^\"]+)\"|'(?P<{side}_s>[^']+)'|`(?P<{side}_t>[^`]+)`"
    unit = r"(?: (?:seconds?|minutes?|hours?|days?|weeks?|[KMGT]i?B)\b)?"
    return rf"(?:the\s+)?(?:{quoted}|(?P<{side}_w>[^\s\"'`]+{unit}))"


_NEW, _OLD = _thing("new"), _thing("old")
# Phrases that ask to replace one value with another.
_REQUESTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\buse\s+{_NEW}\s+(?:instead of|rather than|in place of|and not|not)\s+{_OLD}",
        rf"\breplace\s+{_OLD}\s+(?:with|by)\s+{_NEW}",
        rf"\bchange\s+{_OLD}\s+(?:to|into)\s+{_NEW}",
        rf"{_OLD}\s+(?:should|must|needs to|has to)\s+(?:be|read|have been)\s+{_NEW}",
        rf"\bthe (?:request|statement) says\s+{_NEW}[;,]\s+(?:but )?the script (?:says|has|uses)\s+{_OLD}",
        rf"\binstead of\s+{_OLD},?\s+use\s+{_NEW}",
    )
)

_CLOSERS = ("fi", "done", "esac", "}", ")")


def explain(
    *, statement: str, script: str, functionality: str, differences: str
) -> dict[str, object]:
    """Return at most three points that apply to the script itself, or no_error.

    If the script contains the value that the description lacks, the difference is not an error.
    """
    listed = [_BULLET.sub("", line).strip() for line in differences.splitlines()]
    named = [line for line in listed if line and not _EMPTY.match(line)]
    named = named or list_differences(statement, functionality)
    points = [point for point in (_make_point(line, script) for line in named) if point][
        :_MOST_POINTS
    ]
    return {"verdict": "error" if points else "no_error", "points": points}


def apply_requests(script: str, feedback: str) -> str:
    """Apply literal requests in the feedback, such as "use X instead of Y"."""
    for request in _REQUESTS:
        for match in request.finditer(feedback):
            changed = _exchange(script, _side(match, "old"), _side(match, "new"))
            if changed != script and (is_broken(script) or not is_broken(changed)):
                script = changed
    return script


def apply_feedback(script: str, *, statement: str, feedback: str) -> str:
    """Fix `script` if the feedback names a known aspect or the script lacks a literal."""
    for aspect in load_idioms().aspects:
        if aspect.name in feedback:
            for pattern, replacement in aspect.fixes:
                script = re.sub(pattern, replacement, script)
    return _swap_literals(script, statement)


def repair(script: str, *, checker: str) -> str | None:
    """Return `script` with its open quotes, brackets and blocks closed, or None if that fails."""
    waiting: deque[tuple[str, int]] = deque([(script.rstrip("\n"), 0)])
    seen = set()
    while waiting:
        candidate, depth = waiting.popleft()
        if not is_broken(f"{candidate}\n"):
            return f"{candidate}\n"
        if depth < _DEEPEST:
            for following in _close_one(candidate, checker):
                if following not in seen:
                    seen.add(following)
                    waiting.append((following, depth + 1))
    return None


def _close_one(script: str, checker: str) -> Iterator[str]:
    quotes = sorted("\"'", key=lambda quote: f"`{quote}'" not in checker)
    lines = script.split("\n")
    for quote in quotes:
        for at, line in enumerate(lines):
            if line.count(quote) % 2:
                yield "\n".join([*lines[:at], f"{line}{quote}", *lines[at + 1 :]])
    for closer in sorted(_CLOSERS, key=lambda closer: _count_open(script, closer), reverse=True):
        if _count_open(script, closer) > 0:
            yield f"{script}\n{closer}"


def _count_open(script: str, closer: str) -> int:
    """Return the number of open blocks that this word would close."""
    opener = {"fi": r"\bif\b", "done": r"\bdo\b", "esac": r"\bcase\b", "}": r"\{", ")": r"\("}[
        closer
    ]
    closed = rf"\b{closer}\b" if closer.isalpha() else re.escape(closer)
    return len(re.findall(opener, script)) - len(re.findall(closed, script))


def _make_point(difference: str, script: str) -> str:
    """Return a difference as a point against the script, or "" if the script contains the requested value."""
    found = _SAYS.match(difference)
    if found and _uses(script, found["wanted"]):
        return ""
    point = (
        difference.replace("the description", "the script")
        .replace("does not mention it", "does not use it")
        .replace("does not say so", "does not do so")
    )
    return f"{point[:1].upper()}{point[1:].rstrip('.')}."


def _uses(script: str, text: str) -> bool:
    return (
        re.search(rf"(?<![\w/.-]){re.escape(text.rstrip('/') or '/')}(?![\w-])", script) is not None
    )


def _side(match: re.Match[str], side: str) -> str:
    text = next((match[f"{side}_{form}"] for form in "dstw" if match[f"{side}_{form}"]), "")
    return text if match[f"{side}_w"] is None else text.rstrip(".,;:)")


def _exchange(script: str, old: str, new: str) -> str:
    if not old or not new:
        return script
    olds, news = find_mentions(old), find_mentions(new)
    if (
        len(olds) == len(news) == 1
        and olds[0].kind == news[0].kind
        and olds[0].kind in ("age", "size")
    ):
        return insert_at(script, find_edits(script, olds[0], news[0]))
    whole = re.compile(rf"(?<![\w-]){re.escape(old)}(?![\w-])")
    return insert_at(
        script, [Edit(*match.span(), new, raw=_is_code(new)) for match in whole.finditer(script)]
    )


def _is_code(text: str) -> bool:
    """Return whether text is an option or command, which is inserted without quotes."""
    return re.fullmatch(r"-{0,2}[\w+-]+(?: [\w+-]+)*", text) is not None


def _swap_literals(script: str, statement: str) -> str:
    functionality = describe(script)
    missing = missing_literals(find_mentions(statement), functionality)
    spare = missing_literals(find_mentions(functionality), statement)
    edits: list[Edit] = []
    for wanted in missing:
        other = _first_like(spare, wanted)
        if other:
            spare.remove(other)
            edits += find_edits(script, other, wanted)
    changed = insert_at(script, edits)
    return changed if is_broken(script) or not is_broken(changed) else script


def _first_like(mentions: Sequence[Mention], wanted: Mention) -> Mention | None:
    return next((mention for mention in mentions if mention.kind == wanted.kind), None)
