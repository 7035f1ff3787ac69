"""What a statement asks to be done, and to what: classes of verbs and the things they act on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from catalog.relevance.tokens import Token
from catalog.relevance.vocabulary import lemma, words

Action = frozenset[str]  # the classes one verb may stand for; two verbs agree if these meet

# A verb in several lines may mean any of them: "extract" a column is looking, an archive is not.
_CLASSES = {
    "look": "list find show display print search get look locate check view output see tell report "
    "retrieve obtain identify detect determine inspect examine read dump watch enumerate query "
    "lookup summarise summarize browse fetch extract monitor follow tail calculate compute "
    "measure compare diff verify validate test analyse analyze select know grep trace "
    "profile give filter parse describe ping sort write save redirect log store run execute "
    "sum invoke use record wait sleep echo return match collect capture scan provide",
    "count": "count",
    "calculate": "calculate compute sum measure",
    "extract": "extract decompress unzip unpack untar uncompress gunzip expand",
    "compress": "compress zip gzip bzip2 tar archive pack backup",
    "delete": "delete remove purge erase wipe clean prune drop discard unlink rm clear free trash "
    "reclaim destroy rotate vacuum expire evict strip trim",
    "empty": "truncate empty clear zero blank flush reset",
    "rotate": "rotate",
    "copy": "copy duplicate clone sync synchronise synchronize rsync replicate mirror transfer "
    "backup scp upload download",
    "move": "move relocate rename mv transfer archive",
    "backup": "backup save archive snapshot dump",
    "restore": "restore recover",
    "rollback": "rollback revert undo",
    "start": "start launch run execute boot begin spawn invoke",
    "stop": "stop halt shutdown terminate kill quit",
    "kill": "kill terminate signal",
    "restart": "restart reboot bounce",
    "reload": "reload refresh",
    "pause": "pause suspend freeze",
    "resume": "resume unpause continue",
    "enable": "enable activate",
    "disable": "disable deactivate",
    "create": "create mkdir generate add build touch make initialise initialize provision",
    "add": "add append insert prepend attach",
    "change": "change set modify update edit adjust alter configure tune assign chmod chown grant "
    "increase decrease convert replace substitute turn make give fix "
    "alias",
    "replace": "replace substitute swap",
    "increase": "increase raise extend grow expand enlarge",
    "decrease": "decrease reduce lower shrink",
    "scale": "scale resize",
    "update": "update upgrade patch",
    "downgrade": "downgrade",
    "install": "install",
    "uninstall": "uninstall remove",
    "grant": "grant allow permit give authorise authorize",
    "revoke": "revoke deny remove",
    "allow": "allow permit open unblock accept whitelist",
    "block": "block deny forbid reject drop ban blacklist close",
    "open": "open",
    "close": "close",
    "lock": "lock",
    "unlock": "unlock",
    "encrypt": "encrypt",
    "decrypt": "decrypt",
    "encode": "encode",
    "decode": "decode",
    "mount": "mount remount",
    "unmount": "unmount umount eject",
    "attach": "attach",
    "detach": "detach",
    "connect": "connect ssh",
    "disconnect": "disconnect",
    "upload": "upload push",
    "download": "download pull fetch",
    "send": "send mail email post",
    "receive": "receive",
    "link": "link symlink",
    "unlink": "unlink",
    "split": "split",
    "merge": "merge join concatenate combine append",
    "convert": "convert transform translate",
    "schedule": "schedule",
    "drain": "drain cordon evict",
    "uncordon": "uncordon",
    "deploy": "deploy",
    "renew": "renew rotate",
    "commit": "commit",
    "checkout": "checkout",
    "format": "format",
    "sort": "sort",
    "mask": "mask",
    "unmask": "unmask",
}
VERBS: dict[str, Action] = {
    verb: frozenset(name for name, verbs in _CLASSES.items() if verb in words(verbs))
    for verb in words(" ".join(_CLASSES.values()))
}
LOOK = VERBS["list"]
COUNT = frozenset({"count"})

# Verbs that another word makes: "back up", "roll back", "shut down", "make a directory".
_PHRASES = {
    ("back", "up"): "backup",
    ("backs", "up"): "backup",
    ("roll", "back"): "rollback",
    ("shut", "down"): "shutdown",
    ("log", "in"): "connect",
    ("clean", "up"): "clean",
    ("turn", "on"): "enable",
    ("turn", "off"): "disable",
    ("switch", "on"): "enable",
    ("switch", "off"): "disable",
    ("scale", "up"): "scale",
    ("get", "rid"): "delete",
    ("free", "up"): "free",
    ("make", "directory"): "create",
    ("make", "directories"): "create",
    ("make", "copy"): "copy",
    ("make", "backup"): "backup",
}
_COUNTING = re.compile(
    r"\bhow many\b|\bcount of\b"
    r"|(?:^|\b(?:print|show|display|list|get|output|report|find|return|give|tell|and)s? |, )"
    r"(?:out |only |the |total |me )*number of (?!#)"
)
_MAKING = re.compile(
    r"\b(?:create|make|take|generate)s? (?:an?|the) (?:\S+ ){0,3}?"
    r"(?P<what>archive|tarball|backup|copy|snapshot)\b"
)
# Forms in -ing that describe something and ask for nothing.
_DESCRIBING = words(
    "starting running including existing matching containing ending following setting missing using"
)
_NEGATING = words("not never don't doesn't without no")
_LEADING = words(
    "please can you how to do i want need we should must let us now just first then also and it "
    "them gnu linux specific specifically mac os x bash only would like not don't never could force"
)
_CONNECTING = words("and then to or but also & it them by finally")

_OBJECTS = {
    noun: kind
    for kind, nouns in {
        "file": "file script log document archive image picture source logfile pdf",
        "directory": "directory folder dir subdirectory subfolder",
        "link": "symlink link hardlink",
        "process": "process pid job thread",
        "user": "user account username login",
        "line": "line row",
        "word": "word",
        "character": "character char letter",
        "column": "column field",
        "package": "package",
        "service": "service daemon unit",
        "container": "container",
        "pod": "pod",
        "port": "port",
        "connection": "connection",
        "interface": "interface",
        "memory": "memory ram",
        "cpu": "cpu processor",
        "branch": "branch",
        "commit": "commit revision",
        "table": "table",
        "certificate": "certificate",
        "volume": "volume",
    }.items()
    for noun in words(nouns)
}
_LOCATING = words(
    "in under within inside below from into to at through on beneath by with than as "
    "search searches searching scan scans traverse browse"
)
_PLACING = words("current home working root")  # "list the current directory"
_BEFORE_NOUN = words(
    "the a an this that each every all any its their current given same specified whole entire "
    "home root working my our sub local named following parent target another other single"
)


def actions_of(tokens: Sequence[Token], skeleton: str) -> frozenset[Action]:
    """The actions of a statement; `skeleton` is its text without its literals.

    Only imperatives count: at the start, after a conjunction or a comma. "Deleted files" and
    "the backup directory" ask for nothing.
    """
    found = {VERBS[verb] for verb in _verbs(tokens)}
    if _COUNTING.search(skeleton):
        found.add(COUNT)
    if made := _MAKING.search(skeleton):
        found.discard(VERBS["create"])
        found.discard(VERBS["make"])
        found.add(VERBS[made["what"].replace("tarball", "archive")])
    return frozenset(found)


def _verbs(tokens: Sequence[Token]) -> Iterator[str]:
    may_start = True
    for position, token in enumerate(tokens):
        following = tokens[position + 1].lower if position + 1 < len(tokens) else ""
        verb = _as_verb(token, following)
        if verb and may_start and not (position and tokens[position - 1].lower in _NEGATING):
            yield verb
        word = token.lower
        goes_on = may_start and (word in _LEADING or word.endswith("ly"))
        may_start = token.ends_clause or (not token.is_quoted and (word in _CONNECTING or goes_on))


def _as_verb(token: Token, following: str) -> str:
    """The verb that a token is in its base form, third person or with -ing; else empty."""
    if not token.is_word:
        return ""
    word = token.lower
    if (word, following) in _PHRASES:
        return _PHRASES[word, following]
    if word in VERBS:
        return word
    if word.endswith(("s", "ing")) and word not in _DESCRIBING:
        base = lemma(word)
        if base in VERBS and not (word.endswith("s") and base in _OBJECTS):
            return base
        bare = word.removesuffix("s")
        return bare if bare in VERBS else ""
    return ""


def objects_of(tokens: Sequence[Token]) -> frozenset[str]:
    """The kinds of things a statement is about, less those that only say where: "in the file x"."""
    found: set[str] = set()
    before = ""
    locating = False
    for token in tokens:
        if token.is_quoted:
            locating = False
            continue
        for word in re.split(r"[/-]", token.lower):
            kind = None if word.endswith(("ed", "ing")) else _OBJECTS.get(lemma(word))
            if kind and not locating and before not in _PLACING:
                found.add(kind)
            before = word
            if word in _LOCATING:
                locating = True
            elif word not in _BEFORE_NOUN:
                locating = False
        if token.ends_clause:
            locating = False
    return frozenset(found)


def disagree(some: frozenset[Action], others: frozenset[Action]) -> bool:
    """Whether both ask for something and nothing that one asks for is what the other asks for.

    Looking does not count beside something stronger: "find and delete" agrees with "delete".
    """
    if not some or not others:
        return False
    some, others = _strong(some) or some, _strong(others) or others
    return not any(action & other for action in some for other in others)


def unmatched(some: frozenset[Action], others: frozenset[Action]) -> frozenset[Action]:
    """The actions of `some` beyond looking that no action of `others` can stand for.

    Where the others have none that could be told, nothing is known and nothing unmatched.
    """
    if not others:
        return frozenset()
    return frozenset(
        action for action in _strong(some) if not any(action & other for other in others)
    )


def _strong(actions: frozenset[Action]) -> frozenset[Action]:
    return frozenset(action for action in actions if "look" not in action)


def say(actions: frozenset[Action]) -> str:
    """Actions in words, for people: the verb that best stands for each."""
    return " and ".join(sorted({_name(action) for action in actions}))


def _name(action: Action) -> str:
    return next(name for name in _CLASSES if name in action)
