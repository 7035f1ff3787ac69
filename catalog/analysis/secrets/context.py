"""What a secret can be known by that has no form of its own: what stands before it, and how it is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

# A value as it is written: between quotes, which JSON may have escaped, or up to the next space or sign of the shell.
VALUE = (
    r"""(?:"([^"\s$`](?:[^"\n`$]|\$(?!\()){2,400})"|'([^'\s$`](?:[^'\n`$]|\$(?!\()){2,400})'"""
    r"""|\\"([^"\s$`\\][^"\n`\\]{2,400})\\"|([^\s"'`;,&|<>(){}$\[=\\][^\s"'`;&|<>()]{2,400}))"""
)
# One without spaces, in a sentence.
ONE = r"""["'“‘`]?([^\s"'`;,&|<>(){}$\[=\\“”‘’][^\s"'`;|<>()“”‘’]{2,200})"""
# As people call it, and as they write it in a hurry.
PASSWORD = r"pass?w(?:or|ro|r|0r)?d|passowrd|passwort|kennwort|passphrase|passcode|mot de passe|mdp|contraseña|senha"


class Context(NamedTuple):
    """What stands before a secret and the secret itself, the first group that matched; and which values are any."""

    kind: str
    signs: tuple[str, ...]  # in small letters: without one of them in the text nothing is searched
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool]


def in_text(kind: str, signs: str, pattern: str, is_one: Callable[[str], bool]) -> Context:
    """A context; its signs have spaces between them."""
    return Context(kind, tuple(signs.split()), re.compile(pattern), is_one)
