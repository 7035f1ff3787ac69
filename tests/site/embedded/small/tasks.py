from __future__ import annotations

import time
from pathlib import Path

from celery import shared_task


@shared_task
def nap(sign: str) -> None:
    """Longer than anybody waits; the file at `sign` says that it has begun."""
    Path(sign).touch()
    time.sleep(300)
