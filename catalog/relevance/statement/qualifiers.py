"""Find the qualifiers that change a statement's meaning, such as older or newer, first or last.

The functions read a statement's skeleton, which has placeholders for literals, as in "files older than #d in #x".
Each finding is a mark, `axis:value`. Two statements contradict each other if both have marks on an axis, but none in
common.
"""

from __future__ import annotations

import re

_AT_LEAST = r"(?:older|earlier|longer|more|greater|over|above|beyond|exceed\w*|at least|min\w*)"
_AT_MOST = r"(?:newer|younger|less|fewer|under|below|at most|up to|max\w*|no more)"
_PAST = r"(?:the )?(?:last |past |previous )?"
_NOT = r"(?:not|never|no|\w+n['’]t)"
_TOUCHED = r"(?:modif|chang|access|touch|us|updat|edit|writ|open|read|alter|log|seen|run)\w*"
_UNTOUCHED = r"(?:unmodified|unchanged|unused|untouched|unaccessed)"

# "More than within the last 7 days", "more than modified in the last day" and "before the last hour" all mean "older".
_LONGER = r"(?:more|longer|older|earlier|greater) than (?:\w+ )?"
_LATELY = r"(?:(?:in|within|during) (?:the )?(?:(?:last|past|previous) )?#d|(?:the )?(?:last|past|previous) #d)"

# The order matters. A match is removed, so that "not older than" is not also read as "older than".
_AGE = (
    (
        "age:newer",
        rf"\b{_NOT} (?:{_TOUCHED} |any |much )?(?:older|more|earlier|longer) than {_PAST}#d",
    ),
    ("age:older", rf"\b{_NOT} (?:{_TOUCHED} |any |much )?(?:newer|younger|less) than {_PAST}#d"),
    ("age:newer", rf"\b{_NOT} (?:{_TOUCHED} |any |much )?{_LONGER}{_LATELY}"),
    ("age:older", rf"\b(?:{_LONGER}|before |prior to ){_LATELY}"),
    (
        "age:older",
        rf"\b(?:{_NOT} (?:\w+ ){{0,2}}?{_TOUCHED}|{_UNTOUCHED}) (?:[^\s,]+ ){{0,4}}?"
        rf"(?:(?:in|within|for|since|during|over|at|from) )?{_PAST}#d",
    ),
    ("age:newer", r"\b(?:in|within|during|over|for|of|from) (?:the )?(?:last|past|previous) #d"),
    (
        "age:newer",
        r"\b(?:last|past|previous) #d|\b(?:since|within|during|in) (?:the )?#d|\bover the #d",
    ),
    ("age:older", rf"\b{_AT_LEAST} (?:than )?{_PAST}#d"),
    ("age:older", r"#d (?:or more|and more|or older|and older|or longer|plus)\b|\bbefore #d"),
    ("age:newer", rf"\b{_AT_MOST} (?:than )?{_PAST}#d|#d (?:or less|and less|or newer)\b"),
    ("age:older", r"\bolder than\b"),
    ("age:newer", r"\b(?:newer|more recent\w*) than\b"),
    ("age:exact", r"\b(?:exactly|precisely) #d|#d (?:ago|back|before)\b"),
)

_COUNTED = (
    r"\b(?:counts?|counting|number of|how many) (?:#x |(?:the|all|of|up|total|number|unique|empty"
    r"|regular|in|each|open|running|blank|text) ){0,5}"
)
_LARGER = r"larger|bigger|greater|higher|more|over|above|exceed\w*|at least"
_SMALLER = r"smaller|lower|less|fewer|under|below|at most|up to"
_PIECES = r"(?:#n|(?:few )?(?:line|row|entr|result|char|word)\w*)"

# fmt: off
_MARKS = tuple(
    (mark, re.compile(pattern))
    for mark, pattern in (
        ("size:more", rf"\b(?:{_LARGER})(?: than)? #s"),
        ("size:more", r"#s (?:or|and) (?:more|larger|bigger|greater|up|above)"),
        ("size:less", rf"\b(?:{_SMALLER})(?: than)? #s"),
        ("size:less", r"#s (?:or|and) (?:less|smaller|below)"),
        ("size:exact", r"\b(?:exactly|precisely) #s"),
        ("counted:line", rf"{_COUNTED}lines?\b"),
        ("counted:file", rf"{_COUNTED}files?\b"),
        ("counted:directory", rf"{_COUNTED}(?:director(?:y|ies)|folders?)\b"),
        ("counted:word", rf"{_COUNTED}words?\b"),
        ("counted:character", rf"{_COUNTED}char(?:acter)?s?\b"),
        ("counted:process", rf"{_COUNTED}(?:process(?:es)?|jobs?)\b"),
        ("counted:connection", rf"{_COUNTED}connections?\b"),
        ("counted:user", rf"{_COUNTED}users?\b"),
        ("per:each", rf"{_COUNTED}[^,]{{0,80}}\b(?:each|every|per)\b"),
        ("where:name", r"\b(?:in|of) (?:its|their|the) (?:file ?|path ?|base ?)?names?\b"),
        ("where:name", r"\bwhose (?:file ?|path ?|base ?)?names? (?:contain|have|include)"),
        ("stream:in", r"\bstandard input\b|\bstdin\b"),
        ("stream:out", r"\bstandard output\b|\bstdout\b"),
        ("stream:error", r"\bstandard error\b|\bstderr\b"),
        ("amount:more", rf"\b(?:{_LARGER})(?: than)? #[np]"),
        ("amount:less", rf"\b(?:{_SMALLER})(?: than)? #[np]"),
        ("rank:largest", r"\b(?:largest|biggest|heaviest|highest|longest|most (?!recent)\w+)\b"),
        ("rank:smallest", r"\b(?:smallest|least (?!#)|lowest|shortest|fewest)\b"),
        ("rank:newest", r"\b(?:newest|latest|most recent\w*)\b|\blast modified file"),
        ("rank:oldest", r"\b(?:oldest|earliest|least recent\w*)\b"),
        ("end:first", rf"\b(?:first|top|head|beginning) {_PIECES}"),
        ("end:last", rf"\b(?:last|bottom|tail|final) {_PIECES}"),
        ("order:up", r"\b(?:ascending|increasing|smallest first|oldest first)\b"),
        ("order:down", r"\b(?:descending|decreasing|reverse\w*|largest first|newest first)\b"),
        ("time:access", r"\baccess(?:ed)? (?!permission)|\baccess time"),
        ("time:change", r"\b(?:modified|modification|changed|updated|edited|altered)\b"),
        ("time:create", r"\b(?:created|creation)\b"),
        ("case:any", r"\bcase.?insensitiv\w*|\bignor\w+ (?:the )?case"),
        ("case:any", r"\b(?:regardless|irrespective) of case"),
        ("case:exact", r"\bcase.?sensitiv\w*"),
        ("depth:all", r"\brecursiv\w+|\bsub.?(?:director|folder)\w+|\btree\b"),
        ("place:begin", r"\b(?:start|begin)\w* (?:with|by)\b"),
        ("place:end", r"\bend\w* (?:with|in|by)\b"),
        ("fill:empty", r"(?<!non-)(?<!non )(?<!not )\bempty\b|\bzero.(?:length|size|byte)\w*"),
        ("fill:full", r"\bnon.?empty\b|\bnot empty\b"),
        ("sight:hidden", r"(?<!non-)(?<!not )\bhidden\b"),
        ("sight:plain", r"\bnon.?hidden\b|\bnot hidden\b"),
        ("state:running", r"(?<!not )\b(?:running|active|started)\b"),
        ("state:stopped", r"\b(?:stopped|inactive|exited|not (?:running|active|started)|dead)\b"),
        ("state:failed", r"\b(?:failed|failing|broken|unhealthy|crashed)\b"),
        ("boot:on", r"(?<!not )\benabled\b"),
        ("boot:off", r"\b(?:disabled|not enabled)\b"),
        ("use:used", r"\b(?:used|using|usage|consum\w+) "),
        ("use:free", r"\b(?:free|available|unused)\b"),
        ("quantity:size", r"\b(?:total|overall|combined|average|mean) (?:disk )?sizes?\b"),
        ("quantity:number", r"\bnumber of\b|\bhow many\b|\bcounts?\b"),
        ("letters:upper", r"\bupper.?case\b"),
        ("letters:lower", r"\blower.?case\b"),
        ("protocol:tcp", r"\btcp\b"),
        ("protocol:udp", r"\budp\b"),
        ("internet:4", r"\bipv4\b"),
        ("internet:6", r"\bipv6\b"),
        ("flow:in", r"\b(?:inbound|incoming|ingress|received)\b"),
        ("flow:out", r"\b(?:outbound|outgoing|egress|sent)\b"),
        ("hardness:hard", r"\bhard.?links?\b"),
        ("hardness:soft", r"\b(?:soft|symbolic).?links?\b|\bsymlinks?\b"),
        ("beside:before", r"\bbefore (?:an? |the |each |every |#)"),
        ("beside:after", r"\bafter (?:an? |the |each |every |#)"),
        ("turns:one", r"\b(?:once|one time|a single time)\b(?! (?:a|an|per|every|each))"),
        ("turns:many", r"\b(?:until|repeatedly|forever|continuously)\b"),
        ("pace:single", r"(?:one|#n) (?:argument|by one|by #n|at a time)\b|\b(?:separate|individual)ly\b"),
        ("pace:together", r"\bas many\b|\bat once\b|\ball together\b|\bin one go\b"),
        ("column:one", r"\bby (?:the |its |their )?(?:\S+ )?(?:column|field)\b"),
        ("span:week", r"\bthis week\b"),
        ("span:month", r"\bthis month\b"),
        ("span:year", r"\bthis year\b"),
        ("who:owner", r"\b(?:for|by) (?:its|the|their) owner\b"),
        ("who:group", r"\bfor (?:its|the|their) group\b|\bby (?:its|their) group\b"),
        ("who:all", r"\b(?:for|by) (?:everybody|everyone|anyone|anybody|others|all users)\b"),
        ("holder:user", r"\b(?:to|from|of|for|by) (?:the )?users? (?:#x|\w)"),
        ("holder:group", r"\b(?:to|from|of|for|by) (?:the )?groups? (?:#x|\w)"),
        ("attribute:owner", r"\b(?:owner|ownership)\b(?!['’])"),
        ("attribute:mode", r"\bpermissions?\b|\baccess rights\b"),
        ("parity:odd", r"\bodd\b"),
        ("parity:even", r"\beven\b"),
        ("extreme:max", r"\bmax(?:imum|imal)?\b"),
        ("extreme:min", r"\bmin(?:imum|imal)?\b"),
        ("public:yes", r"\bpublic\b"),
        ("public:no", r"\bprivate\b"),
        ("may:read", r"\breadable\b|\bread(?: permission|-only| only| access|/|,| and| by)"),
        ("may:write", r"\bwrit(?:e permission|able|eable|e access|e,|e and)|/write\b"),
        ("may:execute", r"\bexecut(?:e permission|able|e access|ion permission)"),
        ("load:cpu", r"\bcpu\b"),
        ("load:memory", r"\b(?:memory|ram)\b"),
        ("load:disk", r"\bdisk\b"),
        ("join:any", r"\beither\b"),
        (
            "choice:or",
            r"(?<!file)(?<!files)(?<!directory)(?<!directories)(?<!folder)(?<!folders) or "
            r"(?!more\b|less\b|old|new|larg|big|small|below|above|any\b|#[dns])",
        ),
        ("entries:all", r"\bfiles?(?: ?/ ?| and | or |, )(?:director(?:y|ies)|folders?)\b"),
        ("join:all", r"\bboth\b"),
        ("side:left", r"\bleft\b"),
        ("side:right", r"\bright\b"),
    )
)
# fmt: on
_AGES = tuple((mark, re.compile(pattern)) for mark, pattern in _AGE)

_NEGATION = re.compile(
    r"\b(?:not|never|no|neither|nor|aren['’]t|don['’]t|doesn['’]t|isn['’]t|wasn['’]t|hasn['’]t"
    r"|haven['’]t|didn['’]t|can['’]t|cannot|lacking|missing|invert\w*)\b"
    r"(?! (?:only|just|case|more than|less than|older|newer))"
    r"|\bnon.(?!empty|hidden|zero)\w+"
)
_EXCEPTION = re.compile(
    r"\b(?:without|except|exclud\w*|ignor\w*|other than|but not|avoid\w*|skip\w*|omit\w*|unless"
    r"|instead of|rather than|apart from|aside from|save for)\b"
    r"|\b(?:all|every\w*|any\w*|each|none|nothing|nobody)\b[^,.;]{0,60}? but\b(?! also)"
)
_NO_NEGATION = re.compile(r"\bnot (?:empty|hidden)\b|\bignor\w+ (?:the )?case\b")


# Comparisons with any quantity, as in "more than $LIMIT" or "larger than a gigabyte". Negated comparisons are ignored.
_NOT_COMPARED = re.compile(r"\b(?:not|no|never|\w+n['’]t)(?: \w+){0,3} \w+ than\b")
_COMPARED = (
    ("than:more", re.compile(r"\b(?:more|greater|larger|bigger|higher|longer) than\b")),
    ("than:less", re.compile(r"\b(?:less|fewer|smaller|lower|shorter) than\b")),
)


def marks_of(skeleton: str) -> frozenset[str]:
    """Return the marks of a statement, given its skeleton.

    `not:yes` marks a negation, and `except:yes` marks an exception.
    """
    found = set()
    rest = skeleton
    for mark, pattern in _AGES:
        rest, count = pattern.subn(" ", rest)
        if count:
            found.add(mark)
    found.update(mark for mark, pattern in _MARKS if pattern.search(skeleton))
    compared = _NOT_COMPARED.sub("", skeleton)
    found.update(mark for mark, pattern in _COMPARED if pattern.search(compared))
    rest = _NO_NEGATION.sub("", rest)
    if _EXCEPTION.search(rest):
        found.add("except:yes")
    if _NEGATION.search(rest.replace("but not", "")):
        found.add("not:yes")
    return frozenset(found)


def axes(marks: frozenset[str]) -> dict[str, frozenset[str]]:
    """Group the marks by axis."""
    found: dict[str, set[str]] = {}
    for mark in marks:
        found.setdefault(mark.partition(":")[0], set()).add(mark)
    return {axis: frozenset(values) for axis, values in found.items()}


def opposed(some: frozenset[str], others: frozenset[str]) -> list[tuple[str, str]]:
    """Return a pair of contradictory marks for each axis on which two statements contradict each other."""
    mine, theirs = axes(some), axes(others)
    return [
        (min(mine[axis]), min(theirs[axis]))
        for axis in sorted(mine.keys() & theirs.keys())
        if not mine[axis] & theirs[axis]
    ]


# Axes on which a statement may have two conditions, such as older than one file and newer than another.
_TWOFOLD = frozenset({"age", "size", "order"})


def half_agreed(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return the axes on which the sides share some marks, but not all."""
    mine, theirs = axes(some), axes(others)
    return frozenset(
        axis
        for axis in _TWOFOLD & mine.keys() & theirs.keys()
        if mine[axis] != theirs[axis] and mine[axis] & theirs[axis]
    )


def lone_axes(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return the axes on which only one statement has marks."""
    return frozenset(axes(some).keys() ^ axes(others).keys())
