"""Describe commands that need more than a table of phrases: grep, head, tail, sed, awk, tar, service."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pipeline.standin.description.command_phrases import (
    Arguments,
    join_words,
    say_command,
    show_word,
    split_words,
)

_GREP = dict.fromkeys(
    ["-r", "-R", "-i", "-v", "-l", "-L", "-c", "-n", "-o", "-w", "-q", "-E", "-F", "-P", "-h", "-H",
     "-x", "-s", "-a", "-z", "-I", "-Z", "-A=", "-B=", "-C=", "-m=", "-e=", "-f=", "--include=",
     "--exclude=", "--exclude-dir=", "--color", "--color=", "--line-buffered", "--null"], ""
)  # fmt: skip
_GREP_WORDS = {
    "-i": "ignoring case",
    "-w": "as a whole word",
    "-x": "as the whole line",
    "-n": "with line numbers",
    "-o": "only the matching parts",
}
_HEAD = dict.fromkeys(
    ["-n=", "-c=", "-q", "-v", "-f", "-F", "--lines=", "--bytes=", "-s=", "--pid=", "-z"], ""
)
_SED = dict.fromkeys(["-n", "-E", "-r", "-e=", "-s", "-z", "--expression="], "")
_AWK = dict.fromkeys(["-F=", "-v=", "-f="], "")
_TAR = dict.fromkeys(
    ["-c", "-x", "-t", "-r", "-u", "-z", "-j", "-J", "-a", "-v", "-p", "-h", "-P", "-f=", "-C=",
     "-T=", "--exclude=", "--null", "--strip-components=", "--remove-files", "--zstd", "--gzip",
     "--directory=", "--file=", "--warning=", "--files-from=", "--create", "--extract", "--list"],
    "",
)  # fmt: skip
_COLUMN = re.compile(r"\$(\w+)")
_SUBSTITUTION = re.compile(
    r"s(?P<mark>[/|#,:@!])(?P<old>(?:\\.|(?!(?P=mark)).)*)(?P=mark)(?P<new>(?:\\.|(?!(?P=mark)).)*)(?P=mark)(?P<flags>\w*)",
    re.DOTALL,
)


def _say_grep(words: Sequence[str]) -> str:
    found = split_words(words, _GREP)
    operands = list(found.operands)
    pattern = found.value("-e") or (f"a line of {found.value('-f')}" if found.has("-f") else "")
    if not pattern and operands:
        pattern = operands.pop(0)
    verb = "do not contain" if found.has("-v") else "contain"
    below = "all files below " if found.has("-r", "-R") else ""
    where = f" of {below}{join_words(operands or ['.'])}" if operands or below else ""
    phrase = f'{_grep_task(found, where, piped=not where)} that {verb} "{pattern}"'
    if found.has("-l", "-L"):
        negated = "do not contain" if found.has("-L") != found.has("-v") else "contain"
        phrase = f'lists the files{where} that {negated} "{pattern}"'
    said = [words for option, words in _GREP_WORDS.items() if found.has(option)]
    said += [f"at most {found.value('-m')} of them"] if found.has("-m") else []
    said += [f"in files matching {found.value('--include')}"] if found.has("--include") else []
    left_out = _values(found, "--exclude", "--exclude-dir")
    said += [f"leaving out {join_words(left_out)}"] if left_out else []
    for option, side in (("-A", "after"), ("-B", "before"), ("-C", "around")):
        said += [f"with {found.value(option)} lines {side}"] if found.has(option) else []
    return ", ".join([phrase, *said])


def _grep_task(found: Arguments, where: str, *, piped: bool) -> str:
    if found.has("-q"):
        return f"checks whether there are lines{where}"
    if found.has("-c"):
        return f"counts the lines{where}"
    return "keeps the lines" if piped else f"prints the lines{where}"


def _values(found: Arguments, *names: str) -> list[str]:
    return [value for name, value in found.options if name in names]


def _say_end(words: Sequence[str], *, which: str) -> str:
    """Describe a head or tail command."""
    shorthand = [f"-n{word[1:]}" if re.fullmatch(r"-\d+", word) else word for word in words]
    found = split_words(shorthand, _HEAD)
    count = found.value("-n", "-c", "--lines", "--bytes") or "10"
    unit = "bytes" if found.has("-c", "--bytes") else "lines"
    of = f" of {join_words(found.operands)}" if found.operands else ""
    verb = "prints" if of else "keeps"
    if found.has("-f", "-F"):
        return f"follows the end{of}, from the last {count} {unit} on"
    if which == "first" and count.startswith("-"):
        return f"{verb} all but the last {count[1:]} {unit}{of}"
    if which == "last" and count.startswith("+"):
        return f"{verb} everything from {unit[:-1]} {count[1:]} on{of}"
    count = count.lstrip("-")
    return f"{verb} the {which} {f'{count} {unit}' if count != '1' else unit[:-1]}{of}"


def _say_sed(words: Sequence[str]) -> str:
    in_place = any(re.fullmatch(r"-i\S*|--in-place\S*|-[nEr]+i", word) for word in words)
    found = split_words(
        [word for word in words if not re.fullmatch(r"-i\S*|--in-place\S*|-[nEr]+i", word)], _SED
    )
    operands = list(found.operands)
    scripts = _values(found, "-e", "--expression") or ([operands.pop(0)] if operands else [])
    where = f" in {join_words(operands)}" if operands else ""
    said = " and ".join(_say_sed_script(script, quiet=found.has("-n")) for script in scripts)
    return f"{said}{where}{', changing the file itself' if in_place else ''}"


def _say_sed_script(script: str, *, quiet: bool) -> str:
    whole = _SUBSTITUTION.fullmatch(script)
    if whole:
        old, new = (re.sub(r"\\([/&.*\[\]])", r"\1", whole[side]) for side in ("old", "new"))
        if not new:
            return f'takes "{old}" out of each line'
        return f'replaces "{old}" by "{new}"{"" if "g" in whole["flags"] else " once per line"}'
    lines = re.fullmatch(r"(\d+|\$)(?:,(\d+|\$))?([pd])", script)
    if lines and (lines[3] == "d" or quiet):
        verb = "prints only" if lines[3] == "p" else "leaves out"
        last = f" to {lines[2]}" if lines[2] else ""
        return f"{verb} line{'s' if last else ''} {lines[1]}{last}"
    match = re.fullmatch(r"/(.+)/(I?)([pd])", script)
    if match and (match[3] == "d" or quiet):
        verb = "prints only" if match[3] == "p" else "leaves out"
        return f'{verb} the lines that contain "{match[1]}"'
    return f'edits lines by "{script}"'


def _say_awk(words: Sequence[str]) -> str:
    found = split_words(words, _AWK)
    program, *files = found.operands or [""]
    of = f" of {join_words(files)}" if files else ""
    split = f', split at "{found.value("-F")}"' if found.has("-F") else ""
    columns = re.fullmatch(r"\s*\{\s*print\s+((?:\$\w+[,\s\"]*)+);?\s*\}\s*", program)
    total = re.fullmatch(
        r"\s*\{\s*\w+\s*\+=\s*\$(\w+);?\s*\}\s*;?\s*END\s*\{\s*printf?\b.*\}\s*", program, re.DOTALL
    )
    counted = re.search(r"\w+\[(?P<what>.+?)\]\+\+", program)
    if counted:
        return f"counts the lines{of} by {counted['what']}{split}"
    if columns:
        return f"prints column {join_words(_COLUMN.findall(columns[1]))}{of}{split}"
    if total:
        return f"prints the total of column {total[1]}{of}{split}"
    return f'processes each line{of} by "{" ".join(program.split())}"{split}'


def _say_tar(words: Sequence[str]) -> str:
    dashed = (
        [f"-{words[0]}", *words[1:]]
        if words and re.fullmatch(r"[a-zA-Z]+", words[0])
        else list(words)
    )
    found = split_words(dashed, _TAR)
    archive = show_word(found.value("-f", "--file") or "-")
    place = found.value("-C", "--directory")
    if found.has("-x", "--extract"):
        return f"extracts the archive {archive}{f' into {show_word(place)}' if place else ''}"
    if found.has("-t", "--list"):
        return f"lists the archive {archive}"
    packed = found.has("-z", "-j", "-J", "-a", "--gzip", "--zstd") or archive.endswith(
        ("gz", "xz", "bz2", "zst")
    )
    members = join_words(found.operands) if found.operands else "them"
    said = [f"{'compresses' if packed else 'archives'} {members} into the archive {archive}"]
    said += [f"from {show_word(place)}"] if place else []
    left_out = _values(found, "--exclude")
    said += [f"leaving out {join_words(left_out)}"] if left_out else []
    said += ["and deletes the originals"] if found.has("--remove-files") else []
    return ", ".join(said)


def _say_service(words: Sequence[str]) -> str:
    name, verb = [*words, "", ""][:2]
    done = {"stop": "stops", "status": "shows the status of"}.get(verb, f"{verb}s")
    return f"{done} the service {name}"


def _say_echo(words: Sequence[str]) -> str:
    shown = [word for word in words if word not in ("-e", "-n", "-ne", "-en", "--")]
    if len(shown) > 1 and "%" in shown[0]:  # A printf format.
        shown = shown[1:]
    text = " ".join(shown)
    return f'prints "{text}"' if text else "prints an empty line"


def _say_ps(words: Sequence[str]) -> str:
    said = say_command("ps", [word for word in words if not re.fullmatch(r"[axuwfe]+", word)])
    return re.sub(r"sorted by -(\S+)", r"sorted by \1, largest first", said)


TOOLS: dict[str, Callable[[Sequence[str]], str]] = {
    "grep": _say_grep,
    "egrep": _say_grep,
    "fgrep": _say_grep,
    "zgrep": _say_grep,
    "head": lambda words: _say_end(words, which="first"),
    "tail": lambda words: _say_end(words, which="last"),
    "sed": _say_sed,
    "awk": _say_awk,
    "gawk": _say_awk,
    "tar": _say_tar,
    "echo": _say_echo,
    "printf": _say_echo,
    "ps": _say_ps,
    "service": _say_service,
}
