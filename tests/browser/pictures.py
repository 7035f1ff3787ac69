"""Save screenshots for the docs in the folder that SCRIPTSMITH_SCREENSHOTS names."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

_SAY_INSTEAD = """
([said, instead]) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(said, instead)
}
"""


def hide_path(page: Page, path: Path, *, behind: str) -> None:
    """Replace a path of this machine on the page with an address, for a screenshot."""
    page.evaluate(_SAY_INSTEAD, [str(path), behind])


def take(page: Page, name: str, *, narrow: bool = False, whole: bool = False) -> None:
    """Save the page as NAME-light.png and NAME-dark.png. Do nothing if no folder is set.

    `whole` includes the part below the window, and `narrow` adds a screenshot at phone width.
    """
    folder = os.environ.get("SCRIPTSMITH_SCREENSHOTS")
    if not folder:
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        path = Path(folder) / f"{name}-{theme}.png"
        page.screenshot(path=str(path), caret="initial", full_page=whole)
    page.emulate_media(color_scheme="light")
    if narrow:
        size = page.viewport_size
        page.set_viewport_size({"width": 390, "height": 844})
        path = Path(folder) / f"{name}-narrow.png"
        page.screenshot(path=str(path), caret="initial", full_page=True)
        assert size is not None
        page.set_viewport_size(size)
