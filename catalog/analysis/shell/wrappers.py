"""Find the inner commands of commands such as sudo, xargs, `find -exec`, `bash -c` and ssh."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice

from catalog.analysis.shell.arguments import Arguments, read_arguments
from catalog.analysis.shell.command_words import Output, Word, literal_word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.inline_code import read_code, shell_texts
from catalog.analysis.shell.interpreters import Sources, interpreter_of, is_shell, read_sources
from catalog.analysis.tables import PATTERNS, WORDS, read_table

# Marks commands in a container that is deleted afterwards and shares no folder with the machine.
THROWAWAY = "container"
_SHARED = WORDS["shared-with-containers"]
SSH_VALUES = "BbcDEeFIiJLlmOoPpQRSWw"  # the letters of ssh's options that take a value


@dataclass(frozen=True, slots=True)
class ShellText:
    """Words that a shell runs as text, joined by spaces."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Starter:
    """The syntax of a command that runs another command: its options that take a value, and its operands."""

    short: str = ""
    long: frozenset[str] = frozenset()
    operands: int = 0  # number of its own operands before the command
    takes_count: bool = False  # a number may come before the command
    adds_operands: bool = False  # operands are added to the command at run time
    is_text: bool = False  # a shell runs the words, joined by spaces
    is_after_dashes: bool = False  # kubectl exec POD -- COMMAND


def _read_starter_line(text: str) -> Starter:
    words = text.split()
    return Starter(
        short="".join(word[1:] for word in words if re.match(r"-\w", word)),
        long=frozenset(word[2:] for word in words if word.startswith("--")).union(
            *(WORDS[word[1:]] for word in words if word.startswith("@"))
        ),
        operands=sum(int(word) for word in words if word.startswith("+")),
        takes_count="count" in words,
        adds_operands="adds" in words,
        is_text="text" in words,
        is_after_dashes="dashes" in words,
    )


STARTERS: dict[str, Starter] = {}  # starters by command name
_WITH_SUBCOMMANDS: defaultdict[str, list[tuple[list[str], Starter]]] = defaultdict(list)
for _name, _subcommands, _text in read_table("shell/programs.txt", "starters"):
    if _subcommands:
        _WITH_SUBCOMMANDS[_name].append((_subcommands.split(), _read_starter_line(_text)))
    else:
        STARTERS[_name] = _read_starter_line(_text)
_GLOBAL = {
    name: _read_starter_line(text)
    for name, _, text in read_table("shell/programs.txt", "global options")
}
_TEXT_OPTIONS = {
    name: text.split() for name, _, text in read_table("shell/programs.txt", "text options")
}
MAXIMUM_MODULES = 200  # in one playbook
_MODULES: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
for _name, _needed, _text in read_table("shell/programs.txt", "ansible modules"):
    _MODULES[_name].append((_needed, _text))
_NAMED = re.compile(r"\{(\w+)\}")
_MODULE_ARGUMENT = re.compile(r"(\w+)[\"']?[ \t]*[=:][ \t]*(\"[^\"\n]*\"|'[^'\n]*'|[^\s,}]+)")
_MODULE = re.compile(
    r"(?m)^([ \t]*)(?:- )?([\w.]{2,60}):(?=([ \t]+[^\n|>]+|[ \t]*[|>]?-?(?:\n\1[ \t]+[^\n]*){1,30}))"
)
_SETTINGS = {
    name: text.split(" ", 1) for name, _, text in read_table("shell/programs.txt", "settings")
}


def open_command(command: Command) -> Iterator[Command | ShellText]:
    """Yield the commands that this command starts, and the code that a shell runs for it."""
    name, words = command.name, command.arguments
    sources = sources_of(command)
    if is_shell(name) or interpreter_of(name) is None:
        if sources and sources.code:
            yield from (ShellText((text,)) for text in sources.code)
        elif sources and sources.reads_input and command.fed_text:
            yield ShellText((command.fed_text,))
    texts = [ShellText((text,)) for text in _text_options(command)]
    yield from texts
    yield from (ShellText((text,)) for text in shell_texts(command))
    for assignment in command.assignments:
        if assignment.value and PATTERNS["run-variable"].fullmatch(assignment.name):
            yield ShellText((assignment.value,))
    if name == "ssh":
        if remote := read_ssh(command).operands[1:]:
            yield ShellText(remote)
    elif name == "find":
        yield from _open_find(command)
    elif name == "trap" and words and words[0].literal not in ("-", "", "-p", "-l"):
        yield ShellText(words[1:2] if words[0].literal == "--" else words[:1])
    elif name == "alias":
        for word in words:
            if "=" in word.prefix:
                yield ShellText((word.without_prefix(word.prefix.index("=") + 1),))
    elif name in ("ansible", "ansible-playbook"):
        if not any(map(command.has_option, ("--check", "-C", "--syntax-check"))):
            yield from _open_ansible(command)
    elif name.startswith("python") and [word.literal for word in words[:2]] == ["-m", "pip"]:
        yield command.starting(words[1:])
    elif (found := _find_starter(command)) and not (texts and name != "git"):
        yield from _open_starter(command, *found)


@lru_cache(maxsize=8)  # multiple rules request the same command in a row
def sources_of(command: Command) -> Sources | None:
    """Return the sources of the command's code. `ssh`, `su` and `sudo -i` may start a shell that reads its input."""
    name = command.name
    if name == "su":
        return Sources(reads_input=_option(command, ("c", "command", "lc")) is None)
    if name == "ssh" and not command.takes_more:
        own = read_ssh(command)
        return Sources(
            reads_input=len(own.operands) == 1 and not own.has("N", "V", "W", "O", "G", "f")
        )
    if name == "sudo":
        own = _read_starter(command.arguments, STARTERS["sudo"])
        return Sources(reads_input=not own.operands and own.has("s", "i"))
    return read_sources(command)


def _text_options(command: Command) -> Iterator[Word]:
    """Yield the option values that a shell runs."""
    name = command.name
    names = _TEXT_OPTIONS.get(name, [])
    if name == "git" and command.has_option("rebase"):
        names = [*names, "x"]
    yield from _option_values(command, names)
    if name in _SETTINGS:
        option, pattern = _SETTINGS[name]
        for value in _option_values(command, [option]):
            if key := re.match(pattern, value.prefix, re.IGNORECASE):
                text = value.without_prefix(key.end())
                yield _without_list(text) if name == "aws" else text


def _option_values(command: Command, names: list[str]) -> Iterator[Word]:
    """Yield the values of these options: `--name=x`, `--name x`, `-nx` or `-abn x`."""
    for place, word in enumerate(command.arguments if names else ()):
        found = re.match(r"(--?)([\w-]+)(=?)", word.prefix)
        if found is None:
            continue
        dashes, option, sign = found.groups()
        if option in names and sign:
            yield word.without_prefix(found.end())
        elif option in names or (dashes == "-" and option[-1] in names):
            yield from command.arguments[place + 1 : place + 2]
        elif dashes == "-" and option[0] in names:
            yield word.without_prefix(2)


def _without_list(word: Word) -> Word:
    """Return the commands of a JSON list, one per line."""
    if not word.prefix.startswith("["):
        return word
    texts = re.findall(r"[\"']([^\"'\n]+)[\"']", word.literal or word.span.text)
    return literal_word("\n".join(texts), word.span)


def _find_starter(command: Command) -> tuple[Starter, tuple[Word, ...]] | None:
    """Return the starter that matches the command and its subcommands, and the words after them."""
    reader = _GLOBAL.get(command.name, Starter())
    for subcommands, starter in _WITH_SUBCOMMANDS.get(command.name, []):
        words = command.arguments
        if starter.is_after_dashes:
            texts = [word.literal for word in words]
            dashes = texts.index("--") if "--" in texts else 0
            if not set(subcommands[0].split("|")).isdisjoint(texts[:dashes]):
                return starter, words[dashes + 1 :]
            continue
        for choices in subcommands:
            words = _read_starter(words, reader).operands
            text = (words[0].literal or "") if words else None
            if text is None or not any(fnmatchcase(text, one) for one in choices.split("|")):
                break
            words = words[1:]
        else:
            return starter, words
    own = STARTERS.get(command.name)
    return (own, command.arguments) if own else None


def _read_starter(words: tuple[Word, ...], starter: Starter) -> Arguments:
    return read_arguments(words, short=starter.short, long=starter.long, stop_at_operand=True)


def _open_starter(
    command: Command, starter: Starter, given: tuple[Word, ...]
) -> Iterator[Command | ShellText]:
    arguments = _read_starter(given, starter)
    if command.name == "env" and (text := arguments.value("S", "split-string")):
        yield ShellText((text, *arguments.operands))
        return
    words = arguments.operands
    if command.name in ("env", "sudo"):
        while words and (found := re.match(r"(\w+)=", words[0].prefix)):
            if PATTERNS["run-variable"].fullmatch(found[1]):
                yield ShellText((words[0].without_prefix(found.end()),))
            words = words[1:]
    words = words[starter.operands :]
    if entry := arguments.value("entrypoint"):
        words = (entry, *words)
    if starter.takes_count and words and words[0].prefix.isdigit():
        words = words[1:]
    while starter.operands and words and words[0].prefix.startswith("-"):
        words = words[1:]
    if command.name == "command" and arguments.has("v", "V"):
        return
    if starter.is_text:
        words = tuple(word for word in words if word.literal not in ("Enter", "C-m", "ENTER"))
        if words:
            yield ShellText(words)
        return
    for placeholder in _placeholders(command, arguments):
        words = tuple(word.with_input(placeholder) for word in words)
    if command.name == "parallel" and (text := _parallel_text(words)):
        yield ShellText((text,))
    elif words:
        started = command.starting(words, takes_more=starter.adds_operands)
        is_docker = command.name in ("docker", "podman") and not command.has_option("compose")
        if is_docker and arguments.has("rm") and not arguments.names & _SHARED:
            via = (*started.context.via, THROWAWAY)
            started = replace(started, context=replace(started.context, via=via))
        yield started
    elif command.name == "parallel":  # parallel runs each line of its input
        yield ShellText((Word((Output("input", "{}", -1),), command.words[0].span),))


def _placeholders(command: Command, arguments: Arguments) -> tuple[str, ...]:
    """Return the placeholders that xargs or parallel replaces with parts of its input."""
    if command.name == "parallel":
        return ("{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1}", "{2}", "{3}")
    if command.name != "xargs":
        return ()
    values = [
        value.literal if value is not None else None
        for name, value in arguments.options
        if name in ("I", "replace")
    ]
    # The value of -i is optional, so it can only be attached.
    attached = [
        found[1]
        for word in command.arguments
        if (found := re.match(r"-[0rtxp]*i(.*)", word.prefix, re.DOTALL))
    ]
    return tuple(dict.fromkeys(value or "{}" for value in (*values, *attached)))


def _parallel_text(words: tuple[Word, ...]) -> Word | None:
    """Return the only word before `:::`, which parallel runs in a shell, or None."""
    is_one = len(words) == 1 or (len(words) > 1 and words[1].prefix.startswith("::"))
    return words[0] if is_one and re.search(r"\s", "".join(words[0].texts)) else None


def _option(command: Command, names: tuple[str, ...]) -> Word | None:
    return next((word for word in command.arguments if word.prefix.lstrip("-") in names), None)


def read_ssh(command: Command) -> Arguments:
    """Return the options of ssh before and after the host, which is the first operand."""
    before = read_arguments(command.arguments, short=SSH_VALUES, stop_at_operand=True)
    after = read_arguments(before.operands[1:], short=SSH_VALUES, stop_at_operand=True)
    return Arguments(
        (*before.options, *after.options),
        (*before.operands[:1], *after.operands),
        before.is_certain and after.is_certain,
    )


def _open_ansible(command: Command) -> Iterator[ShellText]:
    """Yield the code that a shell runs, and commands equivalent to Ansible's other modules."""
    for module, written, word in _ansible_calls(command):
        name = module.rpartition(".")[2]
        given = {key: value.strip("\"'") for key, value in _MODULE_ARGUMENT.findall(written)}
        if name in ("command", "shell", "raw", "script") and "cmd" not in given:
            yield ShellText((word,))
        lines = "\n".join(f"{key}={value}" for key, value in given.items())
        for needed, form in _MODULES.get(name, []):
            if re.search(rf"(?m)^{needed}$", lines):
                filled = _NAMED.sub(lambda name, given=given: given.get(name[1], ""), form)  # type: ignore[misc]
                yield ShellText((literal_word(filled, word.span),))


def _ansible_calls(command: Command) -> Iterator[tuple[str, str, Word]]:
    """Yield the module, arguments and location of each call in an ad hoc command or a playbook in a here-document."""
    arguments = read_arguments(command.arguments, short="imauftelM", long=("args", "module-name"))
    module, text = arguments.value("m", "module-name"), arguments.value("a", "args")
    if command.name == "ansible-playbook":
        if fed := command.fed_text:
            for call in islice(_MODULE.finditer(read_code(fed)), MAXIMUM_MODULES):
                span = fed.span_of(*call.span())
                yield call[2], call[3], literal_word(call[3].strip(" \n\"'|>-"), span)
    elif text:
        yield module.prefix if module else "command", read_code(text), text


def _open_find(command: Command) -> Iterator[Command]:
    words = command.arguments
    for start, word in enumerate(words):
        if word.literal not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        ends = (end for end in range(start + 1, len(words)) if words[end].literal in (";", "+"))
        started = words[start + 1 : next(ends, len(words))]
        if started:
            folder = (words[0].literal or "").rstrip("/") + "/" if len(words) > 1 else ""
            folder = folder if words[0].prefix.startswith("/") else "{}"
            words_run = tuple(word.with_input("{}", folder) for word in started)
            yield command.starting(words_run, takes_more=True)
