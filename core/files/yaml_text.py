"""Read untrusted YAML, which may contain only plain values without aliases."""

from __future__ import annotations

import yaml

MOST_DEEP = 30

# libyaml is seven times as fast as the Python code, and PyYAML includes it on most platforms.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_OPENS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSES = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


def read_yaml(text: str) -> object:
    """Return the value of the text. Raises ValueError for invalid YAML, an alias, a custom tag or deep nesting."""
    try:
        _check_shape(text)
        return yaml.load(text, Loader=_LOADER)  # like safe_load: strings, numbers, lists, mappings
    except yaml.YAMLError as error:
        raise ValueError(f"is not valid YAML: {' '.join(str(error).split())[:300]}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def write_yaml(value: object) -> str:
    """Return a value as YAML for `read_yaml`."""
    return yaml.dump(value, Dumper=_DUMPER, allow_unicode=True, sort_keys=False, width=100)


def _check_shape(text: str) -> None:
    """Raise ValueError for aliases and deep nesting.

    Ten lines with aliases can expand to a million values, and deep nesting would overflow libyaml's stack.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("uses an alias (*name); write the value out")
        depth += isinstance(event, _OPENS)
        depth -= isinstance(event, _CLOSES)
        if depth > MOST_DEEP:
            raise ValueError("is nested too deeply")
