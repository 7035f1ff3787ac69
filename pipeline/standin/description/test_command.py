"""Describe `test`, `[` and `[[` as a condition in prose."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.standin.description.command_phrases import show_word, vocabulary

_JOINTS = {"&&": " and ", "-a": " and ", "||": " or ", "-o": " or ", "(": "", ")": ""}


def say_test(words: Sequence[str]) -> str:
    """Describe a test as a clause: "the file /etc/x exists and $n is greater than 5"."""
    known = vocabulary().conditions
    waiting = [word for word in words if word != "]"]
    said = []
    while waiting:
        if len(waiting) >= 3 and waiting[1] in known.binary:
            left, operator, right = (waiting.pop(0) for _ in range(3))
            said.append(f"{show_word(left)} {known.binary[operator]} {show_word(right)}")
        elif waiting[0] == "!":
            waiting.pop(0)
            said.append("not ")
        elif said and waiting[0] in _JOINTS:
            said.append(_JOINTS[waiting.pop(0)])
        elif len(waiting) >= 2 and waiting[0] in known.unary:
            operator, operand = waiting.pop(0), waiting.pop(0)
            said.append(known.unary[operator].replace("{}", show_word(operand)))
        else:
            said.append(show_word(waiting.pop(0)))
    return "".join(said)
