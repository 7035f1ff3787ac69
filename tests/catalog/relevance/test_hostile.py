"""Tests that text, scripts and punctuation of any length are processed in bounded time."""

from __future__ import annotations

import time

import pytest

from catalog.relevance import Candidate, Parameter, analyse, find_literals, judge
from catalog.types import Answer
from tests.first_cases import first_cases

PARAMETERS = (
    Parameter(name="SERVICE"),
    Parameter(name="DIRECTORY", type="path"),
    Parameter(name="DAYS", type="number"),
)
SECONDS = 2.0  # ten times the usual CPU time; a runaway pattern takes minutes

HOSTILE = [
    pytest.param("a" * 100_000, id="one long word"),
    pytest.param(" " * 100_000, id="only spaces"),
    pytest.param("\r\n" * 50_000, id="only line ends"),
    pytest.param('"' * 100_000, id="only double quotes"),
    pytest.param("'" * 100_000, id="only single quotes"),
    pytest.param("`'" * 50_000, id="back quotes unbalanced"),
    pytest.param("[" * 100_000, id="brackets"),
    pytest.param("/" * 100_000, id="slashes"),
    pytest.param("a/" * 50_000, id="a long path"),
    pytest.param("a." * 50_000, id="a long host"),
    pytest.param("a@" * 50_000, id="a long address"),
    pytest.param("ab:" * 30_000, id="colons"),
    pytest.param("a_" * 50_000, id="underscores"),
    pytest.param("*" * 100_000, id="stars"),
    pytest.param("9" * 100_000, id="digits"),
    pytest.param("9" * 350 + "MB", id="a number too large"),
    pytest.param("1,000" * 20_000, id="thousands"),
    pytest.param("5 days " * 15_000, id="many durations"),
    pytest.param(" ".join(f"/v/{number}" for number in range(20_000)), id="many paths"),
    pytest.param(" ".join(f"n{number}x" for number in range(20_000)), id="many names"),
    pytest.param("not " * 25_000, id="many negations"),
    pytest.param("number of the " * 7_000, id="many counts"),
    pytest.param("create a x x x " * 6_000, id="many makings"),
    pytest.param("?!.,;:()[]{}<>|&%$#@" * 5_000, id="only punctuation"),
    pytest.param("删除七天前的文件" * 12_000, id="Chinese"),
    pytest.param("удалить старые файлы " * 5_000, id="Russian"),
    pytest.param("e\u0301" * 50_000, id="combining characters"),
    pytest.param("\ud800\x00\x07" * 1_000, id="surrogates and control characters"),
    pytest.param("${x}{}%s{0}" * 10_000, id="format strings"),
    pytest.param("", id="empty"),
]


@pytest.mark.parametrize("text", first_cases(8, HOSTILE))
def test_any_text_is_judged_in_bounded_time(text: str) -> None:
    candidate = Candidate(
        phrasing=text, phrasings=(text,), script=text, parameters=PARAMETERS, cosine=0.9
    )
    start = time.process_time()

    find_literals(text)
    analyse(text)
    asked = judge("delete files older than 7 days in /tmp", candidate)
    offered = judge(text, Candidate(phrasing="Restart nginx", script="x", cosine=0.9))
    longer = judge(text + " and stop nginx", candidate)

    assert time.process_time() - start < SECONDS
    assert Answer.MATCH not in (asked.answer, offered.answer, longer.answer)


def test_unreadable_statement_is_no_match() -> None:
    statement = "restart nginx " * 1_000
    candidate = Candidate(phrasing=statement[:5_000], script="systemctl restart nginx", cosine=1.0)
    judgement = judge(statement, candidate)
    assert judgement.answer == Answer.ADAPT
    assert "too long" in str(judgement.differs[-1])
    candidate = Candidate(phrasing="?", script=": $DIRECTORY", cosine=1.0, parameters=PARAMETERS)
    assert judge("/var", candidate).answer != Answer.MATCH


FOREIGN = [
    ("删除旧文件", "删除旧文件", True),
    ("删除旧文件", "显示旧文件", False),
    ("запусти nginx", "останови nginx", False),
]


def test_words_of_another_language_are_names() -> None:
    found = [
        (
            statement,
            phrasing,
            judge(statement, Candidate(phrasing=phrasing, script="x", cosine=0.95)).answer
            is Answer.MATCH,
        )
        for statement, phrasing, _is_match in FOREIGN
    ]
    assert found == FOREIGN
