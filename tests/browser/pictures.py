"""Pictures of pages for the documents, made where SCRIPTSMITH_SCREENSHOTS names a folder."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page


def take(page: Page, name: str) -> None:
    """Save the page as NAME-light.png and NAME-dark.png; does nothing where no folder is named."""
    folder = os.environ.get("SCRIPTSMITH_SCREENSHOTS")
    if not folder:
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.screenshot(path=str(Path(folder) / f"{name}-{theme}.png"), caret="initial")
    page.emulate_media(color_scheme="light")
