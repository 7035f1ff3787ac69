"""What a secret is known by: its own form or what stands before it, and how its value is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from catalog.analysis.secrets.value_tests import is_anything

# A value as it is written: between quotes, which JSON may have escaped and SQL doubled, or up to the next space or
# sign of the shell; a function that is called is none.
VALUE = (
    r"""(?:"([^"\s$`](?:[^"\n`$]|\$(?!\()){2,400})"|'([^'\s$`](?:[^'\n`$]|\$(?!\()){2,400})'"""
    r"""|\\"([^"\s$`\\][^"\n`\\]{2,400})\\"|''([^'\s$`][^'\n`]{2,400})''"""
    r"""|([^\s"'`;,&|<>(){}$\[=\\][^\s"'`;&|<>()]{2,400}+)(?!\())"""
)
# One without spaces, in a sentence.
ONE = r"""(?:["'“‘`]|« ?)?([^\s"'`;,&|<>(){}$\[=\\“”‘’«»][^\s"'`;|<>()“”‘’»]{2,200})"""
# As people call it, and as they write it in a hurry.
PASSWORD = (
    r"pass?w(?:or|ro|r|0r)?d|passowrd|passwort|kennwort|pass ?phrase|passcode"
    r"|mot de passe|mdp|phrase (?:secrète|de passe)|contraseña|clave(?! (?:primaria|ajena|foránea))|senha"
)
# One of them is in every name of a secret.
NAMES = "pass pasw secret token credential key kennwort pwd pw psk mdp contrase clave senha community authtok cookie"
UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"

Span = tuple[int, int]
Places = Callable[[str], Iterator[Span]]


def _everywhere(text: str) -> Iterator[Span]:
    yield 0, len(text)


class Context(NamedTuple):
    """A kind of secret and where it stands: the secret is the first group that matched, or all of it."""

    kind: str
    signs: tuple[str, ...]  # in small letters: one of them is in every text that has such a secret
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool]  # which values are any
    places: Places  # where in a text it may begin


def in_text(
    kind: str,
    signs: str,
    pattern: str,
    is_one: Callable[[str], bool] = is_anything,
    *,
    places: Places = _everywhere,
) -> Context:
    """A context; its signs have spaces between them."""
    return Context(kind, tuple(signs.lower().split()), re.compile(pattern), is_one, places)


def on_command_lines(command: str) -> Places:
    """From the name of a command to the end of its line, and on where that ends with a backslash."""
    return _matched(rf"\b(?:{command})\b(?:\\\n|[^\n|;&]){{0,600}}")


def in_here_documents(command: str) -> Places:
    """What is written to a command between two lines of the script."""
    return _matched(
        rf"\b(?:{command})\b[^\n]{{0,80}}<<-?\s?[\"']?(?P<end>\w+)[\"']?\n"
        r"(?P<place>[\s\S]{0,4000}?)\n\s*(?P=end)(?=\n|$)",
        group="place",
    )


def in_kubernetes_secrets(text: str) -> Iterator[Span]:
    """What stands below `data:` and `stringData:` in documents of YAML whose kind is Secret."""
    for document in _DOCUMENT.finditer(text):
        if _IS_SECRET.search(document[0]):
            for data in _DATA.finditer(text, *document.span()):
                yield data.span("place")


_DOCUMENT = re.compile(r"(?ms)^.*?(?:^---[ \t]*$|\Z)")
_IS_SECRET = re.compile(r"(?m)^kind:[ \t]+[\"']?Secret\b")
_DATA = re.compile(r"(?m)^(?:data|stringData):[ \t]*\r?\n(?P<place>(?:[ \t]+\S.*(?:\n|\Z)){1,200})")


def _matched(pattern: str, group: str | int = 0) -> Places:
    found = re.compile(pattern)

    def places(text: str) -> Iterator[Span]:
        return (match.span(group) for match in found.finditer(text))

    return places


def near(words: str, *, within: int = 120) -> Places:
    """So many characters before and behind one of the words, in the same line."""
    pattern = re.compile(words)

    def places(text: str) -> Iterator[Span]:
        end = 0
        for match in pattern.finditer(text):
            line = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
            start = max(end, line[0], match.start() - within)
            end = min(match.end() + within, len(text) if line[1] < 0 else line[1])
            yield start, end

    return places
