"""The colours that stand on each other hold WCAG 2.2 AA, in the light theme and in the dark one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

MODULES = Path(__file__).parents[3] / "static" / "js"
STYLESHEET = Path(__file__).parents[3] / "static" / "css" / "scriptsmith.css"
TOKEN = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
TEXT = 4.5  # WCAG 1.4.3, for text of any size
SHAPE = 3.0  # WCAG 1.4.11, for edges of fields, focus rings, icons and parts of charts

GROUNDS = ["canvas", "surface", "raised", "sunken", "hover"]
TONES = ["ember", "verdigris", "temper", "straw", "crimson"]
SOLID = ["ember", "verdigris", "crimson"]
TINTS = [f"{tone}-tint" for tone in TONES]
CODE_GROUNDS = ["code", "code-marked", "diff-add", "diff-add-word", "diff-del", "diff-del-word"]
SYNTAX = ["text", "comment", "keyword", "string", "variable", "number", "error"]


def read_tokens(css: str) -> dict[str, dict[str, str]]:
    """Colours by theme and token name."""
    found = TOKEN.findall(css)
    return {
        "light": {name: light for name, light, _ in found},
        "dark": {name: dark for name, _, dark in found},
    }


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, as WCAG 2.2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def each_on(
    fronts: Iterable[str], grounds: Iterable[str], least: float
) -> Iterator[tuple[str, str, float]]:
    places = list(grounds)
    return ((front, ground, least) for front in fronts for ground in places)


PAIRS = [
    *each_on(["text", "muted", "faint", "temper"], GROUNDS, TEXT),
    *each_on(["text", "muted", "temper"], TINTS, TEXT),  # notices; a chosen row of a table
    *each_on(["straw", "crimson"], ["canvas", "surface", "raised", "hover", "ember-tint"], TEXT),
    *[(tone, f"{tone}-tint", TEXT) for tone in TONES],
    *[(f"on-{tone}", f"{tone}-solid", TEXT) for tone in SOLID],
    ("on-ink", "ink", TEXT),
    *each_on(["bar-text", "bar-muted"], ["bar", "bar-hover", "bar-field"], TEXT),
    *each_on([f"syn-{kind}" for kind in SYNTAX], CODE_GROUNDS, TEXT),
    *each_on(["faint"], ["code", "code-gutter"], TEXT),
    *each_on(["text", "muted"], ["code-gutter", "code-marked", "diff-add", "diff-del"], TEXT),
    ("verdigris", "diff-add", TEXT),
    ("crimson", "diff-del", TEXT),
    *each_on(["control", "focus"], ["canvas", "surface", "raised", "sunken", "code"], SHAPE),
    *each_on(["bar-line", "bar-mark", "bar-focus"], ["bar"], SHAPE),
    *each_on(TONES, ["surface", "code-gutter"], SHAPE),
    *each_on([f"{tone}-solid" for tone in SOLID] + ["ink"], ["surface", "canvas"], SHAPE),
]  # fmt: skip


@pytest.fixture(scope="module")
def css() -> str:
    return STYLESHEET.read_text(encoding="utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("front", "ground", "least"),
    [pytest.param(*pair, id=f"{pair[0]} on {pair[1]}") for pair in PAIRS],
)
def test_what_stands_on_it_can_be_read(
    css: str, theme: str, front: str, ground: str, least: float
) -> None:
    colours = read_tokens(css)[theme]
    assert contrast(colours[front], colours[ground]) >= least


def test_black_on_white_is_21_to_1() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_every_colour_is_a_token(css: str) -> None:
    rules = css.partition("[data-theme")[2]
    assert re.findall(r"#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(", rules) == []


def test_every_token_is_defined_and_used(css: str) -> None:
    defined = set(re.findall(r"(--[\w-]+):", css))
    # The editor stands in a shadow root, whose own styles are in its module.
    texts = [css, *(one.read_text(encoding="utf-8") for one in MODULES.glob("*.js"))]
    used = {name for text in texts for name in re.findall(r"var\((--[\w-]+)", text)}
    assert used - defined == set()
    assert defined - used == set()
