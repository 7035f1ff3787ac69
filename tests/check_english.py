"""Check English with the Vale rules in `styles/ScriptSmith`: `python -m tests.check_english`, part of `make check`.

It reads Markdown, templates, docstrings, comments and translated messages. It skips text in backticks and the lines
that `styles/allowed.yml` allows. `--sentences` lists long sentences instead, and never fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
STYLES = ROOT / "styles"

_FILE = re.compile(r"(?!vendored/|.*/(?:vendor|migrations)/).*\.(?:py|md|html)")
_BLOCK_CODE = re.compile(r"(?ms)^(```|~~~).*?^\1|<!--.*?-->")
_INLINE_CODE = re.compile(r"`[^`\n]*`|%\(\w+\)|\{\w*\}|https?:\S+|\]\([^)\n]*\)|\\.")
_COMMENT = re.compile(r"(?s){#.*?#}|{% comment.*?endcomment %}")
_MARKUP = re.compile(
    r"(?s)<(script|style)\b.*?</\1>|{[{%].*?[}%]}|</?[a-z](?:{[{%].*?[}%]}|[^>])*>"
)
_TRANSLATED = re.compile(r"""(?:\btrans(?:late)? +|\b_\()("[^"]*"|'[^']*')""")
_COMMENT_OR_STRING = re.compile(
    r"""(?s)#[^\n]*|(\"{3}|'{3})(?:[^\\]|\\.)*?\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
)
_GETTEXT = re.compile(r"\b(?:_|n?gettext(?:_lazy|_noop)?)\(\s*$")
_BETWEEN_WORDS = r"(?:[^\w.!?:\n]|\n(?!\s*[-*#|\n]))*"


def read_rules(level: str) -> Iterator[tuple[re.Pattern[str], dict[str, Any], bool]]:
    """Yield each rule of a level as its pattern, its keys, and whether it applies only to pages."""
    for path in sorted((STYLES / "ScriptSmith").glob("*.yml")):
        keys = yaml.safe_load(path.read_text(encoding="utf-8"))
        pattern = "|".join(keys.get("swap") or keys.get("tokens") or [])
        if keys["extends"] == "occurrence":
            pattern = f"(?:{keys['token']}{_BETWEEN_WORDS}){{{keys['max'] + 1}}}"
        elif not keys.get("nonword"):
            pattern = rf"\b(?:{pattern})\b".replace(" ", r"(?: +| *\n *)")
        if keys["level"] == level:
            flags = re.IGNORECASE if keys.get("ignorecase") else 0
            yield re.compile(pattern, flags), keys, path.stem == "PageTerms"


def prose(name: str, source: str) -> tuple[str, str]:
    """Return all text of a file, and the text that pages show. All other content is replaced by line breaks."""
    if name.endswith(".py"):
        text, shown = map("".join, zip(*_python_pieces(source), strict=True))
    else:
        code = _MARKUP if name.endswith(".html") else _BLOCK_CODE
        text = code.sub(_blank, source)
        shown = code.sub(_blank, _COMMENT.sub(_blank, source)) if code is _MARKUP else ""
    return _INLINE_CODE.sub(" ", text), _INLINE_CODE.sub(" ", shown)


def _blank(code: re.Match[str]) -> str:
    return " ".join(["", *_TRANSLATED.findall(code[0]), "\n" * code[0].count("\n")])


def _python_pieces(source: str) -> Iterator[tuple[str, str]]:
    end, is_message, can_document = 0, False, True
    for token in _COMMENT_OR_STRING.finditer(source + "#"):
        code, text, end = source[end : token.start()], token[0], token.end()
        lines = "\n" * code.count("\n")
        can_document = code.rstrip().endswith(":") if code.strip() else can_document
        if text.startswith("#"):
            yield lines + text.lstrip("#!: "), lines
            continue
        is_message = bool(_GETTEXT.search(code)) or (is_message and not code.strip(" \n,"))
        is_docstring = can_document and text.startswith('"""')
        text, can_document = text.strip("\"'"), False
        shown = lines + (text if is_message else "\n" * text.count("\n"))
        yield lines + text if is_docstring else shown, shown


def faults(
    sources: Mapping[str, str], allowed: list[dict[str, str]], level: str = "error"
) -> Iterator[str]:
    """Yield each fault with its file and line, and each entry of `allowed` that matches nothing."""
    rules, used = list(read_rules(level)), []
    for name, source in sources.items():
        texts = prose(name, source)
        for pattern, keys, on_pages in rules:
            for match in pattern.finditer(texts[on_pages]):
                number = texts[on_pages].count("\n", 0, match.start())
                line = source.split("\n")[number]
                uses = [e for e in allowed if fnmatch(name, e["file"]) and e["text"] in line]
                used += uses
                if not uses:
                    yield f"{name}:{number + 1}: {_message(keys, ' '.join(match[0].split()))}"
    yield from (f"styles/allowed.yml: remove {entry}" for entry in allowed if entry not in used)


def _message(keys: dict[str, Any], found: str) -> str:
    swap, message = keys.get("swap", {}), keys["message"]
    better = [swap[key] for key in swap if re.fullmatch(key, found, re.IGNORECASE)][:1]
    return str(message % (*better, found)[: message.count("%s")])


def main() -> int:
    """Print the faults in the repository and return the exit status."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()  # noqa: S603
    paths = [ROOT / name for name in names if _FILE.fullmatch(name) and (ROOT / name).exists()]
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
    is_list = "--sentences" in sys.argv
    allowed = [] if is_list else yaml.safe_load((STYLES / "allowed.yml").read_text())
    found = list(faults(sources, allowed, level="warning" if is_list else "error"))
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found) and not is_list


if __name__ == "__main__":
    sys.exit(main())
