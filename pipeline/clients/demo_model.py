"""Find the running demo model, or start a demo model for a command."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from django.conf import settings

from pipeline.standin.process import read_announcement, standin_running


def find_demo_model() -> str | None:
    """Return the address of the demo model, or None if no running demo model was announced."""
    if settings.SCRIPTSMITH_DEMO_MODEL_URL:
        return str(settings.SCRIPTSMITH_DEMO_MODEL_URL)
    return read_announcement(settings.LAYOUT.demo_model)


@contextlib.contextmanager
def demo_model_running() -> Iterator[None]:
    """Provide a demo model while the block runs. Start a new demo model if none is running."""
    if find_demo_model():
        yield
        return
    with standin_running() as url:
        settings.SCRIPTSMITH_DEMO_MODEL_URL = url
        try:
            yield
        finally:
            settings.SCRIPTSMITH_DEMO_MODEL_URL = ""
