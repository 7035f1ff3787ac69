"""Compute the output of simple commands whose input is literally in the script."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
import string
import zlib
from collections.abc import Callable

from catalog.analysis.shell.arguments import Arguments, read_arguments
from catalog.analysis.shell.command_words import Part, Text, Word, join_words, read_escapes
from catalog.analysis.shell.commands import Command

MAXIMUM_DECODED = 100_000  # bytes
_CLASSES = {
    "[:upper:]": string.ascii_uppercase,
    "[:lower:]": string.ascii_lowercase,
    "[:digit:]": string.digits,
    "[:space:]": string.whitespace,
}
_PRINTF = re.compile(r"%%|%(?P<flags>[-+ #0-9.]*)(?P<kind>[a-zA-Z])")


def printed_text(command: Command) -> Word | None:
    """Return the command's output if the script determines it literally, or else None.

    The command's input is treated as literal if its text is in the script.
    """
    words, fed = command.arguments, command.fed_text
    match command.name:
        case "cat" | "tee" if not words or command.name == "tee" or words[0].literal == "-":
            return fed
        case "echo":
            return _echo(words)
        case "printf":
            return _printf(words)
        case "dirname" | "basename" if len(words) == 1 and (path := words[0].literal):
            found = (
                (posixpath.dirname(path) or ".")
                if command.name == "dirname"
                else posixpath.basename(path)
            )
            return Word((Text(found, quoted=True),), words[0].span)
        case "which" | "command" | "type":
            return words[-1] if words and words[-1].literal else None
    decode = DECODERS.get(command.name)
    if decode is None or fed is None or fed.literal is None:
        return None
    if len(fed.literal) > MAXIMUM_DECODED:
        return None
    try:
        arguments = read_arguments(words, single_dash=command.name == "openssl")
        text = decode(fed.literal, arguments)
    except (ValueError, binascii.Error, zlib.error):
        return None
    return None if text is None else Word((Text(text, quoted=True),), fed.span)


def _echo(words: tuple[Word, ...]) -> Word | None:
    is_escaped = False
    while words and re.fullmatch(r"-[neE]+", words[0].literal or ""):
        is_escaped = is_escaped or "e" in (words[0].literal or "")
        words = words[1:]
    if not words:
        return None
    joined = join_words(words)
    return _unescape(joined, octal=True) if is_escaped else joined


def _unescape(word: Word, *, octal: bool = False) -> Word:
    """Return the word with its escapes decoded. In `echo`, octal escapes begin with a zero."""
    parts: list[Part] = []
    for part in word.parts:
        if isinstance(part, Text):
            value = re.sub(r"\\0([0-7]{3})", r"\\\1", part.value) if octal else part.value
            part = Text(read_escapes(value), part.quoted)
        parts.append(part)
    return Word(tuple(parts), word.span)


def _printf(words: tuple[Word, ...]) -> Word | None:
    if words and words[0].literal == "--":
        words = words[1:]
    if not words or (words[0].literal or "").startswith("-v"):
        return None
    form, rest = words[0], list(words[1:])
    if form.literal is None:
        return _unescape(join_words(words))
    if not _PRINTF.search(form.literal):
        return _unescape(form)
    parts: list[Part] = []
    while True:
        before, position = len(rest), 0
        for found in _PRINTF.finditer(form.literal):
            parts.append(Text(read_escapes(form.literal[position : found.start()]), quoted=True))
            position = found.end()
            if found["kind"] is None:
                parts.append(Text("%", quoted=True))
            elif rest:
                value = rest.pop(0)
                parts += _unescape(value).parts if found["kind"] == "b" else value.parts
        parts.append(Text(read_escapes(form.literal[position:]), quoted=True))
        if not rest or len(rest) == before:
            break
    span = join_words(words[1:]).span if len(words) > 1 else form.span
    return Word(tuple(part for part in parts if part != Text("", quoted=True)), span)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _base64(text: str, arguments: Arguments) -> str | None:
    if not arguments.has("d", "D", "decode", "di"):
        return None
    bare = re.sub(r"[^A-Za-z0-9+/]", "", text)
    return _text(base64.b64decode(bare + "=" * (-len(bare) % 4)))


def _openssl(text: str, arguments: Arguments) -> str | None:
    is_plain = "base64" in arguments.subcommands or arguments.has("base64", "a")
    known = arguments.names <= {"d", "base64", "a", "A"}  # other options need a key
    return _base64(text, arguments) if is_plain and known else None


def _xxd(text: str, arguments: Arguments) -> str | None:
    if not arguments.has("r") or not arguments.has("p"):
        return None
    return _text(bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", text)))


def _gunzip(text: str, arguments: Arguments) -> str | None:
    return _text(zlib.decompressobj(47).decompress(_bytes(text), MAXIMUM_DECODED))


def _rev(text: str, arguments: Arguments) -> str | None:
    return "\n".join(line[::-1] for line in text.split("\n"))


def _tr(text: str, arguments: Arguments) -> str | None:
    sets = [_letters(word.literal or "") for word in arguments.operands]
    if arguments.has("d") and len(sets) == 1:
        return text.translate({ord(letter): None for letter in sets[0]})
    if len(sets) != 2 or arguments.names or not sets[1]:
        return None
    table: dict[int, str] = {}
    for place, letter in enumerate(sets[0]):
        table.setdefault(ord(letter), sets[1][min(place, len(sets[1]) - 1)])
    return text.translate(table)


def _letters(written: str) -> str:
    for name, letters in _CLASSES.items():
        written = written.replace(name, letters)

    def expand(found: re.Match[str]) -> str:
        first, last = ord(found[1]), ord(found[2])
        return "".join(map(chr, range(first, min(last, first + 255) + 1)))

    return re.sub(r"(.)-(.)", expand, read_escapes(written), flags=re.DOTALL)


DECODERS: dict[str, Callable[[str, Arguments], str | None]] = {
    "base64": _base64,
    "openssl": _openssl,
    "xxd": _xxd,
    **dict.fromkeys(("gunzip", "gzip", "zcat"), _gunzip),
    "rev": _rev,
    "tr": _tr,
}
