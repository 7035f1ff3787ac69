"""The YAML files of this package and of the demo, read fast where PyYAML has its C part."""

from __future__ import annotations

from pathlib import Path

import yaml

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(file: Path) -> object:
    """The contents of a YAML file. Raises OSError, UnicodeDecodeError or yaml.YAMLError."""
    contents: object = yaml.load(file.read_text(encoding="utf-8"), _LOADER)
    return contents


def load_own(name: str) -> object:
    """The contents of a YAML file that lies beside this module."""
    return load_yaml(Path(__file__).with_name(name))
