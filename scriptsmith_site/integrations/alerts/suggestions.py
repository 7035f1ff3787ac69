"""What an alert suggests: words to search the catalogue by, values for parameters, context for who writes a script.

All of it is text of strangers: a value is checked, shown with where it comes from, and filled in by a person alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catalog import analysis
from catalog import services as catalog
from catalog.models import Version
from scriptsmith_site.models import Incident

LONGEST_SUGGESTION = 200
LONGEST_CONTEXT = 20_000
# Words in the name of a parameter to labels that mean the same, the likeliest first.
_MEANT: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = tuple(
    (frozenset(words.split()), tuple(labels.split()))
    for words, labels in (
        (
            "host hostname server node machine target address instance",
            "instance host hostname nodename node fqdn",
        ),
        (
            "service unit daemon process app application",
            "service systemd_unit name unit app application job",
        ),
        (
            "path directory folder dir mount mountpoint filesystem disk",
            "path directory mountpoint device",
        ),
        ("namespace ns", "namespace exported_namespace"),
        ("pod", "pod pod_name"),
        ("deployment workload", "deployment workload"),
        ("container", "container container_name"),
        ("database db", "datname database db"),
        ("port", "port instance"),
        ("user", "user usename"),
        ("cluster", "cluster"),
        ("interface", "device interface"),
    )
)
_HOST = frozenset(
    ["host", "hostname", "server", "node", "machine", "target", "address", "instance"]
)
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\s]+):([0-9]{1,5})")
_WORDS = re.compile(r"[a-z0-9]+")
# What no name of a host, a service or a path needs, and a shell or a terminal might take for something else.
_ODD = re.compile(r"[^\w .,:/@%+=\[\]-]", re.ASCII)


@dataclass(frozen=True)
class Suggestion:
    """A value for a parameter, and where it comes from: the name of a label, or empty for the statement."""

    name: str
    value: str
    label: str = ""


def suggest_values(
    version: Version, labels: Mapping[str, str], fills: Mapping[str, str]
) -> list[Suggestion]:
    """A value for each parameter that the alert has one for; what the script would not take is left out."""
    found = []
    for row in version.parameters:
        name = str(row["name"])
        one = next(_candidates(name, labels, fills), None)
        if one is not None and _is_taken(version, one):
            found.append(one)
    return found


def _candidates(
    name: str, labels: Mapping[str, str], fills: Mapping[str, str]
) -> Iterator[Suggestion]:
    words = set(_WORDS.findall(name.lower()))
    known = {label.lower(): label for label in labels}
    if name.lower() in known:
        label = known[name.lower()]
        yield Suggestion(name, _value(words, labels[label]), label)
    for meant, likely in _MEANT:
        if words & meant:
            for label in likely:
                if value := _value(words, labels.get(label, "")):
                    yield Suggestion(name, value, label)
    if fills.get(name):
        yield Suggestion(name, fills[name])


def _value(words: set[str], text: str) -> str:
    """Of `web-1:9100` the part that the parameter asks for."""
    found = _HOST_AND_PORT.fullmatch(text)
    if "port" in words:
        return found[2] if found else text if text.isdecimal() else ""
    return found[1].strip("[]") if found and words & _HOST else text


def _is_taken(version: Version, one: Suggestion) -> bool:
    if not one.value or len(one.value) > LONGEST_SUGGESTION or _ODD.search(one.value):
        return False
    if one.value.startswith(("-", "~")) or "\n" in one.value:
        return False
    filled = catalog.fill_in(version, {one.name: one.value})
    return one.name not in filled.problems and not filled.dangers


def context_of(incident: Incident) -> analysis.Masked:
    """Title, labels and annotations, with known forms of secrets masked."""
    lines = [incident.title, f"Source: {incident.source.name}"]
    lines += [f"{name}: {value}" for name, value in incident.labels.items()]
    lines += [
        f"{name}: {value}"
        for name, value in incident.annotations.items()
        if value != incident.title
    ]
    return analysis.mask_secrets("\n".join(lines)[:LONGEST_CONTEXT])
