"""Load the read-only commands from words.txt, and the read-only options and subcommands from usage.txt."""

from __future__ import annotations

from typing import NamedTuple

from catalog.analysis.tables import WORDS, read_table

ANY_USE, SHELL_ONLY = WORDS["any-use"], WORDS["shell-only"]
TRANSPARENT, MUTATING = WORDS["transparent"], WORDS["changing"]
UNSAFE_OPTIONS, FORMAT_OPTIONS = WORDS["unsafe-options"], WORDS["format-options"]


class Options(NamedTuple):
    """The options that are known to be read-only, and the maximum number of operands.

    If `needs` lists options, one of them must be given, because the command is not read-only without it.
    """

    names: frozenset[str]
    values: list[str]  # options that take a value
    operands: int
    needs: list[str]
    form: str  # a pattern that all operands must match

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
