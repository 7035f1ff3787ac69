"""Write a small script by rule, where no example fits: a find command, or one of the recipes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from pydantic import BaseModel, TypeAdapter

from pipeline.standin.language.literals import Mention, find_mentions
from pipeline.standin.language.shell_syntax import quote_for
from pipeline.standin.writing.find_writer import write_find
from pipeline.standin.yaml_data import load_own

_HEAD = "#!/usr/bin/env bash\nset -euo pipefail\n\n"
_SLOT = re.compile(
    r"\{(?P<kind>[a-z]+)(?P<second>2?)(?::(?P<noun>[a-z]+))?(?:\|(?P<default>[^}]*))?\}"
)
_VERB = re.compile(r"\b(restart|reload|start|stop|enable|disable)(?:ing)?\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)")


class Recipe(BaseModel):
    """A script with slots, and the pattern of statements that it is for."""

    when: str
    script: str


@cache
def load_recipes() -> list[Recipe]:
    """The recipes, read once."""
    return TypeAdapter(list[Recipe]).validate_python(load_own("recipes.yaml"))


def write_script(statement: str) -> str | None:
    """A script for `statement` by rule, or None where no rule knows how."""
    mentions = find_mentions(statement)
    body = write_find(statement, mentions) or _write_recipe(statement, mentions)
    return f"{_HEAD}{body.rstrip()}\n" if body else None


def _write_recipe(statement: str, mentions: Sequence[Mention]) -> str | None:
    for recipe in load_recipes():
        if re.search(recipe.when, statement, re.IGNORECASE | re.DOTALL):
            filled = _fill(recipe.script, statement, mentions)
            if filled is not None:
                return filled
    return None


def _fill(template: str, statement: str, mentions: Sequence[Mention]) -> str | None:
    """The template with its slots filled, or None where the statement lacks a literal for one."""
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
    """The literals of a kind; those beside `noun` where there are some, or where only they do."""
    kinds = ("quoted", "name") if kind == "quoted" else (kind,)
    found = [mention for mention in mentions if mention.kind in kinds]
    named = [mention for mention in found if noun and mention.noun == noun]
    return named if noun and (named or needed or noun == "namespace") else found


def _say(mention: Mention) -> str:
    if mention.kind != "age":
        return mention.text
    counted = re.sub(r"^(?:(?:last|past|an?) )+(?=[a-z])", "1 ", mention.text, flags=re.IGNORECASE)
    return f"{counted} ago"


def _escape(text: str) -> str:
    """Words for a sed expression, where slashes, ampersands and patterns mean something."""
    return re.sub(r"([\\/&.*\[\]^$])", r"\\\1", text)
