"""Find commands that delete or overwrite files and disks, and variables that can make them delete more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.analysis.risk.effects import (
    PROTECTED_FOLDERS,
    Effect,
    Rule,
    emptied_folder,
    is_harmless_target,
    is_protected,
    list_words,
    name_folder,
)
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Text, Variable, Word, show, show_text
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.inline_code import code_of, read_code
from catalog.analysis.shell.interpreters import AWKS, is_language
from catalog.analysis.shell.program import Program
from catalog.analysis.tables import PATTERNS
from catalog.analysis.types import Level

DELETERS = frozenset({"rm", "rmdir", "shred", "unlink"})


def find_deletions(command: Command, program: Program) -> Iterator[Effect]:
    """Yield the command's deletions and overwrites."""
    rule = _RULES.get(command.name)
    if rule is not None and not program.calls_own(command):
        yield from rule(command, program)
    if is_language(command.name):
        yield from _delete_in_code(command)
    yield from _overwrite_files(command, program)


def _delete_in_code(command: Command) -> Iterator[Effect]:
    """Yield deletions in code such as Python or Perl. Shell commands in awk are analyzed as commands."""
    if command.name in AWKS:
        return
    for word in code_of(command):
        found = PATTERNS["deletes"].search(code := read_code(word))
        # A list `["rm", ...]` deletes only if the code runs it.
        if found and (
            found[0][0] not in "\"'" or re.search(r"(?i)exec|system|spawn|open|run|call", code)
        ):
            message = f"Deletes files in the code that {command.name} runs ({show_text(found[0])})."
            yield Effect("destructive", Level.WARNING, message, word.span_of(*found.span()))


def _remove(command: Command, program: Program) -> Iterator[Effect]:
    arguments = read_arguments(command.arguments)
    targets = tuple(
        word for word in arguments.operands if word.texts or word.variables or not word.takes_input
    )
    if not targets and not command.takes_more:
        return
    recursive = arguments.has("r", "R", "recursive")
    what = list_words(targets, otherwise=_passed_on(command))
    verb = "Recursively deletes" if recursive else "Deletes"
    asking = " without confirmation" if arguments.has("f", "force") else ""
    folders = [folder for word in targets if (folder := _certain_folder(word, program))]
    if folders and recursive:
        yield Effect(
            "destructive",
            Level.ERROR,
            f"Deletes everything in {name_folder(folders[0])}{asking}.",
            command.span,
        )
    else:
        is_many = (
            recursive or command.takes_more or any(_is_many(w, command, program) for w in targets)
        )
        is_temporary = bool(targets) and all(_is_temporary(word, program) for word in targets)
        level = Level.WARNING if is_many and not is_temporary else Level.INFO
        yield Effect("destructive", level, f"{verb} {what}{asking}.", command.span)
    for word in targets:
        if recursive or "*" in (word.span.text):
            yield from unsafe_variables(word, program)
    if recursive and any((word.literal or "") in ("*", "./*", ".") for word in targets):
        yield from _after_unsafe_cd(command, program)


def _is_many(word: Word, command: Command, program: Program) -> bool:
    """Return whether the word is a pattern, or gets its value from a loop over values that the script does not list."""
    is_pattern = any(isinstance(p, Text) and not p.quoted and "*" in p.value for p in word.parts)
    return (
        is_pattern
        or bool(command.context.loops)
        and any(program.variables.varies(variable.name) for variable in word.variables)
    )


def _passed_on(command: Command) -> str:
    return f"everything that {command.context.via[-1] if command.context.via else 'it'} passes on"


def _is_temporary(word: Word, program: Program) -> bool:
    """Return whether the script created the file or folder, or its parent, with mktemp."""
    first = next(iter(word.parts), None)
    if not isinstance(first, Variable) or first.operator or ".." in "".join(word.texts):
        return False
    return program.variables.is_output_of(first.name, "mktemp")


def _certain_folder(word: Word, program: Program) -> str | None:
    """Return the folder that is emptied on every run if that is never intended, as for `/`. Otherwise return None."""
    if word.outputs or any(_may_be_empty(part, word, program) for part in word.variables):
        return None
    return emptied_folder(program.variables.worst(word))


def _may_be_empty(variable: Variable, word: Word, program: Program) -> bool:
    return program.variables.may_be_empty(variable, line=word.span.line)


def unsafe_variables(word: Word, program: Program) -> Iterator[Effect]:
    """Yield deletions that affect other files if a variable is empty or not quoted."""
    empties = [v.name for v in word.variables if _may_be_empty(v, word, program)]
    worst = program.variables.worst(word)
    folder = emptied_folder(worst)
    names = " and ".join(dict.fromkeys(empties))
    verb = "is" if len(set(empties)) == 1 else "are"
    if (empties or word.outputs) and worst and folder not in (None, "."):
        cause = f"{names} {verb}" if names else "the output of the command is"
        yield Effect(
            "unsafe_variable",
            Level.ERROR,
            f"Deletes every file below {show(word)}. If {cause} empty, it deletes"
            f" {name_folder(folder or '/')}.",
            word.span,
        )
    elif empties and isinstance(word.parts[-1], Variable) and worst.endswith("/"):
        yield Effect(
            "unsafe_variable",
            Level.WARNING,
            f"Deletes {show(word)}. If {names} {verb} empty, it deletes everything below"
            f" {name_folder(worst)}.",
            word.span,
        )
    elif any(not variable.quoted and _may_split(variable, program) for variable in word.variables):
        yield Effect(
            "unsafe_variable",
            Level.WARNING,
            f"{show(word)} is not quoted. Spaces or globs in its value would delete other files.",
            word.span,
        )


def _may_split(variable: Variable, program: Program) -> bool:
    value = program.variables.known(variable.name)
    return value is None or bool(re.search(r"[\s*?\[]", value))


def _after_unsafe_cd(command: Command, program: Program) -> Iterator[Effect]:
    """Yield the effect of `cd "$DIR"; rm -r *`. If DIR is empty, cd stays in the current folder without an error."""
    for other in program.folder_changes:
        if other.span.line > command.span.line:
            continue
        for word in other.arguments:
            if word.variables and program.variables.worst(word).strip("/") == "":
                yield Effect(
                    "unsafe_variable",
                    Level.ERROR,
                    f"Deletes everything in the current folder. If {show(word)} is empty, that is"
                    " the wrong folder.",
                    command.span,
                )
                return


def _find(command: Command, program: Program) -> Iterator[Effect]:
    starts = find_starts(command)
    texts = [word.literal for word in command.arguments]
    if "-delete" in texts:
        where = list_words(starts, otherwise="the current folder")
        is_everything = len(texts) - len(starts) == 1
        what = "everything" if is_everything else "every file that find matches"
        level = Level.ERROR if is_everything else Level.WARNING
        if PATTERNS["cleaning"].match(" ".join(text or "?" for text in texts)):
            level = Level.INFO
        yield Effect("destructive", level, f"Deletes {what} below {where}.", command.span)
    if not find_deletes(command):
        return
    for word in starts:
        yield from unsafe_variables(word, program)
        variable = word.sole_variable
        if variable and not variable.quoted and _may_be_empty(variable, word, program):
            yield Effect(
                "unsafe_variable",
                Level.ERROR,
                f"If {variable.name} is empty, find deletes in the current folder.",
                word.span,
            )


def find_deletes(command: Command) -> bool:
    """Return whether a find command deletes the files that it finds."""
    texts = [word.literal for word in command.arguments]
    executed = {
        (following or "").rpartition("/")[2]
        for text, following in zip(texts, texts[1:], strict=False)
        if text in ("-exec", "-execdir", "-ok", "-okdir")
    }
    return "-delete" in texts or bool(executed & DELETERS)


def find_starts(command: Command) -> tuple[Word, ...]:
    """Return the starting folders of a find command."""
    starts: list[Word] = []
    for word in command.arguments:
        if word.literal in ("-H", "-L", "-P"):
            continue
        if word.prefix.startswith(("-", "(", "!", ",")):
            break
        starts.append(word)
    return tuple(starts)


def _dd(command: Command, program: Program) -> Iterator[Effect]:
    for word in command.arguments:
        if not word.prefix.startswith("of="):
            continue
        target = word.without_prefix(3)
        path, shown = program.variables.worst(target), show(target)
        if path.startswith("/dev/") and not is_harmless_target(path):
            message = f"Overwrites the disk or device {shown} from the start."
            yield Effect("destructive", Level.ERROR, message, command.span)
        elif not is_harmless_target(path):
            level = Level.INFO if _is_temporary(target, program) else Level.WARNING
            yield Effect("destructive", level, f"Overwrites the file {shown}.", command.span)


def _shorten(command: Command, program: Program) -> Iterator[Effect]:
    arguments = read_arguments(command.arguments, short="sr", long=("size", "reference"))
    targets = list_words(arguments.operands, otherwise=_passed_on(command))
    message = f"Resizes {targets}. Data beyond the new size is lost."
    own = arguments.operands and all(_is_temporary(word, program) for word in arguments.operands)
    yield Effect("destructive", Level.INFO if own else Level.WARNING, message, command.span)


def _rsync(command: Command, program: Program) -> Iterator[Effect]:
    arguments = read_arguments(command.arguments)
    deleting = any(name.startswith(("delete", "del")) for name in arguments.names)
    if deleting and not arguments.has("n", "dry-run"):
        message = (
            f"Deletes files in {list_words(arguments.operands[-1:])} that the source does not have."
        )
        yield Effect("destructive", Level.WARNING, message, command.span)
    if arguments.has("remove-source-files"):
        message = "Deletes the source files after copying them."
        yield Effect("destructive", Level.WARNING, message, command.span)


def _change_owner(command: Command, program: Program) -> Iterator[Effect]:
    """Yield the effects of `chmod -R` and `chown -R`, which can break a system folder as badly as a deletion."""
    arguments = read_arguments(command.arguments)
    if not arguments.has("R", "recursive"):
        return
    # A mode that begins with a dash, as in `chmod -R -x DIR`, is parsed as an option.
    targets = arguments.operands[1:] or arguments.operands
    for word in targets:
        folder = emptied_folder(program.variables.worst(word))
        if folder and folder not in (".", ".."):
            message = f"Changes the owner or permissions of every file below {name_folder(folder)}"
            empty = "" if word.literal else f", if {show(word)} is empty"
            yield Effect("destructive", Level.ERROR, f"{message}{empty}.", command.span)
        else:
            message = f"Changes the owner or permissions of {show(word)} and everything below."
            yield Effect("mutating", Level.INFO, message, command.span)


def _copy_nothing(command: Command, program: Program) -> Iterator[Effect]:
    operands = read_arguments(command.arguments).operands
    if command.name == "mv" and operands and operands[-1].literal == "/dev/null":
        message = f"Deletes {list_words(operands[:-1])}."
        yield Effect("destructive", Level.WARNING, message, command.span)
    for word in operands[:-1] if command.name == "mv" else ():
        if emptied_folder(program.variables.worst(word)) in PROTECTED_FOLDERS | {"/", "/var"}:
            message = f"Moves {show(word)}, which the system needs."
            yield Effect("outage", Level.ERROR, message, command.span)
    if command.name == "cp" and operands and operands[0].literal == "/dev/null":
        message = f"Empties {list_words(operands[1:])}."
        yield Effect("destructive", Level.WARNING, message, command.span)


def _overwrite_files(command: Command, program: Program) -> Iterator[Effect]:
    """Yield an effect for each `> file` that empties the file or replaces a system file or a disk."""
    is_empty = command.name in (":", "true") or (
        command.name == "cat" and [word.literal for word in command.arguments] == ["/dev/null"]
    )
    for redirect in command.redirects:
        if redirect.kind != "write":
            continue
        path = program.variables.worst(redirect.word)
        if re.match(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|mapper/|md|disk/)", path):
            message = f"Overwrites the disk {show(redirect.word)}."
            yield Effect("destructive", Level.ERROR, message, redirect.word.span)
        elif is_empty and not is_harmless_target(path):
            message = f"Empties {show(redirect.word)}."
            yield Effect("destructive", Level.WARNING, message, redirect.word.span)
        elif is_protected(path) and not path.startswith(("/proc/", "/sys/")):
            message = f"Replaces the contents of {show(redirect.word)}."
            yield Effect("destructive", Level.WARNING, message, redirect.word.span)


_RULES: dict[str, Rule] = {
    **dict.fromkeys(DELETERS, _remove),
    "find": _find,
    "dd": _dd,
    "truncate": _shorten,
    "rsync": _rsync,
    "chmod": _change_owner,
    "chown": _change_owner,
    "chgrp": _change_owner,
    "mv": _copy_nothing,
    "cp": _copy_nothing,
}
