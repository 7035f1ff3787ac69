"""Tests that programs inside commands are read-only only if the analysis understood their whole text."""

from __future__ import annotations

from catalog.analysis.read_only.languages import awk_only_prints, sed_only_prints, sql_only_reads

SED_THAT_PRINTS = [
    "1,5p",
    "$p",
    "s/a/b/g",
    "s|/srv|/opt|",
    "/x/,/y/{p;d}",
    "s/[a-z]*//;s/^ *//",
    "N;N;s/\\n//",
] + ["$!N", "/a\\/b/d", "y/abc/xyz/", "10q", "1~2d", "s/[[:space:]]\\+/ /g", "# text\np"]


def test_sed_that_prints() -> None:
    assert [text for text in SED_THAT_PRINTS if not sed_only_prints(text)] == []


SED_THAT_MAY_WRITE = [
    "w out",
    "s/a/b/w out",
    "s/a/b/e",
    "e rm x",
    "1e",
    "/x/w out",
    "p;w out",
    "r in",
    "s/a",
    "/a",
] + ["s/[/]/g;/w x/p", "s/a/b/gw out", "p;s/a/b/w out\nd", "1i text", "s\\a\\b\\", "W out"]


def test_sed_that_may_write() -> None:
    assert [text for text in SED_THAT_MAY_WRITE if sed_only_prints(text)] == []


AWK_THAT_PRINTS = (
    ["{print $1}", "NR > 1 && $5 + 0 > 80 {print $6}", '$1 == "a|b>c" {print}', "!/^(#|$)/"]
    + ["{s += $1} END {print s / NR}", "/a/ || /b/", '{gsub(/[<]/, ""); print}', "{print} # a | b"]
    + ['BEGIN {FS = ":"} {printf "%s\\n", $1}', "$2 ~ /[^a]/"]
)


def test_awk_that_prints() -> None:
    assert [text for text in AWK_THAT_PRINTS if not awk_only_prints(text)] == []


AWK_THAT_MAY_WRITE = (
    ['{print > "out"}', '{print $1, $2 >> "out"}', '{print | "sh"}', '{system("rm x")}']
    + ['"date" | getline x', '/"/ {print > "out"} /"/', '/#/ {print > "out"}', '@include "x"']
    + ['{x++ /2; print > "out" /1}', 'if (1) /"/; print > "out"; /"/', '{printf("a") > "out"}']
    + ['{print $1,\n $2 > "out"}', '"open', "{print |& c}"]
)


def test_awk_that_may_write() -> None:
    assert [text for text in AWK_THAT_MAY_WRITE if awk_only_prints(text)] == []


SQL_THAT_READS = [
    "SELECT 1",
    "select count(*) from t; show all;",
    "\\dt",
    "EXPLAIN SELECT 1",
    ".tables",
] + ["WITH a AS (SELECT 1) SELECT * FROM a", "SELECT now() - max(x) FROM t", ""]


def test_sql_that_reads() -> None:
    assert [text for text in SQL_THAT_READS if not sql_only_reads(text)] == []


SQL_THAT_MAY_WRITE = (
    ["DROP TABLE x", "SELECT 1; DROP TABLE x", "SELECT * INTO y FROM x", "SELECT do_it()"]
    + ["WITH d AS (DELETE FROM x RETURNING *) SELECT * FROM d", "EXPLAIN ANALYZE DELETE FROM x"]
    + ["EXPLAIN (ANALYZE) SELECT 1", '"pg_terminate_backend"(1)', 'SELECT "f"(1)', "\\! rm x"]
    + ["SELECT 1 \\gexec", "\\dt \\! rm x", ".tables\n.shell rm x", "SELECT 1 /*! INTO x */"]
    + ["SELECT x FROM y FOR UPDATE", "SELECT 1\nsystem rm x", "COPY t TO '/x'", "anything"]
)


def test_sql_that_may_write() -> None:
    assert [text for text in SQL_THAT_MAY_WRITE if sql_only_reads(text)] == []
