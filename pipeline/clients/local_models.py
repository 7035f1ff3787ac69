"""Find the local models: servers that the supervisor runs, each announced by a file in the data folder."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

LOCAL = "local"  # the endpoint's name


@dataclass(frozen=True)
class LocalModel:
    """A model and the process that serves it, as announced by that process."""

    name: str
    pid: int
    port: int = 0  # 0 until the weights are loaded
    key: str = ""
    problem: str = ""  # the reason why the model is not served

    def announce(self, folder: Path) -> None:
        """Write the announcement atomically. Only the current user can read the file."""
        draft = folder / f"{self.name}.json.{self.pid}"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(asdict(self), file)
        draft.replace(folder / f"{self.name}.json")

    @property
    def is_ready(self) -> bool:
        """Return whether the model's process exists and has loaded the weights."""
        try:
            os.kill(self.pid, 0)
        except OSError:
            return False
        return self.port > 0


def announced_models() -> list[LocalModel]:
    """Return all models that the supervisor of this data folder serves or tried to serve, sorted by name."""
    found = []
    for path in sorted(settings.LAYOUT.local_models.glob("*.json")):
        try:
            found.append(LocalModel(**json.loads(path.read_text())))
        except (OSError, ValueError, TypeError):
            continue
    return found


def find_local_model(name: str) -> LocalModel | None:
    """Return the model with this name in any state, or None if it was never announced."""
    return next((model for model in announced_models() if model.name == name), None)
