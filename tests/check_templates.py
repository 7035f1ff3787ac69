"""Check the text of templates, stylesheets and modules: `python -m tests.check_templates`, part of `make check`.

Each check yields one line per fault, with the file and the line number. No check needs Django or a server. Checks that
render a template are tests.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A downloaded copy of the catalogue is one file. It has its own styles, and its content security policy has their hash.
OFFLINE = "catalog/exchange/offline.html"
STYLESHEET = "css/scriptsmith.css"
MOST_COLUMNS = 160
MOST_BYTES = {
    (STYLESHEET,): 60 * 1024,
    ("js/live.js", "js/copy.js", "js/keys.js"): 14 * 1024,  # every page loads these
}

_COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}", re.DOTALL)
_FORBIDDEN = {
    "an inline style": re.compile(r"\sstyle\s*=|<style\b", re.IGNORECASE),
    "an inline script": re.compile(r"<script(?![^>]*\bsrc=)", re.IGNORECASE),
    "an inline handler": re.compile(r"\s(on[a-z]+|hx-on[:\w-]*)\s*=", re.IGNORECASE),
    "an evaluated value": re.compile(r"""=["']\s*(js|javascript):""", re.IGNORECASE),
    "a file from another host": re.compile(
        r"""<(script|link|img)[^>]*(src|href)=["'](https?:)?//""", re.IGNORECASE
    ),
}
_RISK = re.compile(r'badge-risk|"(?:triangle|diamond)"|level-\{\{|class="[^"]*risk-(?:low|high)')
_RISK_COMPONENTS = ("_risk_badge.html", "_finding_mark.html", "_icon.html", "_line_notes.html")
_MAPPING_LOOP = re.compile(r"\bin +([\w.]+\.(?:items|keys|values))\b(?! *\()")
_ATTRIBUTES = ("line.values",)  # attributes of objects that are not mappings
_BLOCK = re.compile(r"{% block ([\w-]+) %}(.*?){% endblock(?: [\w-]+)? %}", re.DOTALL)
_SET = re.compile(r"\bas(?:var)? (\w+)(?: [\w =]*)? ?%}")
_TEXT = re.compile(r'"[^"]*"')
_READ = re.compile(r"(?<!%)[ =](\w+)\b(?!=)(?=[^%]*%})|{{ ?(\w+)")
_IMPORT = re.compile(r"^\s*import\b", re.MULTILINE)

TEXT = 4.5  # WCAG 1.4.3, for text of any size
SHAPE = 3.0  # WCAG 1.4.11, for borders of fields, focus rings, icons and parts of charts
TOKEN = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
_GROUNDS = "canvas surface raised sunken hover"
_TONES = "ember verdigris temper straw crimson"
_TINTS = "ember-tint verdigris-tint temper-tint straw-tint crimson-tint"
_CODE = "code code-marked diff-add diff-add-word diff-del diff-del-word"
_SYNTAX = "syn-text syn-comment syn-keyword syn-string syn-variable syn-number syn-error"
# Each row has foreground tokens, background tokens and the minimum contrast of every pair.
CONTRASTS = [
    ("text muted faint temper", _GROUNDS, TEXT),
    ("text muted temper", _TINTS, TEXT),  # notices and selected table rows
    ("straw crimson", "canvas surface raised hover ember-tint", TEXT),
    *((tone, f"{tone}-tint", TEXT) for tone in _TONES.split()),
    *((f"on-{tone}", f"{tone}-solid", TEXT) for tone in ("ember", "verdigris", "crimson")),
    ("on-ink", "ink", TEXT),
    ("bar-text bar-muted", "bar bar-hover bar-field", TEXT),
    (_SYNTAX, _CODE, TEXT),
    ("faint", "code code-gutter", TEXT),
    ("text muted", "code-gutter code-marked diff-add diff-del", TEXT),
    ("verdigris", "diff-add", TEXT),
    ("crimson", "diff-del", TEXT),
    ("control focus", "canvas surface raised sunken code", SHAPE),
    ("bar-line bar-mark bar-focus", "bar", SHAPE),
    (_TONES, "surface code-gutter", SHAPE),
    ("ember-solid verdigris-solid crimson-solid ink", "surface canvas", SHAPE),
]


class Sources:
    """The contents of the files in the `templates` and `static` folders, by relative path."""

    def __init__(self, root: Path) -> None:
        self.templates = _read(root / "templates", ".html")
        self.stylesheets = _read(root / "static", ".css")
        self.modules = _read(root / "static", ".js")
        self.css = self.stylesheets[STYLESHEET]

    def markup(self) -> Iterator[tuple[str, str]]:
        """Yield each template's name and text. Comments are blanked, so line numbers stay the same."""
        for name, text in self.templates.items():
            yield name, _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _read(folder: Path, suffix: str) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob(f"*{suffix}"))
        if folder / "vendor" not in path.parents
    }


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def content_security_policy(sources: Sources) -> Iterator[str]:
    """Yield markup that the pages' content security policy would block."""
    for name, text in sources.markup():
        for what, pattern in _FORBIDDEN.items():
            if name != OFFLINE:
                yield from (
                    f"templates/{name}:{_line(text, found.start() + 1)}: {what}"
                    for found in pattern.finditer(text)
                )


def line_lengths(sources: Sources) -> Iterator[str]:
    """Yield lines longer than MOST_COLUMNS."""
    for folder, files in (
        ("templates", sources.templates),
        ("static", sources.stylesheets | sources.modules),
    ):
        for name, text in files.items():
            for number, line in enumerate(text.splitlines(), 1):
                if len(line) > MOST_COLUMNS:
                    yield f"{folder}/{name}:{number}: {len(line)} columns, at most {MOST_COLUMNS}"


def risk_components(sources: Sources) -> Iterator[str]:
    """Yield templates that show a risk level without the components that set its label, icon and color."""
    for name, text in sources.templates.items():
        if name.rpartition("/")[2] not in _RISK_COMPONENTS:
            yield from (
                f"templates/{name}:{_line(text, found.start())}: draws a risk; use risk_badge"
                for found in _RISK.finditer(text)
            )


def mapping_loops(sources: Sources) -> Iterator[str]:
    """Yield loops over `mapping.items`. If the mapping has an "items" key, the loop uses that key's value instead."""
    for name, text in sources.templates.items():
        for found in _MAPPING_LOOP.finditer(text):
            if found[1] not in _ATTRIBUTES:
                line = _line(text, found.start())
                yield f"templates/{name}:{line}: {found[1]}; write `in mapping|pairs`"


def block_names(sources: Sources) -> Iterator[str]:
    """Yield names that a block reads but only another block sets. Such a name is empty in the block that reads it.

    For example, a *Cancel* link with an empty address is rendered as a button that submits the form.
    """
    for name, text in sources.markup():
        if "{% extends" not in text:
            continue
        spans = {found[1]: found.start(2) for found in _BLOCK.finditer(text)}
        blocks = {found[1]: _TEXT.sub('""', found[2]) for found in _BLOCK.finditer(text)}
        if not blocks:
            yield f"templates/{name}:1: no block found"
        for block, content in blocks.items():
            read = {one or other for one, other in _READ.findall(content)}
            elsewhere = {
                one for other in blocks if other != block for one in _SET.findall(blocks[other])
            }
            if missing := (read & elsewhere) - set(_SET.findall(content)):
                line = _line(text, spans[block])
                yield f"templates/{name}:{line}: set {sorted(missing)} in block {block} itself"


def page_weight(sources: Sources) -> Iterator[str]:
    """Yield files that every page loads and that are too large or import other files. Hashed names make browsers load
    imported files twice."""
    texts = sources.stylesheets | sources.modules
    for names, most in MOST_BYTES.items():
        size = sum(len(texts[name].encode()) for name in names)
        if size > most:
            yield f"static/{names[0]}:1: {' + '.join(names)} has {size} bytes, at most {most}"
    for name, text in sources.modules.items():
        if re.fullmatch(r"js/[^/]+", name):
            yield from (
                f"static/{name}:{_line(text, found.end())}: imports a module"
                for found in _IMPORT.finditer(text)
            )


def color_tokens(sources: Sources) -> Iterator[str]:
    """Yield colors that are not tokens, and tokens that are undefined or unused."""
    css = sources.css
    rules = css.find("[data-theme")
    for found in re.compile(r"#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(").finditer(css, rules):
        yield f"static/{STYLESHEET}:{_line(css, found.start())}: {found[0]}; use a token"
    defined = {found[1]: found.start() for found in re.finditer(r"(--[\w-]+):", css)}
    # The editor uses a shadow root, and its styles are in the editor's module.
    used = {
        found[1]: f"static/{name}:{_line(text, found.start())}"
        for name, text in {STYLESHEET: css, **sources.modules}.items()
        for found in re.finditer(r"var\((--[\w-]+)", text)
    }
    for token in sorted(used.keys() - defined):
        yield f"{used[token]}: {token} is not defined"
    for token in sorted(defined.keys() - used):
        yield f"static/{STYLESHEET}:{_line(css, defined[token])}: {token} is not used"


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two #rrggbb colors, from 1 to 21, as defined in WCAG 2.2."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def color_contrast(sources: Sources) -> Iterator[str]:
    """Yield pairs of color tokens that do not meet WCAG 2.2 AA in the light or dark theme."""
    css = sources.css
    found = {token[1]: token for token in TOKEN.finditer(css)}
    for fronts, grounds, least in CONTRASTS:
        for front, ground in ((f, g) for f in fronts.split() for g in grounds.split()):
            if missing := {front, ground} - found.keys():
                yield f"static/{STYLESHEET}:1: no color token {sorted(missing)}"
                continue
            line = _line(css, found[front].start())
            for group, theme in ((2, "light"), (3, "dark")):
                ratio = contrast(found[front][group], found[ground][group])
                if ratio < least:
                    yield (
                        f"static/{STYLESHEET}:{line}: --{front} on --{ground} has contrast"
                        f" {ratio:.2f} in the {theme} theme, at least {least}"
                    )


CHECKS: tuple[Callable[[Sources], Iterable[str]], ...] = (
    content_security_policy,
    line_lengths,
    risk_components,
    mapping_loops,
    block_names,
    page_weight,
    color_tokens,
    color_contrast,
)


def faults(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the faults in the `templates` and `static` folders of `root`, by check."""
    sources = Sources(root)
    return {check.__name__: list(check(sources)) for check in CHECKS}


def main() -> int:
    """Print every fault and return the exit status."""
    found = [fault for one in faults().values() for fault in one]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
