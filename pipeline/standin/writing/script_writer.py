"""Write a small script by rule if no example fits: a find command or one of the recipes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from pydantic import BaseModel, TypeAdapter

from pipeline.standin.description.script_description import describe
from pipeline.standin.language.coverage import list_unplaced, take_verbs
from pipeline.standin.language.idioms import load_idioms
from pipeline.standin.language.literals import Mention, find_mentions
from pipeline.standin.language.marked_text import MarkedText
from pipeline.standin.language.shell_syntax import quote_for
from pipeline.standin.writing.attempt import Attempt
from pipeline.standin.writing.checked_restart import write_checked_restart
from pipeline.standin.writing.find_writer import write_find
from pipeline.standin.yaml_data import load_own

_HEAD = "#!/usr/bin/env bash\nset -euo pipefail\n\n"
_SLOT = re.compile(
    r"\{(?P<kind>[a-z]+)(?P<second>2?)(?::(?P<noun>[a-z]+))?(?:\|(?P<default>[^}]*))?\}"
)
_VERB = re.compile(r"\b(restart|reload|start|stop|enable|disable)(?:ing)?\b", re.IGNORECASE)
_INTO = r"\b(?:into|to|as)\s+(?:the\s+|a\s+)?(?:directory\s+|folder\s+|file\s+|archive\s+)?[\"']?$"
_UNIT_NOUNS = ("service", "unit", "daemon", "timer", "socket")
_SERVICES = frozenset(load_idioms().services.split())
# Words after "install" that are not the package's name.
_NO_PACKAGES = frozenset(load_idioms().not_packages.split())
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)")


class Recipe(BaseModel):
    """A script with slots, and the pattern of the statements that it serves.

    `also` matches further phrases that the script covers. The recipe does not apply if `never` matches.
    """

    when: str
    script: str
    also: str = ""
    never: str = ""

    @property
    def words(self) -> list[str]:
        """Return the words in the recipe's pattern and in its script's description."""
        wanted = re.sub(r"\\.|\(\?<?[=!]", " ", self.when)
        return re.findall(r"[a-z]{2,}", f"{wanted} {describe(_SLOT.sub('', self.script))}".lower())


@cache
def load_recipes() -> list[Recipe]:
    """Return the recipes. The file is read only once."""
    return TypeAdapter(list[Recipe]).validate_python(load_own("recipes.yaml"))


def write_script(statement: str) -> str | None:
    """Return a script for `statement`, or None if no rule covers every word."""
    return next((one.body for one in list_attempts(statement) if not one.unplaced), None)


def list_attempts(statement: str) -> list[Attempt]:
    """Return the attempt of each applicable rule, in order."""
    mentions = find_mentions(statement)
    return [
        attempt._replace(body=f"{_HEAD}{attempt.body.rstrip()}\n")
        for attempt in _attempts(statement, mentions)
    ]


def _attempts(statement: str, mentions: Sequence[Mention]) -> Iterator[Attempt]:
    for write in (write_find, write_checked_restart):
        attempt = write(statement, mentions)
        if attempt:
            yield attempt
    for recipe in load_recipes():
        if _says(recipe.when, statement) and not (recipe.never and _says(recipe.never, statement)):
            filled = _fill(recipe.script, statement, mentions)
            if filled is not None:
                yield Attempt(filled, _list_unplaced(recipe, statement, mentions))


def _list_unplaced(recipe: Recipe, statement: str, mentions: Sequence[Mention]) -> tuple[str, ...]:
    text = MarkedText(statement, mentions)
    if recipe.also:
        text.take_all(recipe.also)
    take_verbs(text)
    return tuple(list_unplaced(text, recipe.words))


def _says(pattern: str, statement: str) -> bool:
    return re.search(pattern, statement, re.IGNORECASE | re.DOTALL) is not None


def _is_unit(mention: Mention, statement: str) -> bool:
    """Return whether a literal is a systemd unit: a name next to a unit noun, a known service, or an identifier."""
    joined = re.fullmatch(r"[a-z][\w.@]*[-_@][\w.@-]*[a-z]", mention.text)
    known = mention.value in _SERVICES or joined is not None
    return mention.kind == "name" and (mention.noun in _UNIT_NOUNS or (not mention.noun and known))


def _is_process(mention: Mention, statement: str) -> bool:
    return mention.kind == "name" and mention.noun in ("", "process", "daemon")


def _is_package(mention: Mention, statement: str) -> bool:
    plain = re.fullmatch(r"[a-z][a-z0-9.+-]+", mention.text) is not None
    known = plain and mention.text not in _NO_PACKAGES
    return mention.kind == "name" and (mention.noun == "package" or (not mention.noun and known))


def _is_host(mention: Mention, statement: str) -> bool:
    return mention.kind == "name" and mention.noun in ("", "host", "hostname", "node", "domain")


def _is_target(mention: Mention, statement: str) -> bool:
    return mention.kind == "path" and _says(_INTO, statement[: mention.start])


def _is_source(mention: Mention, statement: str) -> bool:
    return mention.kind == "path" and not _is_target(mention, statement)


def _is_archive(mention: Mention, statement: str) -> bool:
    return _is_target(mention, statement) and _says(r"\.(?:tar\.gz|tgz)$", mention.text)


def _is_tarball(mention: Mention, statement: str) -> bool:
    named = _says(r"\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz)$", mention.text)
    return _is_source(mention, statement) and named


def _is_file(mention: Mention, statement: str) -> bool:
    return mention.kind == "path" and re.search(r"[^/]\.\w+$", mention.text) is not None


def _is_mode(mention: Mention, statement: str) -> bool:
    return mention.kind == "number" and re.fullmatch("[0-7]{3,4}", mention.text) is not None


_CHOSEN: dict[str, Callable[[Mention, str], bool]] = {
    "unit": _is_unit,
    "process": _is_process,
    "package": _is_package,
    "host": _is_host,
    "source": _is_source,
    "target": _is_target,
    "archive": _is_archive,
    "tarball": _is_tarball,
    "file": _is_file,
    "mode": _is_mode,
}


def _fill(template: str, statement: str, mentions: Sequence[Mention]) -> str | None:
    """Fill the template's slots, or return None if the statement lacks a literal."""
    values = [_value_of(slot, statement, mentions) for slot in _SLOT.finditer(template)]
    if any(value is None for value in values):
        return None
    waiting = iter(values)
    return _SLOT.sub(lambda _: next(waiting) or "", template)


def _value_of(slot: re.Match[str], statement: str, mentions: Sequence[Mention]) -> str | None:
    kind, noun = slot["kind"], slot["noun"]
    if kind == "verb":
        verb = _VERB.search(statement)
        return verb[1].lower() if verb else slot["default"]
    if kind == "pattern":
        found = [_escape(match[1] or match[2]) for match in _QUOTED.finditer(statement)]
    elif kind in _CHOSEN:
        found = [_say(mention) for mention in mentions if _CHOSEN[kind](mention, statement)]
    else:
        found = [
            _say(mention)
            for mention in _pick(mentions, kind, noun, needed=slot["default"] is not None)
        ]
    chosen = found[bool(slot["second"]) :][:1]
    return quote_for(chosen[0], "bare") if chosen else slot["default"]


def _pick(
    mentions: Sequence[Mention], kind: str, noun: str | None, *, needed: bool
) -> list[Mention]:
    """Return the literals of a kind. Literals next to `noun` are preferred or, if `needed`, required."""
    kinds = ("quoted", "name") if kind == "quoted" else (kind,)
    found = [mention for mention in mentions if mention.kind in kinds]
    named = [mention for mention in found if noun and mention.noun == noun]
    return named if noun and (named or needed or noun == "namespace") else found


def _say(mention: Mention) -> str:
    if mention.kind == "name" and mention.value in _SERVICES:
        return mention.value  # "Nginx" at the start of a sentence, or as a product.
    if mention.kind != "age":
        return mention.text
    counted = re.sub(r"^(?:(?:last|past|an?) )+(?=[a-z])", "1 ", mention.text, flags=re.IGNORECASE)
    return f"{counted} ago"


def _escape(text: str) -> str:
    """Escape text for a sed expression."""
    return re.sub(r"([\\/&.*\[\]^$])", r"\\\1", text)
