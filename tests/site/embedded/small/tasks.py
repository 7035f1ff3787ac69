from __future__ import annotations

import time
from pathlib import Path

from celery import shared_task


@shared_task
def nap(sign: str) -> None:
    """Sleep longer than any test waits. The file at `sign` shows that the task has started."""
    Path(sign).touch()
    time.sleep(300)
