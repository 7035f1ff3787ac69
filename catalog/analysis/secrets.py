"""Finds passwords, tokens and keys in any text: their positions and kinds, and the text without them.

There are two kinds of signs: the form of a secret (`AKIA...`), and the words before it (`password=`), which are
used for texts only: what a script assigns is read from its syntax tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

MASK = "***"


class Secret(NamedTuple):
    """A secret in a text, by position and kind."""

    start: int
    end: int
    kind: str


class Masked(NamedTuple):
    """A text without its secrets, and the secrets that were removed."""

    text: str
    secrets: tuple[str, ...]  # kinds, in the order of the text


_PLACEHOLDER = re.compile(
    r"(?i)change_?me|replace_?me|your[-_ ]|\byour|example|placeholder|<.*>|\*{3,}|x{5,}|\bxxx|\.{3}"
    r"|\btodo\b|dummy"
)
# Words that may also stand in the name of what a secret is for.
_IN_NAMES = re.compile(r"(?i)your|example|placeholder|dummy")
_PARTS = re.compile(r"[-_.]")
_LEAST_RANDOM, _LEAST_TURNS = 8, 3
_PRIVATE_KEY = "private key"
# What follows its first line: up to its last one, or where that was cut off what may be of the key. A line of
# capitals alone is not part of it: it may be the fence of a prompt.
_KEY_BODY = re.compile(
    r"(?s).{0,20000}?-----END (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?!\n[A-Z_]+(?:\n|\Z))[\s\\A-Za-z0-9+/=])*"
)


def _compiled(*rows: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern)) for kind, pattern in rows)


_FORMS = _compiled(
    (_PRIVATE_KEY, r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("AWS secret key", r"(?i)\baws_?secret_?(?:access_?)?key\W{1,5}([A-Za-z0-9/+]{40})(?![\w/+])"),
    ("Azure key", r"(?i)\b(?:account|sharedaccess)key=([A-Za-z0-9+/]{30,}={0,2})"),
    ("DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    ("Docker token", r"\bdckr_pat_[\w-]{20,}"),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{50,255})\b"),
    ("GitLab token", r"\bglpat-[\w-]{20,}"),
    ("Google API key", r"\bAIza[\w-]{35}(?![\w-])"),
    ("Google access token", r"\bya29\.[\w-]{20,}"),
    ("Google client secret", r"\bGOCSPX-[\w-]{20,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", r"\bpypi-[\w-]{50,}"),
    ("SendGrid key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    ("Slack token", r"\bxox[abeoprs]-[\w-]{10,}"),
    ("Slack webhook", r"\bhooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
    ("Stripe key", r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    ("Vault token", r"\bhv[bs]\.[\w-]{20,}"),
    ("API key", r"\bsk-(?:ant-|proj-)?[\w-]{20,}"),
    ("JSON web token", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    (
        "password in an address",
        r"\b[a-z][a-z0-9+.-]{1,14}://[^\s/:@'\"$]*:([^\s/@'\"$][^\s/@'\"]*)@",
    ),
    ("access token", r"(?i)\bauthorization:\s*(?:bearer|basic|token)\s+([\w+/=.~-]{8,})"),
)

# A value as it is written: between quotes, which JSON may have escaped, or up to the next space or sign of the shell.
_VALUE = (
    r"""(?:"([^"\s$`](?:[^"\n`$]|\$(?!\()){2,400})"|'([^'\s$`](?:[^'\n`$]|\$(?!\()){2,400})'"""
    r"""|\\"([^"\s$`\\][^"\n`\\]{2,400})\\"|([^\s"'`;,&|<>(){}$\[=\\][^\s"'`;&|<>()]{2,400}))"""
)
_NAME = (
    r"(?i)(?<![\w${/.-])[\w.-]{0,40}?(?:passw(?:or)?d|passphrase|secret|token|credential"
    r"|(?<![a-z])(?:pass|pwd)|(?:api|access|private|account|secret|auth)[_-]?key)"
)
_QUOTE = r"""(?:\\?["'])?"""
_ASSIGNED = "assigned password or token"
_WORDS = _compiled(
    (_ASSIGNED, rf"{_NAME}{_QUOTE}\s{{0,3}}(?:=|:=|=>)\s{{0,3}}{_VALUE}"),
)
# Where people write the same words without a secret behind them, too: only a value that looks like one counts.
_LOOSE_WORDS = _compiled(
    (_ASSIGNED, rf"{_NAME}{_QUOTE}\s{{0,3}}:\s{{0,3}}{_VALUE}"),
    (
        "password in words",
        rf"(?i)\b(?:password|passphrase|token|api key|secret)\s+(?:is|was|of \S{{1,40}} is)\s+{_VALUE}",
    ),
    (
        "password on a command line",
        rf"(?i)(?<!\S)--(?:password|passphrase|token|secret|api-?key|access-key|oauth2-bearer)\s{{1,3}}{_VALUE}",
    ),
    (
        "password on a command line",
        rf"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{{0,200}}?\s-p{_VALUE}",
    ),
    ("password on a command line", rf"\bsshpass\s{{1,3}}-p\s{{0,3}}{_VALUE}"),
    (
        "password on a command line",
        r"\bcurl\b[^\n|;&]{0,200}?\s(?:-u|--user)[\s=]{1,3}[\"']?[^\s:\"'$]{1,80}:([^\s\"'$]{3,})",
    ),
    ("bearer token", r"(?i)\bbearer\s{1,3}([\w+/=.~-]{16,})"),
)
_NO_SECRETS = re.compile(
    r"(?i)(?:true|false|none|null|nil|yes|no|on|off|required|optional|prompt|stdin|string|file|env|empty|unset"
    r"|password|passwd|passphrase|secret|token|credentials?)(?![\w-])|[/~.%!?*@#-]"
)
_LEAST_REPEATED = 6  # characters of a value that is masked wherever it stands again


def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: `changeme`, `<token>`, `AKIA...EXAMPLE`.

    A word such as *example* makes none of it where a part beside it looks like chance: `prod-example-7f3a9c1b22`.
    """
    value = value[:200]
    if not _PLACEHOLDER.search(value):
        return False
    parts = _PARTS.split(value)
    if _PLACEHOLDER.search(_IN_NAMES.sub("", value)):
        return True
    return not any(_is_by_chance(part) for part in parts if not _IN_NAMES.search(part))


def _is_by_chance(part: str) -> bool:
    """Whether letters and digits take turns in it, as in no name with a number behind it."""
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(part))
    return len(part) >= _LEAST_RANDOM and turns >= _LEAST_TURNS


def find_secret_forms(text: str) -> tuple[Secret, ...]:
    """Secrets that are known by their form, in any text; offsets count characters."""
    return tuple(sorted(set(_matches(text, _FORMS))))


def find_secrets(text: str) -> tuple[Secret, ...]:
    """All secrets of a text, by their form or by the words before them; in order, none inside another."""
    found = [*_matches(text, _FORMS)]
    found += [one for one in _matches(text, _WORDS) if _is_value(text[one.start : one.end])]
    found += [
        one
        for one in _matches(text, _LOOSE_WORDS)
        if _is_value(value := text[one.start : one.end]) and _looks_random(value)
    ]
    return tuple(_apart(_whole_key(text, one) for one in found))


def _nothing(_value: str) -> bool:
    return False


def mask_secrets(
    text: str, *, known: Iterable[str] = (), spares: Callable[[str], bool] = _nothing
) -> Masked:
    """The text with asterisks where secrets stand; of a private key all of it.

    A value that is a secret in one place of the text is masked in the others, too, and so are those that are
    `known` to be secret from elsewhere. What it `spares` stays.
    """
    found = [one for one in find_secrets(text) if not spares(text[one.start : one.end])]
    values = {value: one.kind for one in found if _can_repeat(value := text[one.start : one.end])}
    values = {value: "a known secret" for value in known if _can_repeat(value)} | values
    if values:
        again = re.compile(
            "|".join(re.escape(one) for one in sorted(values, key=len, reverse=True))
        )
        found += [Secret(*match.span(), values[match[0]]) for match in again.finditer(text)]
    parts, shown_to, kinds = [], 0, []
    for secret in _apart(found):
        parts += [text[shown_to : secret.start], MASK]
        kinds.append(secret.kind)
        shown_to = secret.end
    return Masked("".join([*parts, text[shown_to:]]), tuple(kinds))


def secret_values(*texts: str) -> frozenset[str]:
    """The secrets themselves, if they can be isolated from the text."""
    return frozenset(
        value
        for text in texts
        for one in find_secrets(text)
        if _can_repeat(value := text[one.start : one.end])
    )


def _matches(text: str, patterns: tuple[tuple[str, re.Pattern[str]], ...]) -> Iterator[Secret]:
    for kind, pattern in patterns:
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            start, value = match.start(group), match[group].rstrip(",.:")  # those end a clause
            if not is_placeholder(value):
                yield Secret(start, start + len(value), kind)


def _whole_key(text: str, secret: Secret) -> Secret:
    body = _KEY_BODY.match(text, secret.end) if secret.kind == _PRIVATE_KEY else None
    return secret._replace(end=body.end()) if body else secret


def _apart(found: Iterable[Secret]) -> Iterator[Secret]:
    """Sorted; overlapping secrets are merged under the first one's kind."""
    last: Secret | None = None
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if last is not None and one.start < last.end:
            last = last._replace(end=max(last.end, one.end))
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def _is_value(value: str) -> bool:
    return len(value) >= 4 and not _NO_SECRETS.match(value)


def _looks_random(value: str) -> bool:
    """Whether it contains digits or punctuation, unlike a word of a sentence."""
    plain = value.rstrip(".,:!?")
    return len(plain) >= 6 and not plain.isalpha() and not plain.replace("-", "").isalpha()


def _can_repeat(value: str) -> bool:
    return len(value) >= _LEAST_REPEATED and _looks_random(value)
