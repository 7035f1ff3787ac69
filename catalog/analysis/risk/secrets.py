"""Find passwords, tokens and keys in the text of a script. Messages never contain the secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from catalog.analysis.risk.effects import Effect
from catalog.analysis.secrets import IN_WORDS, find_secret_forms, find_secrets, is_placeholder
from catalog.analysis.secrets.value_tests import is_no_word
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span
from catalog.analysis.shell.program import Program
from catalog.analysis.tables import word_map
from catalog.analysis.types import Level

MAXIMUM_MASKED = 100_000  # characters; larger scripts are searched only for known forms

_SECRET_NAME = re.compile(
    r"(?i)(?:password|passwd|passphrase|secret|secret_?key|(?:^|_)(?:pass|pwd|token|api_?key"
    r"|access_?key|private_?key|credentials?))$"
)
# Letters and names of options whose value is a secret.
_PASSWORD_OPTIONS = {
    name: options.split("|") for name, options in word_map("password-options").items()
}
_ANY_LONG = ("password", "token", "secret", "api-key", "apikey", "access-key", "passphrase")


def find_script_secrets(program: Program) -> Iterator[Effect]:
    """Yield an effect for each secret in the script's commands, and for each other secret that is masked in prompts."""
    named = list(_find_named(program))
    yield from named
    lines = {effect.span.line for effect in named}
    text = program.unit.source.decode("utf-8", "replace")
    forms = set(find_secret_forms(text))
    position = start = 0
    for secret in find_secrets(text) if len(text) <= MAXIMUM_MASKED else sorted(forms):
        start += len(text[position : secret.start].encode())
        position = secret.start
        end = start + len(text[secret.start : secret.end].encode())
        span = Span(program.unit, start, end)
        if secret in forms or span.line not in lines:
            effect = _effect(span, f"contains a secret ({secret.kind})")
            # A sentence about passwords is masked in a prompt, but often contains no password.
            is_likely = secret.kind != IN_WORDS or is_no_word(text[secret.start : secret.end])
            yield effect if is_likely else replace(effect, level=Level.INFO)


def _find_named(program: Program) -> Iterator[Effect]:
    places = [(one, "contains the value of {}") for one in program.assignments]
    for command in program.commands:
        places += [(one, "passes {} on a command line") for one in command.assignments]
    for assignment, what in places:
        value = assignment.value
        if value and _SECRET_NAME.search(assignment.name) and _is_secret(value):
            yield _effect(assignment.span, what.format(assignment.name))
    for command in program.commands:
        yield from _in_command(command)


def _effect(span: Span, what: str) -> Effect:
    message = f"The script {what}. Anyone who sees the script or the process list can read it."
    return Effect("secrets", Level.WARNING, message, span)


def _is_secret(word: Word) -> bool:
    value = word.literal
    return (
        value is not None
        and len(value) >= 3
        and not value.startswith(("/", "~", "."))
        and not is_placeholder(value)
    )


def _in_command(command: Command) -> Iterator[Effect]:
    names = [*_PASSWORD_OPTIONS.get(command.name, ()), *_ANY_LONG]
    if command.name == "docker" and not command.has_option("login"):
        names.remove("p")  # `docker compose -p` names the project
    letters = "".join(name for name in names if len(name) == 1)
    arguments = read_arguments(command.arguments, short=letters, long=names)
    for option, value in arguments.options:
        if option in names and value is not None and _is_secret(value):
            yield _effect(value.span, f"passes a password or token to {command.name}")
    for word in command.arguments:
        text = word.literal or ""
        if command.name.startswith(("mysql", "mariadb")) and re.match(r"-p[^-\s]", text):
            yield _effect(word.span, f"passes a password to {command.name}")
        if command.name == "openssl" and re.match(r"pass:.", text) and _is_secret(word):
            yield _effect(word.span, "passes a password to openssl")
    if command.name == "curl":
        user = read_arguments(command.arguments, short="uHXdoAebm", long=("user",)).value(
            "u", "user"
        )
        if user is not None and re.fullmatch(r"[^:$]*:[^$]+", user.literal or ""):
            yield _effect(user.span, "passes a password to curl")
