"""Translate a statement's phrases about file names and paths into tests for find."""

from __future__ import annotations

from pipeline.standin.language.marked_text import MarkedText
from pipeline.standin.language.shell_syntax import quote_for

_HAVING = r"(?:\b(?:that|which) )?\b(?:with|having|have|has|containing|contains?)"
_IN_PATH = (
    rf"{_HAVING} <quoted>(?: somewhere)? in (?:the|their|its) (?:full )?paths?\b",
    r"\bwhose (?:full )?paths? (?:contains?|includes?) <quoted>",
)
_IN_NAME = (
    rf"{_HAVING} <quoted>(?: somewhere)? in (?:the|their|its) (?:file ?)?names?\b",
    r"\bwhose (?:file ?)?names? (?:contains?|includes?) <quoted>",
)
_WHOSE = r"(?:(?:\bwhose |\bwith |\bhaving )?(?:a |the )?(?:file ?)?names? (?:that )?|\b(?:that|which) |)"
_PIECE = r"(?:<quoted>|<name>|(?P<plain>(?!(?:an|the)\b)[\w][\w.-]+))"
_STARTS = rf"{_WHOSE}\b(?:start|begin)(?:s|ning|ing)? with (?:the )?{_PIECE}"
_ENDS = rf"{_WHOSE}\bend(?:s|ing)? (?:in|with|on) (?:the )?{_PIECE}"
_GLOB = (
    r"(?:(?:\bwhose |\bwith )?(?:a |the )?(?:file ?)?names? (?:that )?match(?:es|ing)? |\bmatching (?:the pattern )?|"
    r"\b(?:named|called) |(?:\b(?:that|which) )?\bend(?:s|ing)? (?:in|with|on) |"
    r"\b(?:with|having) (?:the )?(?:file )?(?:extension|suffix) |\bof type )?"
    r"<glob>(?: (?:images?|documents?|archives?)\b)?(?:,? or (?=\ue000glob))?"
)
_NAMED = r"\b(?:named|called|with the name) (?:<quoted>|<file>|<name>)"


def take_names(text: MarkedText, *, test: str) -> list[str]:
    """Remove the phrases about names and return their tests. Multiple complete names are alternatives."""
    in_path = [
        text.mention(match, "quoted").text
        for pattern in _IN_PATH
        for match in text.take_all(pattern)
    ]
    needed = [
        f"*{text.mention(match, 'quoted').text}*"
        for pattern in _IN_NAME
        for match in text.take_all(pattern)
    ]
    for pattern, before, after in ((_STARTS, "", "*"), (_ENDS, "*", "")):
        for match in text.take_all(pattern):
            slot = next((name for name in ("quoted", "name") if match[name]), "")
            piece = text.mention(match, slot).text if slot else match["plain"]
            needed.append(f"{before}{piece}{after}")
    wanted = [text.mention(match, "glob").text for match in text.take_all(_GLOB)]
    for match in text.take_all(_NAMED):
        slot = next(name for name in ("quoted", "file", "name") if match[name])
        wanted.append(text.mention(match, slot).text)
    needed_tests = [f"{test} {quote_for(name, 'bare')}" for name in needed]
    tests = [f"{test} {quote_for(name, 'bare')}" for name in wanted]
    whole = [rf"\( {' -o '.join(tests)} \)"] if len(tests) > 1 else tests
    return [
        *(f"-path {quote_for(f'*{piece}*', 'bare')}" for piece in in_path),
        *needed_tests,
        *whole,
    ]
