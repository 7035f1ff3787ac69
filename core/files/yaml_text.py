"""YAML that somebody else wrote: plain values only, and no more of them than stand in the text."""

from __future__ import annotations

import yaml

MOST_DEEP = 30

# libyaml is seven times faster; PyYAML has it on most platforms.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_OPENS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSES = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


def read_yaml(text: str) -> object:
    """The value in the text. Raises ValueError: no YAML, an alias, a tag of a program, too deep."""
    try:
        _check_shape(text)
        return yaml.load(text, Loader=_LOADER)  # as safe_load: strings, numbers, lists, names
    except yaml.YAMLError as error:
        raise ValueError(f"is no YAML: {' '.join(str(error).split())[:300]}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def write_yaml(value: object) -> str:
    """The text that `read_yaml` reads."""
    return yaml.dump(value, Dumper=_DUMPER, allow_unicode=True, sort_keys=False, width=100)


def _check_shape(text: str) -> None:
    """Aliases let ten lines stand for a million values; nesting overruns the stack of libyaml."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("uses an alias (*name); write the value out")
        depth += isinstance(event, _OPENS)
        depth -= isinstance(event, _CLOSES)
        if depth > MOST_DEEP:
            raise ValueError("is nested too deeply")
