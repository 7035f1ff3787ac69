"""Track files that a script writes and then runs, with their contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce

from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Text, Word, join_parts
from catalog.analysis.shell.commands import Command, Redirect
from catalog.analysis.shell.decoding import printed_text
from catalog.analysis.tables import read_table

MAXIMUM_COPIES = 5  # length of a chain of copies
MAXIMUM_WRITES = 50  # writes to one file
_OUTPUT_OPTIONS = {
    name: options.split() for name, _, options in read_table("shell/programs.txt", "outputs")
}
_IN_CODE = {
    name: re.compile(pattern)
    for name, _, pattern in read_table("shell/programs.txt", "outputs in code")
}


def output_files(command: Command) -> Iterator[Word]:
    """Yield the output files that the command's options or program text contain."""
    name = command.name
    if names := _OUTPUT_OPTIONS.get(name):
        short = "".join(option for option in names if len(option) == 1)
        is_single = name in ("find", "openssl")
        arguments = read_arguments(
            command.arguments, short=short, long=names, single_dash=is_single
        )
        yield from (word for option, word in arguments.options if option in names and word)
    if name == "wget" and (folder := read_arguments(command.arguments, short="PO").value("P")):
        yield folder
    for word in command.arguments if name in _IN_CODE else ():
        for found in _IN_CODE[name].finditer((word.literal or "")[:4_000]):
            path = found["file"] or found["flag"]
            yield Word((Text(path, quoted=True),), word.span)


@dataclass(frozen=True, slots=True)
class Written:
    """A write to a file, with its text or the copied file if the script determines it."""

    command: Command
    text: Word | None = None
    copied_from: Word | None = None
    appends: bool = False


@dataclass(slots=True)
class ScriptFiles:
    """All files that the commands write, by name without folders."""

    resolve: Callable[[Word], Word]  # resolves names in variables
    writes: dict[str, list[Written]] = field(default_factory=dict)

    def add(self, commands: Iterable[Command]) -> None:
        """Record the files that the commands write."""
        for command in commands:
            for redirect in command.redirects:
                self.add_redirect(redirect, [command])
            operands = read_arguments(command.arguments, short="mogtS").operands
            if command.name == "tee":
                appends = command.has_option("-a")
                for word in operands:
                    self._note(word, Written(command, command.fed_text, None, appends))
            elif command.name in ("cp", "mv", "install", "ln") and len(operands) == 2:
                self._note(operands[1], Written(command, None, operands[0]))
            else:
                for word in output_files(command):
                    self._note(word, Written(command))

    def add_redirect(self, redirect: Redirect, inside: list[Command]) -> None:
        """Record the text that a command or a group of commands writes to a file."""
        texts = [printed_text(command) for command in inside]
        known = [text for text in texts if text is not None]
        if inside and redirect.kind in ("write", "append"):
            is_known = len(known) == len(texts) <= MAXIMUM_WRITES
            text = reduce(append_text, known) if is_known else None
            self._note(redirect.word, Written(inside[0], text, None, redirect.kind == "append"))

    def _note(self, word: Word, written: Written) -> None:
        if key := file_key(self.resolve(word)):
            self.writes.setdefault(key, []).append(written)

    def contents(self, word: Word) -> tuple[list[Word], list[Command]]:
        """Return the known contents that the script writes to the file, and the commands whose output is unknown."""
        texts: list[Word] = []
        unknown: list[Command] = []
        key = file_key(self.resolve(word))
        for _ in range(MAXIMUM_COPIES):
            writes = self.writes.get(key, [])
            unknown += [written.command for written in writes[MAXIMUM_WRITES:][:1]]
            for written in writes[:MAXIMUM_WRITES]:
                if written.text is not None and written.appends and texts:
                    texts[-1] = append_text(texts[-1], written.text)
                elif written.text is not None:
                    texts.append(written.text)
                elif written.copied_from is None:
                    unknown.append(written.command)
            copies = [written.copied_from for written in writes if written.copied_from]
            if not copies or file_key(copies[-1]) == key:
                break
            key = file_key(copies[-1])
        return texts, unknown


def append_text(one: Word, other: Word) -> Word:
    """Return the joined texts, with a line break between them."""
    last = one.parts[-1] if one.parts else None
    ends = isinstance(last, Text) and last.value.endswith("\n")
    return join_parts((one, other), "" if ends else "\n")


def file_key(word: Word) -> str:
    """Return a key that is the same for all spellings of a file name, without quotes and folders."""
    text = re.sub(r"[\"'{}]", "", word.literal or word.span.text[:500]).strip()
    return text.partition("?")[0].rstrip("/").rpartition("/")[2]
