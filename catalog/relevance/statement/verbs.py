"""Verbs of system administration, and the actions that they may mean."""

from __future__ import annotations

from catalog.relevance.statement.vocabulary import words

# A verb may have multiple meanings. Extracting a column is looking, but extracting an archive is not.
_CLASSES = {
    "look": "list find show display print search get look locate check view output see tell report "
    "retrieve obtain identify detect determine inspect examine read dump watch enumerate query "
    "lookup summarise summarize browse fetch extract monitor follow tail calculate compute "
    "measure compare diff verify validate test analyse analyze select know grep trace "
    "profile give filter parse describe ping sort write save redirect log store run execute "
    "sum invoke use record wait sleep echo return match collect capture scan provide",
    "count": "count summarise summarize tally rank",
    "calculate": "calculate compute sum measure",
    "extract": "extract decompress unzip unpack untar uncompress gunzip expand",
    "compress": "compress zip gzip bzip2 tar archive pack backup shrink",
    "delete": "delete remove purge erase wipe clean prune drop discard unlink rm clear free trash "
    "reclaim destroy vacuum expire evict strip trim invalidate",
    "empty": "truncate empty clear zero blank flush reset",
    "rotate": "rotate",
    "copy": "copy duplicate clone sync synchronise synchronize rsync replicate mirror transfer "
    "backup scp upload download save snapshot",
    "move": "move relocate rename mv transfer archive",
    "backup": "backup save archive snapshot dump",
    "restore": "restore recover",
    "rollback": "rollback revert undo",
    "start": "start launch run execute boot begin spawn invoke",
    "stop": "stop halt shutdown terminate kill quit abort cancel",
    "kill": "kill terminate signal abort cancel",
    "restart": "restart reboot bounce",
    "reload": "reload refresh",
    "pause": "pause suspend freeze",
    "resume": "resume unpause continue",
    "enable": "enable activate",
    "disable": "disable deactivate",
    "create": "create mkdir generate add build touch make initialise initialize provision",
    "add": "add append insert attach schedule",
    "insert": "insert prepend add",
    "change": "change set modify update edit adjust alter configure tune assign chmod chown grant "
    "increase decrease convert replace substitute turn make give fix alias",
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
    "block": "block deny forbid reject refuse drop ban blacklist close",
    "open": "open",
    "close": "close",
    "lock": "lock",
    "unlock": "unlock",
    "encrypt": "encrypt",
    "decrypt": "decrypt",
    "sign": "sign",
    "keep": "keep retain preserve",
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
    "schedule": "schedule run",
    "drain": "drain cordon evict",
    "uncordon": "uncordon",
    "deploy": "deploy",
    "renew": "renew rotate",
    "commit": "commit",
    "checkout": "checkout",
    "format": "format",
    "sort": "sort",
    "mask": "mask",
    "unset": "unset disable clear remove",
    "unmask": "unmask",
}
VERBS: dict[str, frozenset[str]] = {
    verb: frozenset(name for name, verbs in _CLASSES.items() if verb in words(verbs))
    for verb in words(" ".join(_CLASSES.values()))
}

# Verbs of two words, as in "back up", "roll back", "shut down" or "make a directory".
PHRASAL_VERBS = {
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
