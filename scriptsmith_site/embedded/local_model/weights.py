"""The models that `make local-model` can download, and the model files that this product serves."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from pipeline.clients.local_models import LOCAL

_PARTS = Path(__file__).parent


class Weights(NamedTuple):
    """A model file of the official release. The text file `parts` lists the packages that contain its parts."""

    parts: Path
    sha256: str


WEIGHTS = {
    "1.5b": Weights(
        _PARTS / "qwen2.5-coder-1.5b-instruct-q4_k_m.txt",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
    "0.5b": Weights(
        _PARTS / "qwen2.5-coder-0.5b-instruct-q4_k_m.txt",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
}


def served_models() -> list[Path]:
    """Return the model files to serve, largest first. If the *local* endpoint is off, return an empty list.

    If SCRIPTSMITH_LOCAL_MODEL is set, only the named file is served. Otherwise, all downloaded files are served.
    """
    if LOCAL not in settings.SCRIPTSMITH_ENDPOINTS:
        return []
    if settings.SCRIPTSMITH_LOCAL_MODEL:
        return [Path(settings.SCRIPTSMITH_LOCAL_MODEL).expanduser().absolute()]
    files = [path for path in settings.LAYOUT.local_models.glob("*.gguf") if path.is_file()]
    return sorted(files, key=lambda path: path.stat().st_size, reverse=True)
