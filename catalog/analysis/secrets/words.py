"""Secrets in words: after a name and a sign (`password=`), and in the sentences that people write."""

from __future__ import annotations

from catalog.analysis.secrets.context import ONE, PASSWORD, VALUE, in_text
from catalog.analysis.secrets.value_tests import (
    is_a_phrase,
    is_like_no_word,
    is_long_and_random,
    is_of_chance,
    is_of_chance_and_no_digest,
    is_of_words,
    is_value,
    looks_like_a_password,
    looks_random,
)

# One of them is in every name of a secret.
_NAMES = (
    "pass pasw secret token credential key kennwort pwd pw psk mdp contrase senha community authtok"
)
_KEY = (
    r"(?:api|access|private|preshared|account|secret|auth|master|encryption|signing|shared|storage|webhook|service"
    r"|client|app|application)[_-]?key"
)
_NAME = (
    rf"(?i:(?<![\w${{/.-])(?!existing|loadcred|importcred)[\w.-]{{0,40}}?(?:{PASSWORD}|secret|token|credential|authtok"
    rf"|(?<![a-z])(?:pass|pwd|pw|psk)|{_KEY})(?:[_-](?:base|data|value))?)"
)
_QUOTE = r"""(?:\\?["'])?"""
_ASSIGNED = "assigned password or token"

NAMED = (
    in_text(
        _ASSIGNED,
        _NAMES,
        rf"{_NAME}{_QUOTE}\s{{0,3}}(?:=|:=|=>)\s{{0,3}}(?:N(?='))?{VALUE}",
        is_value,
    ),
    # People write a colon without a secret behind it, too.
    in_text(_ASSIGNED, _NAMES, rf"(?<!:){_NAME}{_QUOTE}\s{{0,3}}:\s{{0,3}}{VALUE}", looks_random),
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
        _NAMES,
        rf"(?i)<[\w.:-]{{0,40}}?(?:{PASSWORD}|secret|token|api-?key)>([^<$\s{{]{{4,}})</",
        is_value,
    ),
    # define('DB_PASSWORD', 'Blue7dog!')
    in_text(
        _ASSIGNED,
        _NAMES,
        rf"{_NAME}[\"']\s{{0,3}},\s{{0,3}}(?:\"([^\"\s$]{{4,200}})\"|'([^'\s$]{{4,200}})')",
        looks_random,
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

# --- In sentences -------------------------------------------------------------------------------------------------

_SPOKEN = "password in words"
_SAID = rf"(?i:(?<![\w/.-])(?:{PASSWORD}|(?:store|key)?pass|pwd|pw|psk|(?:api|access|secret|auth)[ _-](?:key|token)))"
_ANY_SAID = rf"(?:{_SAID}|(?i:(?<![\w/.-])(?:token|secret|credentials?|key|community)))"
_MORE = r"(?:,?\s+[\w@.'’/-]{1,40})"  # one more word
# A digit or a sign is in what comes: else the words go on.
_LIKELY = r"(?=[\"'(]?[^\s\"']{0,100}?[\d!@#%^&*_+=?~])"
_IS = (
    r"(?:is|was|are|will be|to be|should be|became|now|says|reads|remains|(?:re)?set to|changed to"
    r"|lautet|ist|war|est|es)"
    r"(?:\s+(?:now|still|re)?\s?(?:set|changed|reset)?(?:\s?to)?)?"
)
_NEARBY = "pass pasw pw auth secret cred psk kennwort luks keystore"
_NEAR = rf"(?i:\b(?:{PASSWORD}|pass|pw|psk|shared secret|credentials?|creds|auth string|luks|keystore)\b)"
_ODD = (
    r"(?:(?<![^\s(\[\"'`“]))(?=[^\s]{0,60}(?:[0-9][^\s]*[A-Za-z][^\s]*[0-9]|[A-Za-z0-9][!@#%^&*+~?][A-Za-z0-9]))"
    r"([A-Za-z0-9!@#%^&*+~?][\w!@#%^&*+~?.,:-]{5,60})(?![\w/=(\[$\\])"
)
_FIRST = rf"(?<!\S)[(\[]?{_LIKELY}{ONE}[\"'`”’]?"
_AFTER = (
    r"(?i:(?:the|a|an|its|our)\s+(?:[\w-]{1,30}\s+){0,4}?"
    rf"(?:{PASSWORD}|secret|(?:api |access )?(?:token|key))\b)"
)
SENTENCES = (
    in_text(
        _SPOKEN,
        _NAMES,
        rf"(?i)\b(?:{PASSWORD}|token|api key|secret)\s+(?:is|was|of \S{{1,40}} is)\s+{VALUE}",
        looks_random,
    ),
    # The password Blue7dog!; the password of the user app is Blue7dog!; set the password of app to Blue7dog!
    in_text(
        _SPOKEN,
        _NAMES,
        rf"{_SAID}\s+(?:(?:=|enter|type|use|try|currently|namely|just)\s+)?[(\[]?{_LIKELY}{ONE}",
        looks_like_a_password,
    ),
    in_text(_SPOKEN, _NAMES, rf"{_SAID}\s+of\s+{_LIKELY}{ONE}", is_of_chance),
    in_text(_SPOKEN, _NAMES, rf"{_SAID}{_MORE}{{0,6}}?,?\s+{_IS}:?\s+{_LIKELY}{ONE}", looks_random),
    in_text(
        _SPOKEN,
        _NAMES,
        rf"{_ANY_SAID}{_MORE}{{0,6}}?,?\s+{_IS}:?\s+{_LIKELY}{ONE}",
        looks_like_a_password,
    ),
    in_text(_SPOKEN, _NAMES, rf"{_SAID}{_MORE}{{1,6}}?:\s+{ONE}", is_a_phrase),
    in_text(
        _SPOKEN,
        _NAMES,
        rf"{_SAID}[^\n]{{0,60}}?\s{_IS}:?\s+[\"'`“‘]([^\s\"'`”’]{{8,200}})",
        is_a_phrase,
    ),
    # Blue7dog! as the new password; Blue7dog!, which is the new password
    in_text(_SPOKEN, _NAMES, rf"{_FIRST},?\s+as\s+{_AFTER}", looks_random),
    in_text(
        _SPOKEN, _NAMES, rf"{_FIRST},?\s+(?:which\s+)?(?:is|was)\s+{_AFTER}", looks_like_a_password
    ),
    # auth_pass Blue7dog!, alone in its line
    in_text(
        _SPOKEN,
        _NAMES,
        rf"(?im)^[ \t]*[\w.-]{{0,40}}?(?:{PASSWORD}|pass|psk|secret|token|community)[ \t]+{ONE}[\"']?[ \t]*;?$",
        looks_like_a_password,
    ),
    in_text(
        _SPOKEN,
        _NAMES,
        r"(?i)\b(?:re)?(?:set|change|changed|rotate|update|reset)\s+(?:\S{1,40}\s+){0,3}?"
        rf"(?:{PASSWORD}|pass|pwd|pw)(?:\s+[\w@.'’/-]{{1,40}}){{0,6}}?\s+(?:to|as)\s+{_LIKELY}{ONE}",
        looks_like_a_password,
    ),
    in_text(
        _SPOKEN, "set", rf"(?i)\b(?:re)?set\s+(?:it|this|them)\s+to\s+{_LIKELY}{ONE}", is_of_chance
    ),
    in_text(
        _SPOKEN,
        "token secret",
        rf"(?i)(?<![\w/.-])(?:token|secret):?\s+{_LIKELY}{ONE}",
        is_of_chance,
    ),
    in_text(
        _SPOKEN,
        "key",
        rf"(?i)(?<![\w/.-])key(?:\s+\d{{1,2}})?:?\s+{_LIKELY}{ONE}",
        is_of_chance_and_no_digest,
    ),
    in_text(_SPOKEN, _NAMES, rf"(?i)\b(?:secret|password)\s+[05678]\s+{ONE}", is_value),
    in_text(_SPOKEN, "pin", r"\bPIN(?: code)?(?:,? (?:is|enter)|:)?\s+(\d{4,10})\b", is_value),
    in_text(
        _SPOKEN,
        "code",
        r"(?i)\b(?:recovery|backup|scratch|one-time|verification|2fa|mfa|otp) codes?(?:\s+(?:is|are)|:)?\s+"
        rf"{_LIKELY}{ONE}",
        looks_random,
    ),
    in_text(
        _SPOKEN,
        "passphrase",
        rf"(?i)\bpassphrase\b[^\n]{{0,60}}?\s{_IS}:?\s+[\"“]([^\"“”\n]{{8,120}})",
        is_of_words,
    ),
    # What nobody would take for a word, near the word.
    in_text(_SPOKEN, _NEARBY, rf"{_NEAR}[^\n]{{0,100}}?{_ODD}", is_like_no_word),
    in_text(_SPOKEN, _NEARBY, rf"{_ODD}(?=[^\n]{{0,100}}?{_NEAR})", is_like_no_word),
    # Credentials: admin / Blue7dog!; log in with admin and Blue7dog!; use admin:Blue7dog!
    in_text(
        _SPOKEN,
        "cred log sign account user zugangsdaten identifiant",
        r"(?i)\b(?:credentials?|creds|log ?in|sign ?in|account|user(?:name)?|zugangsdaten|identifiants?)\b[^\n]{0,40}?"
        rf"[ (][\w.@-]{{1,60}} ?[/:] ?{_LIKELY}{ONE}",
        is_of_chance,
    ),
    in_text(
        _SPOKEN,
        "cred log zugangsdaten",
        rf"(?i)\b(?:credentials?|creds|log ?in|zugangsdaten)\b[^\n]{{0,40}}?\s(?:is|are|was|were|sind|sont)\s+"
        rf"[\w.@-]{{1,60}}\s*(?:and|und|et|/|:)\s*{_LIKELY}{ONE}",
        looks_random,
    ),
    in_text(
        _SPOKEN,
        "log sign connect melde",
        r"(?i)\b(?:log(?:ged|ging)? ?(?:in|on)|sign(?:ed|ing)? ?in|connect(?:ed)?|melde)\b[^\n]{0,40}?"
        rf"\b(?:with|as|using|mit|als)\s+[\w.@-]{{1,60}}\s+(?:and|with|using|und|et)\s+{_LIKELY}{ONE}",
        is_of_chance,
    ),
    in_text(
        _SPOKEN,
        "root admin sa postgres oracle operator guest",
        rf"(?i)(?<![\w/.:-])(?:root|admin\w*|sa|postgres|oracle|operator|guest) ?[/:] ?{ONE}",
        is_of_chance,
    ),
)

UNNAMED = (
    in_text(
        "long random string",
        "0 1 2 3 4 5 6 7 8 9",
        r"(?<![\w/+.:-])(?<!verification=)(?!AAAA|MII|sha\d{3}-)([\w+-]{24,400}={0,2})(?![\w/+=])",
        is_long_and_random,
    ),
)
"""What no word tells: tokens of makers that have no row among the forms."""
