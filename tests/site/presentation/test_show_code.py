"""Tests that displayed scripts and diffs are exact and escaped, with hidden characters made visible."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from scriptsmith_site.presentation.code import coloured_lines, mark_words, show_code
from scriptsmith_site.presentation.diff import diff_inline, diff_side_by_side, with_findings


def plain(shown: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", shown))


SCRIPTS = [
    "ls\n",
    "ls",
    "\n\n  ls  \n\n",
    "echo '<script>alert(1)</script>' \"$(id)\" `x` {{ y }} %s\n",
    "cat <<'EOF'\n  <b>&amp;\nEOF\necho done\n",
    "echo 'never closed\n",
    "# 日本語 ünï\nprintf '%s' é\n",
    "x" * 300_000,
]


def test_lines_and_words_are_shown_exactly() -> None:
    for script in SCRIPTS:
        shown = [plain(line) for line in coloured_lines(script)]
        assert shown == script.removesuffix("\n").split("\n"), script[:40]
    text = "<script>alert(1)</script> p\u0430ypal \u202egpj\u202c & a\u200bb"
    shown = mark_words(text)
    assert plain(shown) == text and "<script>" not in shown
    assert re.findall(r'data-code="(.*?)"', shown) == ["U+0430", "U+202E", "U+202C", "U+200B"]
    assert mark_words('"quoted" <b>') == "&quot;quoted&quot; &lt;b&gt;"


def test_markup_carriage_returns_and_hidden_characters_are_shown_safely() -> None:
    assert "<script>" not in "".join(coloured_lines("echo '<script>'\n"))
    assert [plain(line) for line in coloured_lines("ls\r\npwd\r\n")] == ["ls", "pwd"]
    (line,) = coloured_lines("rm\u200b -f x\n")
    assert 'data-code="U+200B"' in line and plain(line) == "rm\u200b -f x"
    (piece,) = show_code("ls\n", '"><script>')
    assert "<script>" not in piece.html
    (piece,) = show_code("", "script")
    assert plain(piece.html) == "\n", "an empty script has one line"


def test_findings_stand_at_their_lines_gravest_first() -> None:
    findings = [
        {"line": 2, "level": "info", "code": "A", "message": "a"},
        {"line": 2, "level": "error", "code": "B", "message": "b"},
        {"line": None, "level": "warning", "code": "C", "message": "c"},
        {"line": 99, "level": "warning", "code": "D", "message": "past the end"},
    ]
    first, second = show_code("ls\npwd\n", "script", findings)
    assert [one.code for one in first.findings] == ["C"]
    assert [one.code for one in second.findings] == ["B", "D", "A"]


@dataclass(frozen=True)
class Said:
    line: int


def test_a_script_is_cut_only_where_there_is_something_to_say() -> None:
    script = "".join(f"echo {number}\n" for number in range(1, 6))
    findings = [{"line": 2, "level": "info", "code": "A", "message": "a"}]
    pieces = show_code(script, "script", findings, [Said(4), Said(4), Said(9)])
    assert [plain(piece.html) for piece in pieces] == [
        "echo 1\necho 2\n",
        "echo 3\necho 4\n",
        "echo 5\n",
    ]
    assert [len(piece.findings) for piece in pieces] == [1, 0, 0]
    assert [len(piece.remarks) for piece in pieces] == [0, 2, 0]
    whole = "".join(piece.html for piece in pieces)
    assert re.findall(r'id="script-L(\d)" data-line="(\d)"', whole) == [(n, n) for n in "12345"]


def test_a_finding_at_a_line_that_can_not_be_stands_at_the_nearest_and_no_line_twice() -> None:
    findings = [{"line": line, "level": "info", "code": "A", "message": "a"} for line in (-1, 1, 9)]
    first, second = show_code("ls\npwd\nid\n", "script", findings)
    assert (plain(first.html), plain(second.html)) == ("ls\n", "pwd\nid\n")
    assert (len(first.findings), len(second.findings)) == (2, 1)


def test_changed_word_is_marked_inside_its_line() -> None:
    (row,) = diff_side_by_side("find . -name x\n", "find . -path x\n")
    assert row.kind == "change"
    assert '<del class="word">name</del>' in row.old_html
    assert '<ins class="word">path</ins>' in row.new_html
    old, new = 'rm -f $old "a<b"\n', 'rm -f "$new" "a<b"\n'
    (row,) = diff_side_by_side(old, new, colours=True)
    assert plain(row.old_html) + "\n" == old and plain(row.new_html) + "\n" == new
    assert 'class="nv"' in row.old_html and '<del class="word">' in row.old_html
    marked = "".join(re.findall(r'<ins class="word">(.*?)</ins>', row.new_html))
    assert "new" in marked
    assert row.new_html.count("<ins") == row.new_html.count("</ins>")


def test_diff_holds_both_texts_whole_and_escaped() -> None:
    old = "".join(f"line {number}\n" for number in range(40))
    new = old.replace("line 20\n", "line twenty\nand more\n")
    rows = diff_inline(old, new)
    assert [plain(row.html) for row in rows if row.kind == "add"] == ["line twenty", "and more"]
    assert [plain(row.html) for row in rows if row.kind == "del"] == ["line 20"]
    assert sum(row.kind == "gap" for row in rows) == 2
    assert "<b>" not in "".join(row.html for row in diff_inline("<b>1</b>\n", "<b>2</b>\n"))
    assert all(row.kind == "same" for row in diff_inline("a\n", "a\n"))
    assert diff_inline("", "") == []


def test_findings_stand_at_their_lines_of_a_diff_and_what_went_with_its_line() -> None:
    def found(line: int, code: str) -> dict[str, object]:
        return {"line": line, "level": "warning", "code": code, "message": code}

    for compare in (diff_inline, diff_side_by_side):
        rows = compare("ls\nrm a\n", "ls\npwd\n", colours=True)
        shown = with_findings(rows, [found(1, "OLD"), found(2, "GONE")], [found(2, "NEW")])
        codes = [one.code for row in shown for one in row.findings]
        assert codes == ["GONE", "NEW"]
