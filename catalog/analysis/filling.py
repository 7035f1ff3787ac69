"""Insert parameter values into a script as quoted data."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from catalog.analysis.parameters import Parameter, find_parameters

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ESCAPED = re.compile(r"[\x00-\x1f\x7f'\\]")
# Quotes and backslashes are written as hexadecimal escapes, too, so that every Bash parser finds the end of the word.
_ESCAPES = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}
# The shebang of a shell that does not support $'...'.
_OTHER_SHELL = re.compile(r"#![^\n]*/(?:env +)?(?:sh|dash|ash)\b")
# Patterns for words that `quote` writes and for lines that `fill` inserts.
_QUOTED = r"""(?:\$'(?:[^'\\]|\\.)*'|'[^'\n]*'(?:"'"'[^'\n]*')*)"""
_WORD = re.compile(_QUOTED)
_ASSIGNMENT = re.compile(rf"(?:export )?([A-Za-z_][A-Za-z0-9_]*)=({_QUOTED})")
_ARGUMENTS = re.compile(rf"set --((?: (?:-[\w-]+=?)?(?:{_QUOTED})?)+)")
_PIECE = re.compile(rf"-[\w-]+=?|{_QUOTED}")
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|.)")
_MOST_LINES = 60


class UnfillableScript(ValueError):
    """The values do not fit the script's parameters. The message is shown to users."""


def fill(script: str, values: Mapping[str, str]) -> str:
    """Return the script with the values assigned right after its shebang and header comment.

    All other bytes stay the same. The values are quoted, so that they remain data. A value equal to the script's own
    default is omitted. Raises UnfillableScript for an unknown name, a missing or empty required value, a NUL byte, or
    control characters if the shell is not Bash.
    """
    parameters = find_parameters(script)
    _check_values(script, parameters, values)
    given = {
        parameter.name: values[parameter.name]
        for parameter in parameters
        if parameter.name in values and values[parameter.name] != parameter.default
    }
    lines = [
        f"{'export ' * parameter.is_environment}{parameter.name}={quote(given[parameter.name])}"
        for parameter in parameters
        if parameter.name in given and parameter.position is None and not parameter.option
    ]
    lines += _arguments_line(script, parameters, given)
    if not lines:
        return script
    end = _header_end(script)
    before, after = script[:end], script[end:]
    if before and not before.endswith("\n"):
        before += "\n"
    return before + "".join(line + "\n" for line in lines) + after


def before_filling(text: str) -> Iterator[str]:
    """Yield the possible originals of `text`, each without some of the first lines that `fill` may have added."""
    end = _header_end(text)
    lines = text[end:].split("\n")
    for count in range(1, min(len(lines), _MOST_LINES)):
        line = lines[count - 1]
        if not (_ASSIGNMENT.fullmatch(line) or _ARGUMENTS.fullmatch(line)):
            return
        yield text[:end] + "\n".join(lines[count:])


def read_values(script: str, filled: str) -> dict[str, str] | None:
    """Return the values that turn the script into `filled`, or None if no values do.

    Only lines in the format of `fill` are read, which contain only quoted words.
    """
    end = _header_end(filled)
    added = filled[end : len(filled) - (len(script) - end)] if len(filled) > len(script) else ""
    parameters = find_parameters(script)
    options = {parameter.option: parameter.name for parameter in parameters if parameter.option}
    places = {parameter.position: parameter.name for parameter in parameters if parameter.position}
    values: dict[str, str] = {}
    for line in added.split("\n")[:-1]:
        if assigned := _ASSIGNMENT.fullmatch(line):
            values[assigned[1]] = _unquote(assigned[2])
        elif arguments := _ARGUMENTS.fullmatch(line):
            values |= _read_arguments(arguments[1] + " ", options, places)
        else:
            return None
    return values


def _read_arguments(
    words: str, options: Mapping[str, str], places: Mapping[int, str]
) -> dict[str, str]:
    values: dict[str, str] = {}
    option, place = "", 0
    for word in _PIECE.findall(words):
        if not word.startswith(("'", "$")):
            option = word[1:]
            continue
        if name := options.get(option):
            values[name] = _unquote(word)
        else:
            place += 1
            if place in places:
                values[places[place]] = _unquote(word)
        option = ""
    return {name: value for name, value in values.items() if value}


def _unquote(word: str) -> str:
    """Return the value of a word written by `quote`."""
    if word.startswith("$"):
        return _ESCAPE.sub(_unescape, word[2:-1])
    return word[1:-1].replace("'\"'\"'", "'")


def _unescape(found: re.Match[str]) -> str:
    letter = found[1]
    if len(letter) == 3:
        return chr(int(letter[1:], 16))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(letter, letter)


def quote(value: str) -> str:
    """Return the value as one quoted Bash word. Even `~` and numbers are quoted, so that they look like data.

    Control characters are written as escapes, because they are invisible in a script and a terminal would interpret
    them when the script is pasted.
    """
    if _CONTROL.search(value):
        return "$'" + _ESCAPED.sub(_escape, value) + "'"
    quoted = shlex.quote(value)
    return quoted if quoted != value else f"'{value}'"


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return _ESCAPES.get(character) or f"\\x{ord(character):02x}"


def _check_values(
    script: str, parameters: tuple[Parameter, ...], values: Mapping[str, str]
) -> None:
    unknown = sorted(values.keys() - {parameter.name for parameter in parameters})
    if unknown:
        raise UnfillableScript(f"The script has no parameter {unknown[0]}.")
    for parameter in parameters:
        if parameter.required and not values.get(parameter.name):
            raise UnfillableScript(f"{parameter.name} needs a value.")
    for name, value in values.items():
        if "\0" in value:
            raise UnfillableScript(f"The value of {name} contains a NUL byte.")
        if _CONTROL.search(value) and _OTHER_SHELL.match(script):
            raise UnfillableScript(
                f"The value of {name} contains control characters, which only Bash can read."
            )


def _arguments_line(
    script: str, parameters: tuple[Parameter, ...], given: Mapping[str, str]
) -> list[str]:
    """Return a `set -- ...` line that replaces options and arguments, or no line if none are given. Omitted arguments
    before a given argument are empty.
    """
    options = [
        f"-{parameter.option}{'' if parameter.option.endswith('=') else ' '}{quote(given[parameter.name])}"
        for parameter in parameters
        if parameter.option and parameter.name in given
    ]
    places = {
        parameter.position: given[parameter.name]
        for parameter in parameters
        if parameter.position is not None and parameter.name in given
    }
    arguments = [quote(places.get(place, "")) for place in range(1, max(places, default=0) + 1)]
    if arguments and "getopts" in script:
        options.append("--")  # prevents getopts from reading an argument as an option
    elif any(one.option for one in parameters) and any(v.startswith("-") for v in places.values()):
        raise UnfillableScript("The script would read an argument that begins with - as an option.")
    words = [*options, *arguments]
    return [f"set -- {' '.join(words)}"] if words else []


def _header_end(script: str) -> int:
    """Return the offset after the comment lines at the start of the script."""
    position = end = 0
    while position < len(script):
        newline = script.find("\n", position)
        after = newline + 1 if newline != -1 else len(script)
        line = script[position:after].strip()
        if line.startswith("#"):
            end = after
        elif line:
            break
        position = after
    return end
