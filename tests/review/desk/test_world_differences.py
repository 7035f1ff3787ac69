"""What one script did in a world and another did not, from what was seen and from no check."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from review.desk.views.evidence_differences import DraftEvidence, find_world_differences

SEEN = {
    "ended": "finished", "status": 0, "stdout": "", "stderr": "", "removed": ["/a"], "added": [],
    "changed": [], "touched": [], "calls": [["nginx", "-t"], ["systemctl", "reload", "nginx"]],
}  # fmt: skip


def draft(label: str, machine: str = "m", **seen: Any) -> DraftEvidence:
    case = SimpleNamespace(title="a world", seen={**SEEN, **seen})
    execution = SimpleNamespace(fingerprint_sha256=machine)
    result: Any = SimpleNamespace(case_set=SimpleNamespace(pk=1), execution=execution, cases=[case])
    return DraftEvidence(label, [result])


@pytest.mark.parametrize(
    "seen, sentence",
    [
        ({"removed": ["/a", "/b"]}, "Refined also removes `/b`."),
        ({"removed": []}, "Refined does not remove `/a`."),
        ({"added": ["/x\\u202e"]}, "Refined also adds `/x\\u202e`."),
        ({"changed": ["/c"]}, "Refined also changes `/c`."),
        ({"calls": [["nginx", "-t"]]}, "Refined does not call `systemctl reload nginx`."),
        ({"calls": [*SEEN["calls"], ["mail", "ops"]]}, "Refined also calls `mail ops`."),  # type: ignore[misc]
        ({"calls": SEEN["calls"][::-1]},  # type: ignore[index]
         "Refined makes the same calls in another order: `systemctl reload nginx`, `nginx -t`."),
        ({"status": 1}, "Refined ends with 1 and not with 0."),
        ({"stdout": "2 files\n"}, "Refined prints `2 files\\n`, Original nothing."),
        ({"ended": "timed out", "status": None}, "Refined: timed out. Original: finished."),
    ],
)  # fmt: skip
def test_it_is_said_in_a_sentence(seen: dict[str, Any], sentence: str) -> None:
    (found,) = find_world_differences([draft("Original"), draft("Refined", **seen)])
    assert (found.case, list(found.sentences)) == ("a world", [sentence])


def test_nothing_is_said_where_they_do_the_same_or_cannot_be_compared() -> None:
    assert not find_world_differences([draft("Original"), draft("Refined")])
    other_machine = draft("Refined", machine="other", removed=[])
    assert not find_world_differences([draft("Original"), other_machine])
    assert not find_world_differences([draft("Original")])
