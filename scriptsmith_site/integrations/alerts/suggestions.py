"""Suggestions from an alert: search words, parameter values, and context for the model that writes a script.

All suggestions are external text. Each value is validated and shown with its source, and is used only if a user accepts
it.
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
_HOST = frozenset(
    ["host", "hostname", "server", "node", "machine", "target", "address", "instance"]
)
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\s]+):([0-9]{1,5})")
_WORDS = re.compile(r"[a-z0-9]+")
# Characters that names of hosts, services and paths do not need, and that a shell or terminal could interpret.
_ODD = re.compile(r"[^\w .,:/@%+=\[\]-]", re.ASCII)


@dataclass(frozen=True)
class Suggestion:
    """A suggested parameter value and the label that it comes from.

    The label is empty if the statement has the value.
    """

    name: str
    value: str
    label: str = ""


def suggest_values(
    version: Version, labels: Mapping[str, str], fills: Mapping[str, str]
) -> list[Suggestion]:
    """Return a suggestion for each parameter for which the alert has an acceptable value."""
    found = []
    for row in version.parameters:
        one = next(_candidates(row, labels, fills), None)
        if one is not None and _is_taken(version, one):
            found.append(one)
    return found


def _candidates(
    parameter: Mapping[str, object], labels: Mapping[str, str], fills: Mapping[str, str]
) -> Iterator[Suggestion]:
    """Yield the value of the label that a curator mapped or that has the parameter's name, then the statement's value.

    Labels with similar names are not used: `instance` contains the exporter's port, and `job` is the scrape job.
    """
    name = str(parameter["name"])
    known = {label.lower(): label for label in labels}
    label = known.get(str(parameter.get("alert_label") or name).lower())
    if label is not None:
        yield Suggestion(name, _value(set(_WORDS.findall(name.lower())), labels[label]), label)
    if fills.get(name):
        yield Suggestion(name, fills[name])


def _value(words: set[str], text: str) -> str:
    """Return the part of a value such as `web-1:9100` that the parameter needs, based on the words of its name."""
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
    """Return the incident's title, source, labels and annotations, with recognized secrets masked."""
    lines = [incident.title, f"Source: {incident.source.name}"]
    lines += [f"{name}: {value}" for name, value in incident.labels.items()]
    lines += [
        f"{name}: {value}"
        for name, value in incident.annotations.items()
        if value != incident.title
    ]
    return analysis.mask_secrets("\n".join(lines)[:LONGEST_CONTEXT])
