"""The vocabulary of the rules: ordinary English words of system administration, and possible names.

A word that is not an inflection of a word in `COMMON` may be the name of a service, a file or a person. Two statements
with different names are about different things.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


def words(text: str) -> frozenset[str]:
    """Return the words of a space-separated list."""
    return frozenset(text.split())


STOP_WORDS = words(
    """
    a an the this that these those of in on at by for to from into onto with within and or also as
    is are was were be been being it its they them their there which who whose what where how
    i me my we our you your he she his her do does did can could will would shall should may might
    must please want need like just then so such any all each every some only both either than
    if when while about via per up over under out off have has had having not no nor but too very
    inside through here one ones other others same given specified certain particular
    using use used way help us let get
    """
)

COMMON = STOP_WORDS | words(Path(__file__).with_name("common_words.txt").read_text("utf-8"))

NUMBER_WORDS: dict[str, float] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
    "thousand": 1000, "half": 0.5,
}  # fmt: skip

ORDINAL_WORDS: dict[str, float] = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip

_SECONDS = {
    "s sec secs second seconds": 1,
    "m min mins minute minutes": 60,
    "h hr hrs hour hours": 3600,
    "d day days": 86400,
    "w wk wks week weeks": 7 * 86400,
    "month months": 30 * 86400,
    "y yr yrs year years": 365 * 86400,
}
DURATION_UNITS = {unit: size for units, size in _SECONDS.items() for unit in units.split()}

# A kilobyte is 1024 bytes, as in find, du and df, whether it is written KB, kB or KiB.
_BYTES = {
    "b byte bytes": 1,
    "k kb kib kilobyte kilobytes kibibyte kibibytes kbyte kbytes": 1024,
    "m mb mib meg megs megabyte megabytes mebibyte mebibytes mbyte mbytes": 1024**2,
    "g gb gib gig gigs gigabyte gigabytes gibibyte gibibytes gbyte gbytes": 1024**3,
    "t tb tib terabyte terabytes tebibyte tebibytes": 1024**4,
}
SIZE_UNITS = {unit: size for units, size in _BYTES.items() for unit in units.split()}

FILE_TYPES = {
    word: word
    for word in words(
        """
        avi bak bmp bz2 c conf cpp csv css deb doc docx eml flac gif go gz h html htm ini iso jar
        java jpeg jpg js json log md mkv mov mp3 mp4 mpg ogg pdf php pl png ps ps1 py rar rb rpm
        rs rtf sh sql svg swp tar tex tgz tif tiff tmp toml ts tsv txt war wav wma xls xlsx xml
        xz yaml yml zip zst dat cfg cc hpp out class pem crt so o a
        """
    )
} | {"python": "py", "perl": "pl", "ruby": "rb", "markdown": "md", "javascript": "js"}

# Endings that make a dotted name a host name instead of a file name.
HOST_ENDINGS = words(
    """
    com org net io dev local internal lan corp edu gov info example test invalid intra prod uk de
    fr eu us nl ch at it es jp cn cloud app co
    """
)

_IRREGULAR = {
    "written": "write", "wrote": "write", "shown": "show", "given": "give", "taken": "take",
    "sent": "send", "kept": "keep", "held": "hold", "built": "build", "ran": "run", "lost": "lose",
    "chosen": "choose", "hidden": "hidden", "found": "find", "made": "make", "went": "go",
    "children": "child", "indices": "index", "matches": "match", "bigger": "large",
    "biggest": "large", "larger": "large", "largest": "large", "busy": "busy", "data": "data",
    "process": "process", "processes": "process", "status": "status", "access": "access",
    "addresses": "address", "left": "left", "does": "do", "has": "have", "ids": "id",
}  # fmt: skip


@lru_cache(maxsize=4096)
def lemma(word: str) -> str:
    """Return the base form of a known lower-case word, or an unknown word without its plural s.

    >>> lemma("directories"), lemma("stopped"), lemma("removing"), lemma("pods")
    ('directory', 'stop', 'remove', 'pod')
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in COMMON and not word.endswith(("ed", "ing", "s")):
        return word
    for base in _bases(word):
        if base in COMMON:
            return base
    if word in COMMON or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    return word.removesuffix("s")


def _bases(word: str) -> list[str]:
    bases = []
    for ending, instead in (
        ("ies", "y"), ("es", "e"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""),
        ("ing", "e"), ("ing", ""), ("ally", ""), ("ly", ""), ("ly", "e"), ("'s", ""),
    ):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            base = word[: -len(ending)] + instead
            bases.append(base)
            if not instead and len(base) > 3 and base[-1] == base[-2]:
                bases.append(base[:-1])
    return bases


def is_common(word: str) -> bool:
    """Return whether a lower-case word or its base form is an ordinary English word, not a name."""
    if word in COMMON or lemma(word) in COMMON or word.endswith(("n't", "n’t", "'s", "’s")):
        return True
    if word.endswith("ly") and len(word) > 5:
        return True
    for prefix in ("non", "sub", "un", "re", "pre", "over"):
        rest = word.removeprefix(prefix)
        if rest != word and len(rest) > 2 and (rest in COMMON or lemma(rest) in COMMON):
            return True
    return False
