"""Judges commands that are known to be read-only, based on words.txt and on the options and subcommands in
usage.txt.
"""

from __future__ import annotations

from typing import NamedTuple

from catalog.analysis.tables import WORDS, read_table

ANY_USE, SHELL_ONLY = WORDS["any-use"], WORDS["shell-only"]
TRANSPARENT, MUTATING = WORDS["transparent"], WORDS["changing"]
UNSAFE_OPTIONS, FORMAT_OPTIONS = WORDS["unsafe-options"], WORDS["format-options"]


class Options(NamedTuple):
    """The options known to only read, and how many operands may follow them.

    If `needs` names options, one of them must be given, because the command does more without such an option.
    """

    names: frozenset[str]
    values: list[str]  # options that take a value
    operands: int
    needs: list[str]
    form: str  # of the operands

    @classmethod
    def read(cls, text: str) -> Options:
        words = text.split()
        long = [word[2:] for word in words if word.startswith("--")]
        values = [name[:-1] for name in long if name[-1] == "="]
        flags = list[str]()
        for word in words:
            if word[0] == "-" and word[1] != "-":
                (values if word.endswith("=") else flags).extend(word.strip("-="))
        return cls(
            names=frozenset((*flags, *values, *(name.rstrip("=") for name in long))),
            values=values,
            operands=next((int(word) for word in words if word[0] == "+"), 99),
            needs=[word[1:] for word in words if word[0] == "!"],
            form=next((word[1:] for word in words if word[0] == ":"), "*"),
        )


LISTED_OPTIONS = {
    name: Options.read(text) for name, _, text in read_table("read_only/usage.txt", "options")
}
SUBCOMMANDS = {
    name: [pattern.split() for pattern in text.split(" ; ")]
    for name, _, text in read_table("read_only/usage.txt", "subcommands")
}
