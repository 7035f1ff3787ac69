"""Classify a single token by its form, without context, for example as a path, a URL or a size."""

from __future__ import annotations

import re
from enum import StrEnum

from catalog.relevance.statement.vocabulary import (
    DURATION_UNITS,
    FILE_TYPES,
    HOST_ENDINGS,
    SIZE_UNITS,
    is_common,
)


class Kind(StrEnum):
    """The kind of a literal. Only literals of the same family are compared."""

    PATH = "path"
    GLOB = "glob"
    TEXT = "text"  # quoted words
    NAME = "name"  # a service, user or package, or a word that is not ordinary English
    VARIABLE = "variable"
    HOST = "host"
    ADDRESS = "address"  # IP, with prefix length or port
    URL = "url"
    EMAIL = "email"
    DATE = "date"  # or a time of day
    MODE = "mode"  # permissions: 644, u+x
    NUMBER = "number"
    PORT = "port"
    PERCENT = "percent"
    DURATION = "duration"  # in seconds
    SIZE = "size"  # in bytes

    @property
    def family(self) -> str:
        """Return the family. Kinds of a family are interchangeable. For example, a port may be read as a number."""
        if self in (Kind.NUMBER, Kind.PORT, Kind.MODE):
            return "number"
        if self in (Kind.PERCENT, Kind.DURATION, Kind.SIZE):
            return self.value
        return "name"


_LONGEST = 300  # characters of a token; longer tokens are compared as text

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://\S+", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ADDRESS = re.compile(
    r"(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2}|:\d{1,5})?"
    r"|(?=[0-9a-f:]*[0-9a-f]:)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:/\d{1,3})?",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:T[\d:.Z+-]+)?|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}"
    r"|\d{1,2}:\d{2}(?::\d{2})?"
)
_MODE = re.compile(r"[ugoa]{0,4}[+=-][rwxXst]{1,6}|[ugoa]{1,4}=")
_LISTED_MODE = re.compile(r"[-d]?((?:[r-][w-][xsStT-]){3})")
_VARIABLE = re.compile(r"\$\w+|\$\{\w+\}")
_HOME = re.compile(r"\$(?:HOME\b|\{HOME\})")
_PATH = re.compile(r"(?:~[\w.-]*|\.{1,2}|\$\w+|\$\{\w+\})?(?:/[^/\s]*)+|~|\.{1,2}")
_RELATIVE = re.compile(r"[\w.@+{}$*?\[\]-]+(?:/[\w.@+{}$*?\[\]-]*)+")
_GLOB = re.compile(r"[^\s?]*[*][^\s]*|[^\s?*]*\[[^\]\s]+\][^\s]*|[\w.*-]*\?[\w.*?-]+")
_FILE = re.compile(r"[\w@+-][\w@+.-]*\.([A-Za-z][A-Za-z0-9_]{0,9})")
_DOTTED = re.compile(r"\.[A-Za-z][\w.-]*")
_HOST = re.compile(r"(?:[\w-]+\.)+([A-Za-z]{2,10})(?::\d{2,5})?")
_MEASURE = re.compile(r"([+-]?\d[\d,]{0,20}(?:\.\d{1,9})?)-?(%|[A-Za-z]{1,9})?")
_IDENTIFIER = re.compile(r"[\w.@:+-]*(?:\d|_|[a-z][A-Z])[\w.@:+-]*")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")


def classify(text: str) -> tuple[Kind, str] | None:
    """Return the kind and comparable value of a token, or None if its form is not distinctive.

    For plain numbers and measures without a space ("10MB", "2h", "5%"), call `read_measure`.
    """
    if len(text) > _LONGEST:
        return Kind.TEXT, text
    if _URL.fullmatch(text):
        return Kind.URL, text.rstrip("/")
    if _EMAIL.fullmatch(text):
        return Kind.EMAIL, text.lower()
    if _DATE.fullmatch(text):
        return Kind.DATE, text
    if _ADDRESS.fullmatch(text):
        return Kind.ADDRESS, text.lower()
    if mode := read_mode(text):
        return Kind.MODE, mode
    if _VARIABLE.fullmatch(text) and not _HOME.fullmatch(text):
        return Kind.VARIABLE, text.replace("{", "").replace("}", "")
    return _classify_file(text)


def _classify_file(text: str) -> tuple[Kind, str] | None:
    if _GLOB.fullmatch(text):
        return Kind.GLOB, normalise_path(text) if "/" in text else text
    if _PATH.fullmatch(text) or _HOME.match(text):
        return Kind.PATH, normalise_path(text)
    if _RELATIVE.fullmatch(text) and not _is_slashed_words(text):
        return Kind.PATH, normalise_path(text)
    host = _HOST.fullmatch(text)
    if host and host[1].lower() in HOST_ENDINGS and host[1].lower() not in FILE_TYPES:
        return Kind.HOST, text.lower()
    if _FILE.fullmatch(text) and not _is_abbreviation(text):
        return Kind.PATH, text
    if _DOTTED.fullmatch(text):
        return Kind.PATH, text
    return None


def normalise_path(text: str) -> str:
    """Normalize a path: no leading `./`, no trailing `/`, and `~` for the home directory.

    >>> normalise_path("./a//b/"), normalise_path("$HOME/x"), normalise_path("//")
    ('a/b', '~/x', '/')
    """
    text = _HOME.sub("~", text)
    text = re.sub(r"/+(?:\./+)*", "/", text)
    if len(text) > 2:
        text = text.removeprefix("./")
    return text if text == "/" else text.rstrip("/").removesuffix("/.") or "/"


def read_mode(text: str) -> str | None:
    """Return a permission mode in `chmod` notation, or None. The notation of `ls` is converted to octal."""
    if _MODE.fullmatch(text):
        return text
    listed = _LISTED_MODE.fullmatch(text)
    if listed is None or text.strip("-") == "":
        return None
    bits = "".join("0" if letter == "-" else "1" for letter in listed[1])
    return f"{int(bits, 2):o}"


def read_measure(text: str) -> tuple[float, str] | None:
    """Return the number and the lower-case unit of a measure such as "10", "1,000", "10MB", "30-day" or "5%".

    The unit may be "%" or empty. An upper-case M, as in "10M", means "mb", because minutes are written in lower case.
    """
    match = _MEASURE.fullmatch(text)
    if match is None:
        return None
    unit = match[2] or ""
    if unit in ("st", "nd", "rd", "th"):
        unit = ""
    known = unit in ("", "%", "M") or unit.lower() in DURATION_UNITS or unit.lower() in SIZE_UNITS
    if not known:
        return None
    return float(match[1].replace(",", "")), "mb" if unit == "M" else unit.lower()


def is_identifier(text: str) -> bool:
    """Return whether the text has a digit, an underscore or an inner capital, as in file1, my_app or fooBar."""
    return _IDENTIFIER.fullmatch(text) is not None and any(map(str.isalpha, text))


def is_option(text: str) -> bool:
    """Return whether the text looks like a command-line option, such as -r or --force."""
    return _OPTION.fullmatch(text) is not None


def is_extension(text: str) -> bool:
    """Return whether the text is a dot followed by a known file type, as in ".txt"."""
    return text.startswith(".") and text[1:].lower() in FILE_TYPES


def _is_slashed_words(text: str) -> bool:
    """Return whether the text consists of ordinary words, such as and/or. Paths such as src/main and dir/ do not."""
    if text.endswith("/"):
        return False
    return all(is_common(part.lower()) for part in re.split(r"[/-]", text) if part)


def _is_abbreviation(text: str) -> bool:
    return text.lower() in ("e.g", "i.e", "a.m", "p.m", "vs", "etc") or all(
        len(part) == 1 for part in text.split(".")
    )
