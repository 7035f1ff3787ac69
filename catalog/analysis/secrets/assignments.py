"""Secrets that have a name: `password=`, `"token": `, a header, the parameter of an address."""

from __future__ import annotations

from catalog.analysis.secrets.context import (
    NAMES,
    ONE,
    PASSWORD,
    UUID,
    VALUE,
    in_kubernetes_secrets,
    in_text,
)
from catalog.analysis.secrets.value_tests import (
    is_given,
    is_of_chance,
    is_said,
    is_value,
    looks_like_a_password,
    looks_random,
    looks_random_and_no_sentence,
)

_KEY = (
    r"(?:api|access|private|preshared|account|secret|auth|master|encryption|signing|shared|storage|webhook|service"
    r"|client|app|application|hmac|validation|decryption|authentication)[_-]?key|erlang[_-]?cookie"
)
_NAME = (
    rf"(?i:(?<![\w${{/.-])(?![\w.-]{{0,30}}?(?:existing|loadcred|importcred))[\w.-]{{0,40}}?"
    rf"(?:{PASSWORD}|secret|token|credentials?|authtok|community|(?<![a-z])(?:pass|pwd|pw|psk)"
    rf"|(?-i:(?<=[a-z])(?:Pass|Pwd|Pw)|(?<![A-Z])[A-Z]{{2,12}}(?<!BY)(?<!COM)(?<!SUR)(?<!TRES)PASS(?![A-Z]))|(?:bind|root|user|db|admin)pw|{_KEY})"
    r"(?:[_-](?:base|data|value))?)"
)
_QUOTE = r"""(?:\\?["'])?\]?"""
_ASSIGNED = "assigned password or token"

ASSIGNMENTS = (
    in_text(
        _ASSIGNED,
        NAMES,
        rf"{_NAME}{_QUOTE}\s{{0,3}}(?:=|:=|=>)\s{{0,3}}(?:N(?='))?{VALUE}",
        is_value,
    ),
    # People write a colon without a secret behind it, too.
    in_text(
        _ASSIGNED,
        NAMES,
        rf"(?<!:){_NAME}{_QUOTE}\s{{0,3}}:\s{{0,3}}{VALUE}",
        looks_random_and_no_sentence,
    ),
    # ${DB_PASSWORD:-Blue7dog!}; secret || "Blue7dog!"
    in_text(
        _ASSIGNED,
        NAMES,
        rf"(?i)\$\{{[\w.-]{{0,40}}?(?:{PASSWORD}|pass|pwd|pw|secret|token|key):?[-=][\"']?([^\s}}\"'$]{{4,200}})[\"']?\}}",
        is_value,
    ),
    in_text(
        _ASSIGNED,
        NAMES,
        rf"{_NAME}{_QUOTE}\)?\s{{0,3}}(?:\|\||\?\?|or)\s{{0,3}}(?:\"([^\"\s$]{{4,200}})\"|'([^'\s$]{{4,200}})')",
        is_value,
    ),
    # name: DB_PASSWORD, value: Blue7dog!, as in the environment of a container
    in_text(
        _ASSIGNED,
        NAMES,
        rf"(?i)\bname[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?{_NAME}[\"']?\s{{0,3}},?\s{{0,40}}[\"']?value[\"']?"
        rf"\s{{0,3}}[:=]\s{{0,3}}{VALUE}",
        is_value,
    ),
    # A word alone behind it, as in a file of YAML.
    in_text(
        _ASSIGNED,
        "pass pasw kennwort pwd pw",
        rf"(?im)^[ \t-]*(?:[\w.-]{{1,40}}[_.-])?(?:{PASSWORD}|pass|pwd|pw):[ \t]+{ONE}[\"']?[ \t]*$",
        is_said,
    ),
    in_text(
        _ASSIGNED,
        "token secret",
        rf"(?i)\b(?:token|secret)s?\b(?:[^\n]{{0,40}}?[\"']?\s{{0,3}}[=:]|\s+(?:is|was))?\s{{0,3}}[\"'`]?({UUID})(?![\w-])",
    ),
    in_text(_ASSIGNED, "hook", r"(?i)hooks?/(?:[\w.-]{1,40}/){0,3}([\w-]{20,})", is_of_chance),
    in_text(
        _ASSIGNED,
        "routing integration license ingest instrumentation subscription",
        r"(?i)(?:routing|integration|license|ingest(?:ion)?|instrumentation|subscription)[_-]?key[\"']?\s{0,3}[:=]"
        r"\s{0,3}[\"']?([\w-]{20,})",
        is_of_chance,
    ),
    in_text(
        _ASSIGNED,
        "auth",
        r"""(?i)["']auth["']\s{0,3}:\s{0,3}["']([A-Za-z0-9+/=]{12,})""",
        looks_random,
    ),
    in_text(
        _ASSIGNED,
        NAMES,
        rf"(?i)<[\w.:-]{{0,40}}?(?:{PASSWORD}|secret|token|api-?key)>([^<$\s{{]{{4,}})</",
        is_value,
    ),
    in_text(
        _ASSIGNED,
        NAMES,
        rf"(?i)<\w{{0,40}}(?:{PASSWORD})>\s{{0,40}}<value>([^<$\s]{{4,200}})</value>",
        is_value,
    ),
    # if (secret != "Blue7dog!")
    in_text(
        _ASSIGNED,
        NAMES,
        rf"(?i)(?:{PASSWORD}|secret|token|api_?key)[\"'\])}}]{{0,3}}\s{{0,3}}(?:[!=]=|!?~)=?\s{{0,3}}"
        r"[\"']([^\s\"'$]{6,200})[\"']",
        looks_like_a_password,
    ),
    # define('DB_PASSWORD', 'Blue7dog!')
    in_text(
        _ASSIGNED,
        NAMES,
        rf"\(\s{{0,3}}[\"']{_NAME}[\"']\s{{0,3}},\s{{0,3}}(?:\"([^\"\s$]{{4,200}})\"|'([^'\s$]{{4,200}})')",
        looks_random,
    ),
    # A line of a configuration, whose name is put together: auth_pass tulips
    in_text(
        _ASSIGNED,
        "pass pw",
        rf"(?m)^[ \t]*(?:(?i:[\w.-]{{1,40}}[_.-](?:{PASSWORD}|pass|pw))|[A-Z_]{{2,40}}PASS|r[ow]community6?)"
        rf"[ \t]+{ONE}[\"']?[ \t]*;?$",
        is_said,
    ),
    in_text(
        _ASSIGNED,
        "auth",
        r"(?i)auth[\"']?\s{0,3}[=:]\s{0,3}[\"'][\w.@-]{1,60}:([^\s\"'$]{4,100})[\"']",
        is_value,
    ),
    in_text(_ASSIGNED, "secret", r"(?m)^[ \t]*secret[ \t]+\"([^\"\s$]{4,200})\";", is_value),
    in_text(
        _ASSIGNED,
        "password secret md5 key-string community",
        r"(?m)^[ \t]*(?:set[ \t]+)?"
        r"(?:neighbor|username|enable|tacacs-server|radius-server|snmp-server|snmp|ip|key-string)\b"
        rf"[^\n]{{0,120}}?(?:\s(?:password|secret|community|md5)(?:\s[0-9])?|key-string)\s+{ONE}",
        is_said,
    ),
    in_text(
        _ASSIGNED,
        "community",
        rf"(?i)\b(?:community(?:[- ]string)?|r[ow]community6?)\s+{ONE}",
        looks_like_a_password,
    ),
    in_text(
        _ASSIGNED,
        "-key",
        rf"(?i)\b(?:authentication|pre-?shared|shared)-key\s+(?:ascii-text\s+|hexadecimal\s+)?{VALUE}",
        looks_random,
    ),
    in_text(_ASSIGNED, "key", r"(?m)^[ \t]*(?:server-)?key\s+[0-9]\s+([0-9A-Fa-f]{8,200})[ \t]*$"),
    in_text(_ASSIGNED, "$9$", r"[\s\"'](\$9\$[\w./-]{8,})(?=[\s\"';]|$)"),
    # set psksecret tulips, of a firewall
    in_text(
        _ASSIGNED,
        "set",
        rf"(?m)^[ \t]*set[ \t]+(?:[\w-]{{0,20}}(?:passwd|secret)|psk|password(?=[ \t]+ENC\b))[ \t]+(?:ENC[ \t]+)?{ONE}"
        r"[\"']?[ \t]*$",
        is_given,
    ),
    in_text(_ASSIGNED, "createuser", rf"(?i)\bcreateUser\s+\S+\s+\S+\s+{VALUE}", is_value),
    in_text(
        _ASSIGNED, "createuser", rf"(?i)\bcreateUser\s+\S+\s+\S+\s+\S+\s+\S+\s+{VALUE}", is_value
    ),
    # A Secret of Kubernetes: all values of its data.
    in_text(
        _ASSIGNED,
        "kind",
        r"(?mi)^[ \t]+(?!(?:user(?:name)?|host(?:name)?|port|db|database|type|name):)[\w.-]+:[ \t]+[\"']?"
        r"([^\s\"'|>{$][^\s\"']{5,4000})[\"']?[ \t]*$",
        places=in_kubernetes_secrets,
    ),
    in_text("bearer token", "bearer", r"(?i)\bbearer\s{1,3}([\w+/=.~-]{16,})", looks_random),
    in_text(
        "access token",
        "authorization",
        r"(?i)\b(?:proxy-)?authorization:\s*(?:[a-z-]{2,20}\s+)?([\w+/=.~-]{16,})",
        looks_random,
    ),
    in_text(
        "key in an address",
        "?",
        r"(?i)[?&]u(?:ser(?:name)?)?=[^&\s]{1,60}&p=([^&\s\"']{4,60})",
        is_value,
    ),
    in_text(
        "key in an address",
        "?",
        r"(?i)[?&](?:sig|key|sign|[\w-]{0,20}signature|auth|code|apikey)=([\w%+/=~.-]{16,})",
        looks_random,
    ),
    in_text(
        "session cookie",
        "sess",
        r"(?i)(?<![a-z])[\w.-]{0,20}sess(?:ion)?(?:[_-]?(?:id|key|token))?=([\w%+/=.-]{16,})",
        looks_random,
    ),
)
