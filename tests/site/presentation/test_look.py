"""What the look promises to every page: a strict policy, and little to load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# Read as a file when nothing runs: it has a style of its own, and a policy that names it by its hash.
OFFLINE = ROOT / "templates" / "catalog" / "exchange" / "offline.html"
TEMPLATES = sorted({*(ROOT / "templates").rglob("*.html")} - {OFFLINE})
LAID_OUT = (".html", ".css", ".js")
MOST_COLUMNS = 160
COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}", re.DOTALL)
FORBIDDEN = {
    "an inline style": re.compile(r"\sstyle\s*=|<style\b", re.IGNORECASE),
    "an inline script": re.compile(r"<script(?![^>]*\bsrc=)", re.IGNORECASE),
    "an inline handler": re.compile(r"\s(on[a-z]+|hx-on[:\w-]*)\s*=", re.IGNORECASE),
    "evaluated values": re.compile(r"""=["']\s*(js|javascript):""", re.IGNORECASE),
    "a file from elsewhere": re.compile(
        r"""<(script|link|img)[^>]*(src|href)=["'](https?:)?//""", re.IGNORECASE
    ),
}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_template_obeys_the_content_security_policy(template: Path) -> None:
    markup = COMMENT.sub("", template.read_text(encoding="utf-8"))
    assert [name for name, pattern in FORBIDDEN.items() if pattern.search(markup)] == []


@pytest.mark.parametrize("folder", ["templates", "static/css", "static/js"])
def test_no_line_is_longer_than_a_screen(folder: str) -> None:
    files = [one for one in sorted((ROOT / folder).rglob("*")) if one.suffix in LAID_OUT]
    assert files
    assert [
        f"{file.relative_to(ROOT)}:{number} has {len(line)} columns"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ] == []


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        pytest.param(["css/scriptsmith.css"], 60 * 1024, id="the stylesheet"),
        pytest.param(["js/live.js", "js/copy.js", "js/keys.js"], 14 * 1024, id="the base modules"),
    ],
)
def test_what_every_page_loads_stays_small(files: list[str], limit: int) -> None:
    assert sum((ROOT / "static" / name).stat().st_size for name in files) <= limit


def test_the_base_modules_import_nothing() -> None:
    # Hashed file names would load an imported module a second time under its plain name.
    modules = sorted((ROOT / "static" / "js").glob("*.js"))
    assert modules
    assert [
        path.name for path in modules if re.search(r"^\s*import\b", path.read_text("utf-8"), re.M)
    ] == []
