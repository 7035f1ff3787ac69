"""Find accessibility problems with axe: all WCAG 2.2 AA rules in the page's theme, and only contrast in the other
theme."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
_LEVELS = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
_CONTRAST = {"type": "rule", "values": ["color-contrast"]}
_RUN = (
    "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})"
    ".then(result => result.violations.map(one => one.id + ': ' + one.nodes[0].html.slice(0, 160)))"
)


def problems_of(page: Page) -> list[str]:
    """Return the accessibility problems of the page in its current state. The second theme changes only colors."""
    page.evaluate(_AXE)
    found = [*page.evaluate(_RUN, _LEVELS)]
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {problem}" for problem in page.evaluate(_RUN, _CONTRAST)]
    page.emulate_media(color_scheme="light")
    return found
