"""Read the YAML files of this package and of the demo, with PyYAML's C loader if available."""

from __future__ import annotations

from pathlib import Path

import yaml

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(file: Path) -> object:
    """Return the contents of a YAML file. Raises OSError, UnicodeDecodeError or yaml.YAMLError."""
    contents: object = yaml.load(file.read_text(encoding="utf-8"), _LOADER)
    return contents


def load_own(name: str) -> object:
    """Return the contents of a YAML file next to this module."""
    return load_yaml(Path(__file__).with_name(name))
