"""Parse a script into a flat list of all commands that it would run, including wrapped commands."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice

from catalog.analysis.dialect import find_dialect
from catalog.analysis.shell.command_words import (
    Output,
    Part,
    Variable,
    Word,
    join_words,
    literal_word,
    show,
    unit_of,
)
from catalog.analysis.shell.commands import (
    UNREAD_CODES,
    Assignment,
    Command,
    Context,
    Expansion,
    Found,
    Gap,
    Loop,
    Redirect,
    Unseen,
    split_words,
)
from catalog.analysis.shell.decoding import printed_text
from catalog.analysis.shell.fragments import Span, Unit
from catalog.analysis.shell.functions import Functions
from catalog.analysis.shell.interpreters import interpreter_of, is_shell, read_sources
from catalog.analysis.shell.parsing import shared_time
from catalog.analysis.shell.script_files import ScriptFiles, append_text
from catalog.analysis.shell.tree_walk import MAXIMUM_DEPTH, walk_unit
from catalog.analysis.shell.variables import Variables
from catalog.analysis.shell.wrappers import ShellText, open_command, sources_of
from catalog.analysis.tables import word_set

MAXIMUM_WRAPPERS = 12  # `sudo env nice timeout ...` in a row
MAXIMUM_UNITS = 300
MAXIMUM_BYTES = 200_000  # maximum size of all code that the script's own commands run
MAXIMUM_CHANGES = 50  # `cd` commands
MAXIMUM_RESOLVED = 20_000  # words resolved from variables
MAXIMUM_STAGES = 10  # commands of a pipeline that are followed
MAXIMUM_GROUPS = 50  # groups of commands with a redirection
MAXIMUM_CALLS = 3_000  # calls to functions, including each command that receives their arguments
MAXIMUM_COMMANDS = 50_000

# Programs whose first word after the name is a subcommand.
_WITH_SUBCOMMANDS = word_set(
    "kubectl oc docker podman git systemctl service aws gcloud az helm terraform tofu redis-cli zfs"
    " zpool apt apt-get yum dnf etcdctl vault consul virsh rabbitmqctl pm2 supervisorctl ip nmcli ufw"
)
_PREFIX = re.compile(r"(?i)sudo|root|dry|run|echo|prefix|exec|nice|wrap|debug")
# Don't resolve such substitutions, because a command in a branch may print nothing.
_MAY_SKIP = re.compile(r"\[\[?\s|\bIFS=|\btest\s|&&|\|\||\b(?:if|case|for|while|until)\s")
_ALL_ARGUMENTS = frozenset({"@", "*"})


@dataclass(frozen=True, eq=False)
class Program:
    """A parsed script: its commands, redirections, variables and gaps."""

    unit: Unit
    commands: tuple[Command, ...]  # in order of lines
    redirects: tuple[Redirect, ...]
    loops: tuple[Loop, ...]
    assignments: tuple[Assignment, ...]
    expansions: tuple[Expansion, ...]
    functions: frozenset[str]
    own: Mapping[str, int]  # the functions that are certainly defined, with their lines
    gaps: tuple[Gap, ...]
    unseen: tuple[Unseen, ...]
    variables: Variables

    @property
    def unread_lines(self) -> set[int]:
        """Return the lines of the script that the parser could not read."""
        gaps = (gap for gap in self.gaps if gap.code in UNREAD_CODES)
        return {line for gap in gaps for line in range(gap.span.line, gap.last_line + 1)}

    @cached_property
    def _by_output(self) -> dict[tuple[Unit, int], list[Command]]:
        inside: dict[tuple[Unit, int], list[Command]] = {}
        for command in self.commands:
            for key in command.context.outputs:
                inside.setdefault(key, []).append(command)
        return inside

    @cached_property
    def _by_pipe(self) -> dict[tuple[Unit, int], list[tuple[int, Command]]]:
        piped: dict[tuple[Unit, int], list[tuple[int, Command]]] = {}
        for command in self.commands:
            for unit, start, place in command.context.pipes:
                piped.setdefault((unit, start), []).append((place, command))
        return piped

    @cached_property
    def folder_changes(self) -> tuple[Command, ...]:
        """Return the `cd` commands of the script, up to MAXIMUM_CHANGES."""
        changes = (command for command in self.commands if command.name == "cd")
        return tuple(islice(changes, MAXIMUM_CHANGES))

    @cached_property
    def by_function(self) -> dict[str, list[Command]]:
        """Return the commands of each function, by function name."""
        bodies: dict[str, list[Command]] = {}
        for command in self.commands:
            bodies.setdefault(command.context.function, []).append(command)
        return bodies

    def calls_own(self, command: Command) -> bool:
        """Return whether the command certainly calls a function of the script, even if a program has the same name."""
        line = self.own.get(command.words[0].literal or "", command.span.line)
        is_direct = self.functions.issuperset(command.context.via)
        return line < command.span.line and is_direct and b"unset" not in self.unit.source

    def inside(self, word: Word) -> list[Command]:
        """Return the commands in the substitutions of the word."""
        keys = [(word.span.unit, output.start) for output in word.outputs]
        return [command for key in keys for command in self._by_output.get(key, [])]

    def values(self, word: Word) -> list[Word]:
        """Return the word or, if it is a variable, its values in the script, directly or through one other variable."""
        words = [word]
        for _ in range(2):
            names = [w.sole_variable.name if w.sole_variable else "" for w in words]
            held = [self.variables.sources(n) or [w] for n, w in zip(names, words, strict=True)]
            words = [value for values in held for value in values][:MAXIMUM_STAGES]
        return words

    def piped_into(self, command: Command) -> list[Command]:
        """Return the commands that precede this command in its pipelines."""
        return [
            other
            for unit, start, place in command.context.pipes
            for other_place, other in self._by_pipe.get((unit, start), [])
            if other_place < place
        ]


@lru_cache(maxsize=2)  # one request reads the same script multiple times
def read_program(source: bytes) -> Program:
    """Return every command of the script, including commands run through sudo, xargs, `bash -c`, ssh, functions and
    pipes.

    Windows line endings are read as line feeds. Code that can't be followed is reported as a gap. This function never
    raises.
    """
    unit = Unit(source.replace(b"\r\n", b"\n"))
    with shared_time():
        found = walk_unit(unit, Context())
        found.gaps += find_dialect(unit)
        reader = _Reader(found)
        commands = reader.read()
    return Program(
        unit=unit,
        commands=tuple(sorted(commands, key=lambda command: command.span.line)),
        redirects=tuple(found.redirects),
        loops=tuple(found.loops),
        assignments=tuple(found.assignments),
        expansions=tuple(found.expansions),
        functions=frozenset(found.functions),
        own=found.own,
        gaps=tuple(found.gaps),
        unseen=tuple(reader.unseen),
        variables=Variables(found),
    )


class _Reader:
    """A reader that expands commands one by one. Inner commands are appended to the queue."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.variables = Variables(found)
        self.functions = Functions(found.commands)
        self.units = 0
        self.bytes_read = 0
        self.calls = 0
        self.words_resolved = 0
        self.lookups = 0
        self.unseen: list[Unseen] = []
        self.files = ScriptFiles(self._resolve)
        self.texts_run: set[tuple[Unit, int]] = set()
        self.file_runs: list[tuple[int, Word]] = []
        self.piped: dict[tuple[Unit, int, int], list[Command]] = {}
        self.inside: dict[tuple[Unit, int], list[Command]] = {}
        self.queue: deque[Command] = deque()
        self._enqueue(found.commands)
        found.assignments = [self._folded(assignment) for assignment in found.assignments]
        self.variables = Variables(found)

    def _folded(self, assignment: Assignment) -> Assignment:
        """Return the assignment with substitutions replaced by their output if the script determines it."""
        given = assignment.values
        values = tuple(Word(self._resolve(w).parts, w.span) if w.outputs else w for w in given)
        return assignment if values == given else replace(assignment, values=values)

    def _enqueue(self, commands: Iterable[Command]) -> None:
        for command in commands:
            self.queue.append(command)
            if command.context.pipes:
                self.piped.setdefault(command.context.pipes[-1], []).append(command)
            if command.context.outputs:
                self.inside.setdefault(command.context.outputs[-1], []).append(command)

    def read(self) -> list[Command]:
        """Return every command and the commands that it starts."""
        commands: list[Command] = []
        seen = 0
        while self.queue:
            while self.queue and len(commands) < MAXIMUM_COMMANDS:
                commands.append(self._read_command(self.queue.popleft(), len(commands)))
            if self.queue:
                message = "There are too many commands to analyze from here on."
                self._gap(self.queue[0].span, "too_complex", message)
                break
            self.files.add(commands[seen:])
            if not seen:
                self._note_groups(commands)
            seen = len(commands)
            runs, self.file_runs = self.file_runs, []
            for place, word in runs:
                commands[place] = self._read_file(commands[place], word)
        return commands

    def _note_groups(self, commands: list[Command]) -> None:
        """Record the files that groups of commands write. Only the first MAXIMUM_GROUPS are followed."""
        for redirect, span in self.found.group_writes[:MAXIMUM_GROUPS]:
            inside = [
                command
                for command in commands
                if command.span.unit is span.unit and span.start <= command.span.start < span.end
            ]
            self.files.add_redirect(redirect, inside)

    def _read_command(self, command: Command, place: int) -> Command:
        at = 1 if command.name in _WITH_SUBCOMMANDS and command.arguments else 0
        if choices := self._choices(command.words[at]):
            for choice in choices[1:]:
                self.queue.append(_with_word(command, at, choice))
            command = _with_word(command, at, choices[0])
        written = command.words[0]
        command = self._with_code(self._fed_by_pipe(self._resolved(command)))
        self._note_dynamic(command, written)
        opened = self._opened(command)
        for inner in opened:
            if isinstance(inner, Command):
                self.queue.append(_with_passed(inner, command))
            else:
                self._read_text(inner, command)
        self._note_sources(command, place)
        return replace(command, is_opened=bool(opened))

    def _choices(self, word: Word) -> list[Word]:
        """Return the values of a variable that is a command's name, if it has multiple values."""
        variable = word.sole_variable
        values = self.variables.choices(variable.name) if variable and not variable.operator else []
        if not values or variable is None or self.variables.known(variable.name) is not None:
            return []
        self.calls += len(values)
        return values if self.calls <= MAXIMUM_CALLS else []

    def _with_code(self, command: Command) -> Command:
        """Return a command of another language with its code resolved, if the code consists only of variables and
        outputs.
        """
        spec = interpreter_of(command.name)
        sources = None if spec is None or spec.is_shell else read_sources(command)
        words = dict[Word, Word]()
        fed = (command.fed_text,) if sources and sources.reads_input and command.fed_text else ()
        for word in (*sources.code, *fed) if sources else ():
            if word.parts and not word.texts:
                words[word] = self._resolve(word, fed=_one_line(command.fed_text))
                if not words[word].texts:
                    self._note_unseen(command, (word,))
        redirects = (replace(r, word=words.get(r.word, r.word)) for r in command.redirects)
        given = tuple(words.get(word, word) for word in command.words)
        return replace(command, words=given, redirects=tuple(redirects)) if words else command

    def _note_sources(self, command: Command, place: int) -> None:
        """Record the code that the command runs from files or from unknown input."""
        name = command.words[0]
        sources = sources_of(command)
        for word in sources.files if sources else ():
            self.file_runs.append((place, word))
        if sources and sources.reads_input and command.fed_text is None:
            stdin = [redirect.word for redirect in command.redirects if redirect.kind == "read"]
            if stdin:
                self.file_runs.append((place, stdin[-1]))
            else:
                message = f"What {command.name} reads from its input and runs is not in the script."
                self._gap(command.span, "dynamic_code", message)
                self.unseen.append(Unseen(command))
        path = name.literal or name.span.text
        is_strange = not command.is_standard and not (sources and re.search(r"/s?bin/[^/]+$", path))
        is_path = "/" in path and command.name and (is_strange or "." in command.name)
        if is_path or (name.sole_variable and not command.name):
            self.file_runs.append((place, name))

    def _read_file(self, command: Command, word: Word) -> Command:
        """Analyze a file that the command runs, if the script determines its contents. Return the updated command."""
        if word.outputs and not word.takes_input:  # `bash <(...)`
            text = self._resolve(word)
            if text is not word:
                return self._run_text(command, text)
            if word.prefix == "" and len(word.parts) == 1:
                self._note_unseen(command, (word,))
                return command
        texts, unknown = self.files.contents(word)
        if unknown:
            self.unseen.append(Unseen(command, writers=tuple(unknown)))
        for text in texts:
            is_new = (text.span.unit, text.span.start) not in self.texts_run
            self.texts_run.add((text.span.unit, text.span.start))
            command = self._run_text(command, text) if is_new else replace(command, is_opened=True)
        if unknown or (not texts and command.name):
            is_sourced = command.name in ("source", ".")
            verb = "Sources" if is_sourced else "Runs"
            message = (
                f"{verb} {show(word)}, which is not part of the script. Review that file as well."
            )
            if word.takes_input:
                message = (
                    f"{verb} files whose names come from its input. Review those files as well."
                )
            self._gap(command.span, "sourced_file" if is_sourced else "unread_file", message)
        return command

    def _run_text(self, command: Command, text: Word) -> Command:
        spec = interpreter_of(command.name)
        name = command.name if spec else _shebang(text)
        if is_shell(name):
            self._read_text(ShellText((text,)), command)
            return replace(command, is_opened=True)
        words = (literal_word(name, command.words[0].span), literal_word("-", text.span))
        redirects = (*command.redirects, Redirect("text", text))
        context = replace(command.context, via=(*command.context.via, command.name))
        if len(context.via) < MAXIMUM_WRAPPERS:
            self.queue.append(replace(command, words=words, redirects=redirects, context=context))
        return replace(command, is_opened=True)

    def _note_unseen(self, command: Command, words: tuple[Word, ...]) -> None:
        message = f"The text that {command.name} runs is known only when the script runs."
        self._gap(words[0].span, "dynamic_code", message)
        self.unseen.append(Unseen(command, words))

    def _opened(self, command: Command) -> list[Command | ShellText]:
        opened = [*open_command(command), *self._called(command)]
        if opened and len(command.context.via) >= MAXIMUM_WRAPPERS:
            self._gap(command.span, "too_complex", "Too many nested commands to analyze.")
            return []
        return opened

    def _resolved(self, command: Command) -> Command:
        """Return the command with variables replaced if they contain its name, options or an array."""
        if all(word.literal is not None for word in command.words):
            return command
        words: list[Word] = []
        for place, word in enumerate(command.words):
            is_name = place == 0 or (place == 1 and command.name in _WITH_SUBCOMMANDS)
            values = self._values(word, command, is_name=is_name) if word.literal is None else []
            self.words_resolved += len(values)
            if self.words_resolved > MAXIMUM_RESOLVED:
                self._gap(word.span, "too_complex", "Too many variable values to analyze.")
                return command
            words += values or [word]
        return replace(command, words=tuple(words))

    def _values(self, word: Word, command: Command, *, is_name: bool) -> list[Word]:
        is_file = any(output.kind == "process" for output in word.outputs)
        if is_file or self.words_resolved > MAXIMUM_RESOLVED:
            return []
        variable = word.sole_variable
        if variable and (array := self.variables.array(variable.name)) is not None:
            return list(array)
        if not is_name and variable and (variable.quoted or variable.operator):
            return []
        if not (is_name or variable or word.outputs or word.prefix.startswith("-")):
            return []
        value = self._resolve(word, fed=_one_line(command.fed_text))
        default = self.variables.default(variable.name) if variable and is_name else None
        if value is word and default:
            value = literal_word(default, word.span)
        if value is word or not (value.literal is not None or (is_name and value.texts)):
            return []
        if word.has_unquoted_expansion or is_name:
            return list(split_words(value, word.span))
        return [Word(value.parts, word.span)]

    def _resolve(self, word: Word, depth: int = 0, fed: Word | None = None) -> Word:
        """Return the word after replacing the parts that the script determines literally."""
        self.lookups += 1
        if word.literal is not None or depth > MAXIMUM_DEPTH or self.lookups > MAXIMUM_RESOLVED:
            return word
        values = [self._part(part, word, depth, fed) for part in word.parts]
        if len(values) == 1 and values[0] is not None:
            return values[0]
        if not any(values):
            return word
        parts: list[Part] = []
        for part, value in zip(word.parts, values, strict=True):
            parts += [part] if value is None else value.parts
        return Word(tuple(parts), word.span)

    def _part(self, part: Part, word: Word, depth: int, fed: Word | None) -> Word | None:
        value: Word | None = None
        if isinstance(part, Variable) and part.operator == "":
            value = self.variables.sole_value(part.name)
        elif isinstance(part, Output) and part.kind == "input":
            value = fed
        elif isinstance(part, Output) and not _MAY_SKIP.search(part.source):
            value = self._printed(self.inside.get((word.span.unit, part.start), []), depth)
        if value is None:
            return None
        value = self._resolve(value, depth + 1)
        if not isinstance(part, Output):
            return value if value.texts else None
        if value.literal is None or part.kind == "process" or not value.literal.endswith("\n"):
            return value if value.literal is not None else None
        return literal_word(value.literal.rstrip("\n"), value.span)

    def _printed(self, commands: list[Command], depth: int) -> Word | None:
        """Return the output of the commands of one substitution if the script determines it."""
        if not commands or depth > MAXIMUM_DEPTH:
            return None
        if len(commands) > 1:  # multiple commands must form one pipeline
            places = [command.context.pipes[-1:] for command in commands]
            unit, start = places[0][0][:2] if places[0] else (commands[0].span.unit, -1)
            if places != [((unit, start, place),) for place in range(len(places))]:
                return None
        return self._stage(commands[-1], depth + 1)

    def _stage(self, command: Command, depth: int = 0) -> Word | None:
        """Return the output of this command in a pipeline if the script determines it."""
        if depth > MAXIMUM_STAGES:
            return None
        command = self._fed_by_pipe(self._resolved(command), depth + 1)
        inner = [opened for opened in open_command(command) if isinstance(opened, Command)]
        if len(inner) == 1 and command.name in ("sudo", "command", "env", "nice"):
            command = inner[0]
        fed = command.fed_text
        if fed is not None and fed.literal is None:
            known = replace(command, redirects=(Redirect("text", self._resolve(fed, depth)),))
            command = known
        words = tuple(self._resolve(word, depth) for word in command.words)
        return printed_text(replace(command, words=words))

    def _fed_by_pipe(self, command: Command, depth: int = 0) -> Command:
        """Return the command with the output of the previous commands in its pipeline as its input."""
        if command.fed_text or not command.context.pipes:
            return command
        unit, start, place = command.context.pipes[-1]
        text: Word | None = None
        for before in self.piped.get((unit, start, place - 1), [])[: MAXIMUM_STAGES + 1]:
            printed = self._stage(before, depth) if depth <= MAXIMUM_STAGES else None
            if printed is None:
                return command
            text = append_text(text, printed) if text else printed
        if text is None:
            return command
        return replace(command, redirects=(*command.redirects, Redirect("text", text)))

    def _called(self, command: Command) -> Iterator[Command]:
        """Yield the commands of the called function that use its arguments."""
        calls = list(self.functions.called(command))
        self.calls += len(calls)
        if calls and self.calls > MAXIMUM_CALLS:
            self._gap(command.span, "too_complex", "Too many function calls to analyze.")
        else:
            yield from calls

    def _read_text(self, text: ShellText, command: Command) -> None:
        written = join_words(text.words)
        variable = written.sole_variable
        for choice in self.variables.choices(variable.name)[1:] if variable else ():
            self._read_word(choice, choice, command)
        if variable and (choices := self.variables.choices(variable.name)):
            self._read_word(choices[0], choices[0], command)
            return
        self._read_word(self._resolve(written, fed=command.fed_text), written, command)

    def _read_word(self, word: Word, written: Word, command: Command) -> None:
        if not any(text.strip() for text in word.texts):
            self._note_unseen(command, (written,))
            return
        depth = command.span.unit.depth + 1
        inner_unit = unit_of(word, depth=depth)
        self.units += 1
        self.bytes_read += len(inner_unit.source)
        is_too_much = self.units > MAXIMUM_UNITS or self.bytes_read > MAXIMUM_BYTES
        if depth > MAXIMUM_DEPTH or is_too_much:
            self._gap(word.span, "too_complex", "Too many nested commands to analyze.")
            return
        if word.variables or word.outputs:
            message = (
                f"A value becomes part of the code that {command.name} runs: {show(written)}."
                " Its content runs as code."
            )
            self._gap(word.span, "spliced_value", message)
        context = replace(command.context, via=(*command.context.via, command.name))
        inner = walk_unit(inner_unit, context)
        if len(inner.commands) == 1:  # in `ssh host bash <<EOF`, the input of ssh reaches bash
            fed = tuple(r for r in command.redirects if r.kind in ("text", "read"))
            only = inner.commands[0]
            inner.commands[0] = replace(only, redirects=(*fed, *only.redirects))
        self._enqueue(inner.commands)
        self.found.add(inner)

    def _note_dynamic(self, command: Command, written: Word) -> None:
        name = command.words[0]
        if command.name in _WITH_SUBCOMMANDS and command.arguments:
            name = command.arguments[0]
            if name.literal is None and not name.texts:
                message = f"What {command.name} {show(name)} does is known only when it runs."
                self._gap(name.span, "dynamic_code", message)
            return
        if name.literal is not None or command.name:
            return
        variable = name.sole_variable
        if variable and variable.name in _ALL_ARGUMENTS and command.context.function:
            return  # calls to the function are analyzed instead
        if variable and self.variables.is_switch(variable.name):
            return
        if written.outputs and len(written.parts) == 1:
            self.unseen.append(Unseen(command, (written,)))
        message = f"What {show(written)} runs is known only when the script runs."
        self._gap(name.span, "dynamic_code", message)
        # A variable as in `$SUDO rm` or `$DRY_RUN rm` may run the remaining words as a command, regardless of its
        # value.
        is_prefix = variable is None or _PREFIX.search(variable.name)
        if is_prefix and command.arguments and command.arguments[0].literal:
            self.queue.append(command.starting(command.arguments))

    def _gap(self, span: Span, code: str, message: str) -> None:
        self.found.gaps.append(Gap(span, code, message))


def _with_word(command: Command, at: int, choice: Word) -> Command:
    chosen = split_words(choice, command.words[at].span)
    words = (*command.words[:at], *chosen, *command.words[at + 1 :])
    return replace(command, words=words or command.words)


def _with_passed(inner: Command, command: Command) -> Command:
    """Return the command that xargs starts, with the words of its input if the input is one known line."""
    fed = _one_line(command.fed_text)
    if command.name != "xargs" or fed is None or any(word.takes_input for word in inner.words):
        return inner
    return replace(inner, words=(*inner.words, *split_words(fed, fed.span)))


def _one_line(fed: Word | None) -> Word | None:
    """Return the word if its text is one known line."""
    text = (fed.literal or "").rstrip("\n") if fed is not None else ""
    return literal_word(text, fed.span) if fed and text and "\n" not in text else None


def _shebang(text: Word) -> str:
    """Return the interpreter in the shebang of this file content, or "sh"."""
    found = re.match(r"#!\s*(?:\S*/)?([\w.-]+)(?:[ \t]+([\w.-]+))?", text.prefix)
    if found is None:
        return "sh"
    return found[2] if found[1] == "env" and found[2] else found[1]
