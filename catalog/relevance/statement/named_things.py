"""Determine what a word names from its context, as in "the nginx service" or "restart nginx"."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.relevance.statement.tokens import Token
from catalog.relevance.statement.vocabulary import STOP_WORDS, is_common, lemma, words

DIRECTORY_WORDS = words("directory directories folder folders dir dirs subdirectory hierarchy tree")

# Words next to a name that indicate what it names.
ROLES = {
    word: role
    for role, listed in {
        "service": "service unit daemon server",
        "package": "package library module",
        "user": "user account owner username login",
        "group": "group",
        "container": "container image",
        "pod": "pod deployment statefulset daemonset workload",
        "namespace": "namespace",
        "database": "database db schema table",
        "host": "host node machine hostname cluster",
        "branch": "branch tag",
        "interface": "interface device",
        "volume": "volume partition bucket",
        "process": "process job",
        "queue": "queue topic",
        "session": "session",
        "port": "port",
        "file": "file",
        "directory": "directory folder",
        "command": "command program tool utility",
    }.items()
    for word in words(listed)
}
_ROLE_OF_OBJECT = {
    **dict.fromkeys(words("restart start stop reload enable disable mask unmask"), "service"),
    **dict.fromkeys(words("install uninstall reinstall upgrade downgrade"), "package"),
    **dict.fromkeys(words("kill killall terminate"), "process"),
    **dict.fromkeys(words("ping traceroute drain cordon uncordon"), "host"),
}
# Ordinary words that are often names, too. They are treated as names next to a role.
_NAMELIKE = words(
    """
    main master develop default production staging prod test dev root admin system public
    release docker cron network ssh web staff mail syslog
    """
)
_NAMING = words("named called titled labelled labeled")
_VAGUE = words("file directory command")  # roles that also occur next to common words
_BEFORE_ROLE = words("on of in from to for the dump drop restore vacuum")
_BETWEEN = words("the a an named called name with is id our my")


def may_be_name(word: str, role: str) -> bool:
    """Return whether a lower-case word can be a name with this role."""
    if is_common(word):
        return role not in _VAGUE and word in _NAMELIKE
    return True


def may_intervene(word: str) -> bool:
    """Return whether a word may come between a preposition and its literal, as in "to the remote host X"."""
    return word not in ("and", "or", "then", "that", "which", "of", "in", "for", "with", "by")


def role_of(tokens: Sequence[Token], position: int) -> str:
    """Return the token's role, as indicated by the next word, a preceding word or a verb, or an empty string.

    >>> from catalog.relevance.statement.tokens import split_tokens
    >>> role_of(split_tokens("reload the nginx service"), 2)
    'service'
    """
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if after and not tokens[position].ends_clause and not after.is_quoted:
        role = ROLES.get(lemma(after.lower), "")
        if role and role not in _VAGUE:
            return role
    for back in range(position - 1, max(-1, position - 4), -1):
        before = tokens[back]
        if before.is_quoted or before.ends_clause:
            break
        word = before.lower
        if lemma(word) in ROLES:
            return ROLES[lemma(word)]
        if word in _ROLE_OF_OBJECT:
            return _ROLE_OF_OBJECT[word]
        if word == "by" and back and tokens[back - 1].lower in ("owned", "run", "started"):
            return "user"
        if word not in _BETWEEN:
            break
    return ""


def is_named(tokens: Sequence[Token], position: int) -> bool:
    """Return whether an ordinary word is used as a name, as in "named core" or "in database orders"."""
    word = tokens[position].lower
    if position == 0 or word in STOP_WORDS or tokens[position - 1].ends_clause:
        return False
    before = tokens[position - 1].lower
    if before in _NAMING:
        return lemma(word) != "pipe"
    return (
        position > 1
        and before in ("database", "namespace", "branch", "queue")
        and tokens[position - 2].lower in _BEFORE_ROLE
        and (position + 1 == len(tokens) or tokens[position + 1].lower in STOP_WORDS)
    )
