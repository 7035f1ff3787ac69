"""Event bodies with IDs and links. Request text, titles and names are included only if an administrator allows it."""

from __future__ import annotations

import json

from core.texts import name_of
from scriptsmith_site.integrations.outbox.events.confidentiality import is_looked_at
from scriptsmith_site.integrations.outbox.events.subjects import MOST_OF_A_TITLE, find_subject
from scriptsmith_site.models import Event


def body_of(event: Event, *, includes_texts: bool) -> str:
    """Return the JSON document of an event. Text is read now, so erased text is not sent."""
    data: dict[str, object] = {"sequence": event.sequence, "object": event.subject, **event.data}
    if includes_texts:
        subject = find_subject(event.model, event.object_id)
        title = shorten(subject.title) if subject and not is_looked_at(subject) else ""
        data |= {"title": title, "by": name_of(event.by)}
    document = {"type": event.type, "timestamp": event.at.isoformat(), "data": data}
    return json.dumps(document, ensure_ascii=True, separators=(",", ":"))


def message_id(event: Event) -> str:
    """Return the event's ID for receivers, which is the same in each attempt and replay."""
    return f"evt_{event.uid.hex}"


def shorten(text: str) -> str:
    """Return the text as one shortened line without control characters."""
    plain = "".join(one if one.isprintable() else " " for one in text)
    words = " ".join(plain.split())
    return words if len(words) <= MOST_OF_A_TITLE else f"{words[: MOST_OF_A_TITLE - 1]}…"
