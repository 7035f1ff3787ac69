"""Determine from a value alone whether it is a secret, such as a password or a token."""

from __future__ import annotations

import base64
import re
from itertools import pairwise

from catalog.analysis.tables import WORDS

COMMON_WORDS, _PARTS_OF_COMPOUNDS = WORDS["common"], WORDS["compounds"]

_PLACEHOLDER = re.compile(
    r"(?i)change_?me|replace_?me|your[-_ ]|\byour|example|placeholder|<.*>|\{\{|\*{3,}|x{5,}|\bxxx|\.{3}"
    r"|\btodo\b|dummy|redacted"
)
# Placeholder words that may also describe the purpose of a real secret.
_IN_NAMES = re.compile(r"(?i)your|example|placeholder|dummy")
_PARTS = re.compile(r"[-_.]")
_LEAST_RANDOM, _LEAST_TURNS = 8, 3
_NO_SECRETS = re.compile(
    r"(?i)(?:true|false|none|null|nil|yes|no|on|off|required|optional|prompt|stdin|string|file|env|empty|unset"
    r"|expired?|invalid|missing|revoked|on_create|always"
    r"|password|passwd|passphrase|secret|token|credentials?|(?:scram-)?sha-?\d{1,3})(?![\w-])|[/~.%!?*@#-]"
    # A reference in Terraform or in a program, or an Amazon resource name.
    r"|(?:var|local|data|module|each|self|random_\w+)\.[a-z_]+|(?:process\.env|os\.environ|system\.getenv)\b|arn:"
    # The name of a secret and not its value.
    r"|(?!(?:super|top|very|my|our)[-_])(?:[a-z]+[-_.]){1,6}"
    r"(?:secrets?|password|tokens?|keys?|credentials?|creds|cert|tls)(?![\w-])"
)
_LEAST_VALUE, _LEAST_PASSWORD = 4, 6
_LONG, _LONG_TURNS = 24, 5
_LEAST_ODD = 8
_LEAST_PHRASE = 4  # words
_LEAST_PARTS, _LEAST_PART = 2, 3
_HOST = re.compile(r"(?i)\.(?:com|corp|de|example|internal|io|lan|local|net|org)$")
_HUMPED = re.compile(r"(?:[A-Z][a-z]+){2,8}")
_HUMPS = re.compile(r"[A-Z][a-z]+")
_HARMLESS_TEXT = re.compile(
    r"[\w\s.,!?'-]+|-----BEGIN (?:CERT|PUBL)[\s\S]*"
    # Sentences, a page or a script: many words, and no word that introduces a secret.
    r"|(?=(?:\S{1,60}\s+){4})(?i:(?!pass|secret|token|key|cred|pwd|auth|\s-[pua]|://[^\s/]{0,99}@).)*",
    re.DOTALL,
)
_PRODUCT_KEY = re.compile(r"[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,}")
_KEY_OF_A_TABLE = re.compile(r"=(?!=?$)|#|\d{4}-\d\d-\d\d")
# A value of at least eight characters that has a letter and a digit and is not a file pattern.
_BEGINS_WITH_SIGN = re.compile(r"[!?@#%](?!\{)(?=.*[A-Za-z])(?=.*\d)[^*%]{7,200}")
_KEY_OF_BYTES = re.compile(r"[A-Za-z0-9+/]{30,}=*")
_FILE = re.compile(
    r"\S+\.(?:cfg|conf|crt|csv|gz|html?|ini|json|key|log|md|pem|py|service|sh|sock|sql|tar|tgz|tsv|txt|ya?ml|xml|zip)"
    r"|\S+/\S+\.[a-z]{2,5}|\w+://.*|[a-z]+\+\d|.*[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
)
_ISSUE = re.compile(r"[A-Za-z-]+#\d+")
_SIGN = re.compile(r"\w[!@#%^&*+~?]")
# A disk ID, a daily job, a UUID or an LVM volume.
_NAMES_OF_THINGS = re.compile(
    r"^(?:ata|nvme|scsi|usb|wwn|db)-|\d{4}-\d\d-\d\d|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
    r"|^\w{6}(?:-\w{4}){5}-\w{6}$"
)
_HEXADECIMAL = re.compile(r"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)")
_DIGIT_THEN_LETTER = re.compile(r"\d[a-z]")
_NAMES_WITH_DIGITS = re.compile(
    r"(?i)oauth2|s3|ec2|k8s|log4j|ipv?[46]|base64|route53|http2|i18n|l10n|x509|utf8|v\d+|(?<![a-z])0x|^\d\d?m"
)
_CLASSES = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", r"[^\w./:-]")))
# Values with digits that are not secrets: an amount, an address or a timestamp.
_AMOUNT = re.compile(
    r"\d[\d.,:/-]*[A-Za-z]{0,8}"  # 90days, 10.0.0.7, 2024-01-31, 30%
    r"|(?:SHA\d*|MD5):.*"  # a fingerprint
    r"|[\w.+-]+@[\w-]+\.[\w.-]+|[a-z][\w.+-]*@[a-z][a-z0-9.-]*"  # an email address, a user at a host
    r"|\d{4}-\d\d-\d\d.*|[0-9a-f]{2}(?::[0-9a-f]{2})+"  # a timestamp, a MAC address
)
# The values above, and a name with a number, a format or a cloud resource ID: app-tls-2024, db-7.internal, SHA-256.
_NO_PASSWORDS = re.compile(
    _AMOUNT.pattern + r"|(?:[a-z]{1,12}-){1,3}[0-9a-f]{8,17}"
    # A Pod, a kustomize name, a Gerrit change, an IPFS hash, a Windows error, a protocol response.
    r"|(?:[a-z]{2,20}-){1,6}[bcdfghkmt2456789]{10}"
    r"|(?:[a-z0-9]{1,20}-){1,6}[0-9a-f]{8,10}-[a-z0-9]{5}|I[0-9a-f]{40}|Qm[1-9A-HJ-NP-Za-km-z]{44}|0x[0-9A-Fa-f]{1,16}"
    r"|[A-Z]{2,6}-[A-Z]{2,6}\d-[A-Z][a-z]+"
    r"|(?:[a-z]+|\d{1,4})(?:[-_.:/](?:[a-z]+\d{0,3}|v?\d{1,4}))+|[A-Z]+(?:[-_.]\d{1,4})+"
    r"|(?i:sha|md|rsa|aes|ed|ecdsa|utf|base|oauth|ipv?|pkcs|argon|scrypt|bcrypt|ntlm\w*|p|x|tls|ssl|saml|http|step)"
    r"-?\d+\w{0,4}"
)


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder for a secret, such as `changeme`, `<token>`, `AKIA...EXAMPLE`.

    A value with a word such as *example* is not a placeholder if another part looks random, as in
    `prod-example-7f3a9c1b22`.
    """
    value = value[:200]
    if not _PLACEHOLDER.search(value):
        return False
    parts = _PARTS.split(value)
    if _PLACEHOLDER.search(_IN_NAMES.sub("", value)):
        return True
    return not any(_alternates(part) for part in parts if not _IN_NAMES.search(part))


def is_anything(_value: str) -> bool:
    """Return True. Used if the form alone identifies a secret."""
    return True


def is_value(value: str) -> bool:
    """Return whether the value can be a secret in a place where only secrets occur."""
    if len(value) < _LEAST_VALUE:
        return False
    return (
        not _NO_SECRETS.match(value)
        or _BEGINS_WITH_SIGN.fullmatch(value) is not None
        or _KEY_OF_BYTES.fullmatch(value) is not None
    )


def is_no_word(value: str) -> bool:
    """Return whether the value contains digits or punctuation, unlike a word of a sentence."""
    plain = value.rstrip(".,:!?")
    return (
        len(plain) >= _LEAST_PASSWORD
        and not plain.isalpha()
        and not plain.replace("-", "").isalpha()
    )


def looks_random(value: str) -> bool:
    """Return whether the value can be a secret and is not a word."""
    return is_value(value) and is_no_word(value)


def looks_random_and_is_no_sentence(value: str) -> bool:
    """Return whether the value can be a secret, is not a word and contains no common word."""
    return looks_random(value) and has_no_common_word(value)


def looks_like_a_password(value: str) -> bool:
    """Return whether the value looks like `Blue7dog!`, and not like a word, a name, an amount or an address."""
    plain = value.strip("*_`.,:!?)]}")  # remove Markdown and punctuation at the end of a clause
    if not looks_random(plain) or _NO_PASSWORDS.fullmatch(plain) or _FILE.fullmatch(plain):
        return False
    return count_classes(value) >= 2


def is_password_but_no_hash(value: str) -> bool:
    """Return whether the value looks like a password and is not a long hexadecimal number, such as a commit."""
    return looks_like_a_password(value) and not (
        len(value) >= _LONG and _HEXADECIMAL.fullmatch(value)
    )


def is_plausible_password(value: str) -> bool:
    """Return whether the value can be a password if it follows a password's name, unlike common words."""
    word = value.strip("*_`.,:!?)]}\"'").lower()
    return is_value(word) and not (
        word in COMMON_WORDS or _AMOUNT.fullmatch(word) or _FILE.fullmatch(word)
    )


def is_plausible_setting(value: str) -> bool:
    """Return whether the value can be a password in a setting, as any word or number except common words can."""
    return is_value(value) and value.lower() not in COMMON_WORDS and not _FILE.fullmatch(value)


def mixes_letters_and_digits(value: str) -> bool:
    """Return whether the value has capitals and a digit before a lowercase letter, and is not a known kind of name."""
    plain = _NAMES_WITH_DIGITS.sub("", value.strip("*_`.,:!?)]}"))
    return (
        len(plain) >= _LEAST_ODD
        and _DIGIT_THEN_LETTER.search(plain) is not None
        and any(one.isupper() for one in plain)
        and not _NO_PASSWORDS.fullmatch(plain)
        and not _FILE.fullmatch(plain)
    )


def is_user_and_password(value: str) -> bool:
    """Return whether the value is the base64 of `name:password`, as in HTTP basic authentication."""
    text = _decode(value)
    name, _colon, password = text.partition(":")
    return bool(name and password) and text.isprintable()


def is_private_key_in_base64(value: str) -> bool:
    """Return whether the value is base64 that begins with a private key's header, as in Kubernetes secrets."""
    return " PRIVATE KEY-" in _decode(_whole_groups("".join(value.split())[:64]))


def has_all_character_classes(value: str) -> bool:
    """Return whether the value has lowercase letters, capitals, digits and a symbol. Few strings except
    passwords do.
    """
    return (
        len(value) >= _LEAST_ODD
        and count_classes(value) == len(_CLASSES)
        and not _ISSUE.fullmatch(value)
        and not _FILE.fullmatch(value)
        and not _NO_PASSWORDS.fullmatch(value)
    )


def is_name_with_number(value: str) -> bool:
    """Return whether the value has lowercase letters, capitals and digits, as in `Summerwind88`."""
    return is_value(value) and all(one.search(value) for one in _CLASSES[:3])


def has_no_common_word(value: str) -> bool:
    """Return whether the value contains no word that is common in sentences."""
    return COMMON_WORDS.isdisjoint(value.lower().split())


def has_four_words(value: str) -> bool:
    """Return whether the value has at least four words."""
    return len(value.split()) >= _LEAST_PHRASE


def has_three_uncommon_words(value: str) -> bool:
    """Return whether the value has at least three words, and none of them is a common word."""
    return len(value.split()) >= _LEAST_PHRASE - 1 and has_no_common_word(value)


def looks_generated(value: str) -> bool:
    """Return whether the value is unlikely to be a name, because it mixes characters of many kinds."""
    if not looks_like_a_password(value):
        return False
    parts = _PARTS.split(value)
    return (
        count_classes(value) >= 3
        or any(map(_alternates, parts))
        or _PRODUCT_KEY.fullmatch(value) is not None
    )


def looks_generated_but_is_no_hash(value: str) -> bool:
    """Return whether the value looks generated, and is neither a hexadecimal number nor a table key."""
    return (
        looks_generated(value)
        and not _HEXADECIMAL.fullmatch(value)
        and not _KEY_OF_A_TABLE.search(value)
    )


def stands_out_in_a_sentence(value: str) -> bool:
    """Return whether the value looks generated, and is neither a hash nor a name of capitals and a number."""
    return (
        looks_generated(value)
        and not _HEXADECIMAL.fullmatch(value.replace("-", ""))
        and (_turns(value) >= _LEAST_TURNS or _SIGN.search(value) is not None)
    )


def is_compound_word(value: str) -> bool:
    """Return whether the value joins words that are not about passwords, as in `tulips-ferry` or `TulipsAndTea`.

    Users and password managers create such passwords. A value whose words contain characters other than letters is not
    a compound word.
    """
    plain = value.strip("*_`.,:!?)]}\"'")
    if not is_value(plain) or _FILE.fullmatch(plain) or _HOST.search(plain):
        return False
    parts = _HUMPS.findall(plain) if _HUMPED.fullmatch(plain) else _PARTS.split(plain)
    return (
        len(parts) >= _LEAST_PARTS
        and all(part.isalpha() for part in parts)
        and _PARTS_OF_COMPOUNDS.isdisjoint(map(str.lower, parts))
        and COMMON_WORDS.isdisjoint(part.lower() for part in parts if len(part) > _LEAST_PART)
        and (len(parts) > _LEAST_PARTS or min(map(len, parts)) >= _LEAST_PART)
    )


def is_phrase(value: str) -> bool:
    """Return whether the value is a password, or at least four words with separators, as in passphrases."""
    return looks_like_a_password(value) or len(_PARTS.split(value)) >= _LEAST_PHRASE


def is_long_and_random(value: str) -> bool:
    """Return whether the value looks like a token of an unlisted form: long, with lowercase letters, capitals and
    digits.

    Hexadecimal numbers are excluded, because digests, commits and identifiers look the same.
    """
    classes = [bool(one.search(value)) for one in _CLASSES[:3]]
    return (
        len(value) >= _LONG
        and all(classes)
        and _turns(value) >= _LONG_TURNS
        and not _NAMES_OF_THINGS.search(value)
        and not _is_text_in_base64(value)
    )


def count_classes(value: str) -> int:
    """Return the number of character classes in the value: lowercase letters, capitals, digits and symbols."""
    return sum(bool(one.search(value)) for one in _CLASSES)


def _alternates(part: str) -> bool:
    """Return whether letters and digits alternate often, unlike a name with a number at its end."""
    return len(part) >= _LEAST_RANDOM and _turns(part) >= _LEAST_TURNS


def _is_text_in_base64(value: str) -> bool:
    text = _decode(_whole_groups(value))
    return text.isascii() and _HARMLESS_TEXT.fullmatch(text) is not None


def _whole_groups(value: str) -> str:
    """Return the part of truncated base64 that can be decoded, which consists of whole groups of four characters."""
    return value[: len(value) // 4 * 4]


def _decode(value: str) -> str:
    """Return the text encoded in base64, or "" if the value is not base64."""
    try:
        return base64.b64decode(value, validate=True).decode()
    except ValueError:
        return ""


def _turns(text: str) -> int:
    return sum(a.isdigit() != b.isdigit() for a, b in pairwise(text))
