"""Passwords, tokens and keys that stand in the text of a script. Messages never repeat them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from catalog.analysis.risk.effects import Effect
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span
from catalog.analysis.shell.program import Program
from catalog.analysis.types import Level


class Secret(NamedTuple):
    """Where in a text a secret stands, and of what kind it is."""

    start: int
    end: int
    kind: str


_PRIVATE_KEY = "private key"
# What follows its first line: up to its last one, or where that was cut off what may be of the key.
_KEY_BODY = re.compile(
    r"(?s).{0,20000}?-----END (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|[\s\\A-Za-z0-9+/=]*"
)
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (_PRIVATE_KEY, r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
        ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("AWS secret key", r"(?i)\baws_?secret_?(?:access_?)?key\W{1,5}([A-Za-z0-9/+]{40})\b"),
        ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{50,255})\b"),
        ("GitLab token", r"\bglpat-[\w-]{20,}"),
        ("Slack token", r"\bxox[abeoprs]-[\w-]{10,}"),
        ("Slack webhook", r"\bhooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
        ("API key", r"\bsk-(?:ant-|proj-)?[\w-]{20,}"),
        ("Google API key", r"\bAIza[\w-]{35}\b"),
        ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("JSON web token", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
        ("password in an address", r"\b[a-z][a-z0-9+.-]{1,14}://[^\s/:@'\"$]*:([^\s/:@'\"$]+)@"),
        ("access token", r"(?i)\bauthorization:\s*(?:bearer|basic|token)\s+([\w+/=.~-]{8,})"),
    )
)
_SECRET_NAME = re.compile(
    r"(?i)(?:password|passwd|passphrase|secret|secret_?key|(?:^|_)(?:pass|pwd|token|api_?key"
    r"|access_?key|private_?key|credentials?))$"
)
_PLACEHOLDER = re.compile(
    r"(?i)change_?me|replace_?me|your[-_ ]?|example|placeholder|<.*>|\*{3,}|x{3,}|\.{3}|todo|dummy"
)
_PASSWORD_OPTIONS = {  # letters and names whose value is a secret
    "mysql": ("", "password"),
    "mysqldump": ("", "password"),
    "mysqladmin": ("", "password"),
    "mariadb": ("", "password"),
    "redis-cli": ("a", "pass"),
    "sshpass": ("p", ""),
    "curl": ("", "oauth2-bearer"),
    "wget": ("", "password"),
    "ldapsearch": ("w", ""),
    "docker": ("p", "password"),
    "zip": ("P", "password"),
    "rabbitmqadmin": ("p", "password"),
    "smbclient": ("", "password"),
    "mongo": ("p", "password"),
    "mongosh": ("p", "password"),
    "influx": ("", "password"),
}
_ANY_LONG = ("password", "token", "secret", "api-key", "apikey", "access-key", "passphrase")


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Secrets that are known by their form, in any text; offsets count characters."""
    found = {
        Secret(*(match.span(1) if match.re.groups else match.span()), kind)
        for kind, pattern in _PATTERNS
        for match in pattern.finditer(text)
        if not _PLACEHOLDER.search(match[match.re.groups][:200])
    }
    return tuple(sorted(found))


class Masked(NamedTuple):
    """A text without its secrets, and what was taken out."""

    text: str
    secrets: tuple[str, ...]  # kinds, in the order of the text


def mask_secrets(text: str) -> Masked:
    """The text with asterisks where secrets stood that are known by their form; of a private key all of it."""
    found = find_secrets(text)
    parts, shown_to = [], 0
    for secret in found:
        end = secret.end
        if secret.kind == _PRIVATE_KEY and (body := _KEY_BODY.match(text, end)):
            end = body.end()
        # One secret may be part of another: a token of a header, say.
        if secret.start >= shown_to:
            parts += [text[shown_to : secret.start], "***"]
        shown_to = max(shown_to, end)
    return Masked("".join([*parts, text[shown_to:]]), tuple(secret.kind for secret in found))


def find_script_secrets(program: Program) -> Iterator[Effect]:
    """Secrets by their form anywhere in the script, and by where they stand in its commands."""
    source = program.unit.source
    text = source.decode("utf-8", "replace")
    for secret in find_secrets(text):
        start = len(text[: secret.start].encode())
        end = start + len(text[secret.start : secret.end].encode())
        yield _effect(Span(program.unit, start, end), f"contains a secret ({secret.kind})")
    for assignment in program.assignments:
        if (
            assignment.value
            and _SECRET_NAME.search(assignment.name)
            and _is_secret(assignment.value)
        ):
            yield _effect(assignment.span, f"sets {assignment.name} to a value that all can read")
    for command in program.commands:
        yield from _in_command(command)


def _effect(span: Span, what: str) -> Effect:
    message = f"The script {what}; who sees the script or the list of processes has it."
    return Effect("secrets", Level.WARNING, message, span)


def _is_secret(word: Word) -> bool:
    value = word.literal
    return (
        value is not None
        and len(value) >= 3
        and not value.startswith(("/", "~", "."))
        and not _PLACEHOLDER.search(value[:200])
    )


def _in_command(command: Command) -> Iterator[Effect]:
    for assignment in command.assignments:
        if (
            assignment.value
            and _SECRET_NAME.search(assignment.name)
            and _is_secret(assignment.value)
        ):
            yield _effect(assignment.span, f"gives {assignment.name} on a command line")
    letters, name = _PASSWORD_OPTIONS.get(command.name, ("", ""))
    arguments = read_arguments(command.arguments, short=letters, long=(name, *_ANY_LONG))
    for option, value in arguments.options:
        is_secret_option = option in _ANY_LONG or (option and option in (name, *letters))
        if is_secret_option and value is not None and _is_secret(value):
            yield _effect(value.span, f"gives a password or token to {command.name}")
    for word in command.arguments:
        text = word.literal or ""
        if command.name.startswith(("mysql", "mariadb")) and re.match(r"-p[^-\s]", text):
            yield _effect(word.span, f"gives a password to {command.name}")
        if command.name == "openssl" and re.match(r"pass:.", text) and _is_secret(word):
            yield _effect(word.span, "gives a password to openssl")
    if command.name == "curl":
        user = read_arguments(command.arguments, short="uHXdoAebm", long=("user",)).value(
            "u", "user"
        )
        if user is not None and re.fullmatch(r"[^:$]*:[^$]+", user.literal or ""):
            yield _effect(user.span, "gives a password to curl")
