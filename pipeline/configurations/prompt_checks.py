"""Check whether a text can replace a prompt. Both must have the same task and slots."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.translation import gettext as _

from pipeline.flow.prompts import Template, load, parse

_ANY_SLOT = re.compile(r"<<([A-Z_]+)>>")


def find_faults(name: str, text: str) -> list[str]:
    """List the reasons why a text can't be a version of the prompt `name`, one sentence each."""
    template, wanted = parse(text), load(name).slots
    return [
        *_faults_of_frame(name, text, template),
        *_faults_of_slots(template, wanted),
        *_faults_of_places(template, wanted),
    ]


def _faults_of_frame(name: str, text: str, template: Template) -> Iterator[str]:
    first = text.partition("\n")[0].rstrip()
    if first != f"Task: {name}":
        yield _("The first line must be “Task: %(name)s”, not “%(first)s”.") % {
            "name": name,
            "first": first[:60],
        }
    if not template.user or not template.system.partition("\n")[2].strip():
        yield _(
            "Separate the system prompt from the user prompt with a “---” line. Both need text."
        )


def _faults_of_slots(template: Template, wanted: frozenset[str]) -> Iterator[str]:
    for slot in sorted(wanted - template.slots):
        yield _("The slot %s is missing below the “---” line.") % _mark(slot)
    for slot in sorted(template.slots - wanted):
        yield _("Unknown slot %(slot)s. This prompt has %(slots)s.") % {
            "slot": _mark(slot),
            "slots": ", ".join(map(_mark, sorted(wanted))),
        }


def _faults_of_places(template: Template, wanted: frozenset[str]) -> Iterator[str]:
    for slot in sorted(set(_ANY_SLOT.findall(template.system))):
        yield _("The slot %s is above the “---” line, where slots are not filled in.") % _mark(slot)
    lines = [line.strip() for line in template.user.splitlines()]
    for slot in sorted(wanted & template.slots):
        if template.user.count(_mark(slot)) > 1:
            yield _("The slot %s is used more than once.") % _mark(slot)
        elif _mark(slot) not in lines:
            # The end mark of fenced text is recognized only on its own line.
            yield _("The slot %s must be on its own line.") % _mark(slot)


def _mark(slot: str) -> str:
    return f"<<{slot}>>"
