"""What a secret is known by: its own form or what stands before it, and how its value is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from catalog.analysis.secrets.value_tests import is_anything

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
    """A kind of secret and where it stands: the secret is the first group that matched, or all of it."""

    kind: str
    signs: tuple[str, ...]  # in small letters: one of them is in every text that has such a secret
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool]  # which values are any


def in_text(
    kind: str, signs: str, pattern: str, is_one: Callable[[str], bool] = is_anything
) -> Context:
    """A context; its signs have spaces between them."""
    return Context(kind, tuple(signs.lower().split()), re.compile(pattern), is_one)
