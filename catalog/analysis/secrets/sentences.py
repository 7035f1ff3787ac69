"""Secrets in the sentences that people write: after what they call it, and near what they say of users."""

from __future__ import annotations

from catalog.analysis.secrets.context import NAMES, ONE, PASSWORD, UUID, VALUE, in_text, near
from catalog.analysis.secrets.value_tests import (
    are_no_common_words,
    is_a_name_with_number,
    is_a_phrase,
    is_given,
    is_like_no_word,
    is_odd,
    is_of_all_classes,
    is_of_chance,
    is_of_chance_and_no_digest,
    is_of_three_words,
    is_of_words,
    is_put_together,
    is_said,
    is_told,
    is_value,
    looks_like_a_password,
    looks_random,
)

SPOKEN = _SPOKEN = "password in words"
_SAID = (
    rf"(?i:(?<![\w/.-])(?:{PASSWORD}|(?:store|key)?pass|pwd|pw|psk|(?:api|access|secret|auth)[ _-](?:key|token))"
    # German puts words together: Root-Passwort, Truststore-Kennwort
    r"|(?<![\w/.-])[\wÄÖÜäöüß][\wÄÖÜäöüß-]{1,40}?(?:passwort|kennwort))"
)
_A_PASSWORD = rf"(?i:(?<![\w/.-])(?:{PASSWORD}|pwd|pw|psk)\b)"
_ANY_SAID = rf"(?:{_SAID}|(?i:(?<![\w/.-])(?:token|secret|credentials?|key|community)))"
_MORE = r"(?:,?\s+[\w@.'’/-]{1,40})"  # one more word
# A digit or a sign is in what comes: else the words go on.
_LIKELY = r"(?=[\"'(]?[^\s\"']{0,100}?[\d!@#%^&*_+=?~])"
_IS = (
    r"(?:is|was|are|will be|to be|should be|became|now|says|reads|remains|(?:re)?set to|changed to"
    r"|being|lautet|ist|war|est|es)"
    r"(?:\s+(?:now|still|re|maintenant|ahora|jetzt)?\s?(?:set|changed|reset)?(?:\s?to)?)?"
)
_NEARBY = "pass pasw pw auth secret cred psk kennwort contrase clave luks keystore"
_NEAR = rf"(?i:\b(?:{PASSWORD}|pass|pw|psk|shared secret|credentials?|creds|auth string|luks|keystore)\b)"
_NEAR_SAID = rf"(?i:\b(?:{PASSWORD}|pass|pw|psk|(?:[a-z]{{2,10}} )?(?:key|token)|secret)\b)"
_OF_USERS = (
    "log sign user root admin account cred prompt mail wifi wi-fi reset unlock connect benutzer konto meld"
    " compte utilisateur usuario cuenta conect"
)
_NEAR_USERS = (
    r"(?i:\b(?:log(?:ged|ging|s)? ?(?:in|on|ins)|signed? in|users?|root|admin|username|accounts?|creds"
    r"|credentials?|prompt\w*|mailbox|webmail|wi-?fi|reset|unlock\w*|connect\w*|benutzer\w*|konto|ange?meld\w*|comptes?"
    rf"|utilisateurs?|usuarios?|cuentas?|conect\w*|{PASSWORD}|pass|pw|pwd)\b)"
)
_ODD = (
    r"(?:(?<![^\s(\[\"'`“]))(?=[^\s]{0,60}(?:[0-9][^\s]*[A-Za-z][^\s]*[0-9]|[A-Za-z0-9][!@#%^&*+~?][A-Za-z0-9]))"
    r"([A-Za-z0-9!@#%^&*+~?][\w!@#%^&*+~?.,:-]{5,60})(?![\w/=(\[$\\])"
)
_TOKEN = r"(?<![^\s(\[\"'`“«])([A-Za-z0-9!@#%^&*+~?][\w!@#%^&*+~?.,:-]{6,60})(?![\w/=(\[$\\])"
_USER = (
    r"(?:user(?:name)?|login|account|benutzer(?:name|in)?|konto|utilisateur|compte|identifiant|usuario|cuenta)"
    r"\s+[\"'`]?[\w.@\\-]{1,60}[\"'`]?"
)
_FIRST = rf"(?<!\S)[(\[]?{_LIKELY}{ONE}[\"'`”’]?"
_AFTER = (
    r"(?i:(?:the|a|an|its|our)\s+(?:[\w-]{1,30}\s+){0,4}?"
    rf"(?:{PASSWORD}|secret|(?:api |access )?(?:token|key))\b)"
)
SENTENCES = (
    in_text(
        _SPOKEN,
        NAMES,
        rf"(?i)(?<!wrong )(?<!bad )(?<!invalid )\b(?:{PASSWORD}|token|api key|secret)\s+"
        rf"(?:is|was|of \S{{1,40}} is)\s+{VALUE}",
        looks_random,
    ),
    # The password Blue7dog!; the password of the user app is Blue7dog!; set the password of app to Blue7dog!
    in_text(
        _SPOKEN,
        NAMES,
        rf"{_SAID}[ \t]+(?:(?:=|enter|type|use|try|currently|namely|just|(?i:we|you|they|he|she|i)\s\w+)\s+)?[(\[]?"
        rf"{_LIKELY}{ONE}",
        looks_like_a_password,
    ),
    in_text(_SPOKEN, NAMES, rf"{_SAID}\s+of\s+{_LIKELY}{ONE}", is_of_chance),
    in_text(_SPOKEN, NAMES, rf"{_SAID}{_MORE}{{0,8}}?,?\s+{_IS}:?\s+{_LIKELY}{ONE}", looks_random),
    in_text(
        _SPOKEN,
        NAMES,
        rf"{_ANY_SAID}{_MORE}{{0,6}}?,?\s+{_IS}:?\s+{_LIKELY}{ONE}",
        looks_like_a_password,
    ),
    in_text(_SPOKEN, NAMES, rf"{_SAID}{_MORE}{{0,8}}?:\s+{ONE}", is_a_phrase),
    in_text(
        _SPOKEN,
        NAMES,
        rf"{_SAID}[^\n]{{0,60}}?\s{_IS}:?\s+[\"'`“‘«]\s?([^\s\"'`”’»]{{8,200}})",
        is_a_phrase,
    ),
    # The password was never changed, it is still Blue7dog!; this takes an API key, mine is ...; type Blue7dog! there
    in_text(
        _SPOKEN,
        NAMES,
        r"(?i:\b(?:it|mine|ours|theirs|which|that one|the (?:new|old) one)\s(?:is|was)(?:\s(?:still|now))?:?)\s+"
        rf"{_LIKELY}{ONE}",
        is_told,
        places=near(_NEAR_SAID, within=100),
    ),
    in_text(
        _SPOKEN,
        NAMES,
        rf"{_A_PASSWORD}[^\n]{{0,60}}?\b(?i:type|enter)\s+{_LIKELY}{ONE}",
        looks_like_a_password,
    ),
    in_text(
        _SPOKEN,
        "wpa wlan wi-fi wifi",
        r"(?i)\b(?:wpa\d?|wlan|wi-?fi)[- ](?:psk|key|code|schlüssel)\s(?:\S+\s){0,3}?(?:is|was|ist|lautet):?\s+"
        r"[\"'“‘`„]?([^\s\"'`;,&|<>(){}$\[=\\“”‘’]\S{3,200}?(?: \d{1,6})?)(?=[\"'”’`,.;)\s]|$)",
        looks_random,
    ),
    # Blue7dog! as the new password; Blue7dog!, which is the new password
    in_text(_SPOKEN, NAMES, rf"{_FIRST},?\s+as\s+{_AFTER}", looks_random),
    in_text(
        _SPOKEN, NAMES, rf"{_FIRST},?\s+(?:which\s+)?(?:is|was)\s+{_AFTER}", looks_like_a_password
    ),
    # auth_pass Blue7dog!, alone in its line
    in_text(
        _SPOKEN,
        NAMES,
        rf"(?im)^[ \t]*[\w.-]{{0,40}}?(?:{PASSWORD}|pass|psk|secret|token|community)[ \t]+{ONE}[\"']?[ \t]*;?$",
        looks_like_a_password,
    ),
    in_text(
        _SPOKEN,
        NAMES,
        r"(?i)\b(?:re)?(?:set|change|changed|rotate|update|reset)\s+(?:\S{1,40}\s+){0,3}?"
        rf"(?:{PASSWORD}|pass|pwd|pw|community)(?:\s+[\w@.'’/-]{{1,40}}){{0,6}}?\s+(?:to|as)\s+{_LIKELY}{ONE}",
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
    in_text(_SPOKEN, NAMES, rf"(?i)\b(?:secret|password)\s+[05678]\s+{ONE}", is_value),
    in_text(_SPOKEN, "pin", r"\bPIN(?: code)?(?:,? (?:is|enter)|:)?\s+(\d{4,10})\b", is_value),
    in_text(_SPOKEN, "pin", r"\bPIN\b[^()\n]{0,60}\((\d{4,10})\)", is_value),
    in_text(
        _SPOKEN,
        "pin",
        r"\bPIN\b[^\n]{0,80}?\b(?i:ours|mine|theirs|his|hers|it|which|code|PIN)\s(?:is|was)(?:\snow)?:?\s+(\d{4,10})\b",
        is_value,
    ),
    # The root password (of the console): Blue7dog!; the password of the store (Blue7dog!)
    in_text(_SPOKEN, NAMES, rf"{_SAID}\b[^\n:]{{0,40}}\):\s+{_LIKELY}{ONE}", looks_like_a_password),
    in_text(
        _SPOKEN, NAMES, rf"{_SAID}\s\((?=[^\s()]*\d)([^\s()\"'$]{{6,60}})\)", looks_like_a_password
    ),
    in_text(
        _SPOKEN,
        "wpa wlan wi-fi wifi",
        r"(?i)\b(?:wpa\d?|wlan|wi-?fi)[- ](?:psk|key|schlüssel)\b[^\n:]{0,30}?:\s+"
        rf"{ONE}",
        is_given,
    ),
    # Of Google: sixteen small letters in four groups.
    in_text(
        _SPOKEN,
        "app",
        r"(?i)\bapp[- ]?pass(?:word|wort)\b[^\n]{0,20}?[:\s\"'(]((?-i:(?:[a-z]{4} ){3}[a-z]{4}))\b",
        are_no_common_words,
    ),
    # Words put together, where they are told: with the password tulips-ferry; the passphrase is tulips.ferry.tea
    in_text(
        _SPOKEN,
        NAMES,
        rf"(?i:\b(?:with|using|by|enter|type|use|try|the(?:\s+[\w-]{{1,20}}){{0,2}})\s+(?:the\s+)?){_A_PASSWORD}\s+{ONE}",
        is_put_together,
    ),
    in_text(
        _SPOKEN,
        NAMES,
        rf"(?:{_A_PASSWORD}|(?i:\bcommunity(?:[- ]string)?)){_MORE}{{0,6}}?,?\s+"
        rf"(?:is|was|set to|changed to)(?:\s+now)?:?\s+{ONE}",
        is_put_together,
    ),
    in_text(
        _SPOKEN,
        NAMES,
        rf"(?i:\b(?:re)?(?:set|changed?)\s+(?:\S{{1,40}}\s+){{0,3}}?)(?:{_A_PASSWORD}|(?i:\bcommunity))"
        rf"{_MORE}{{0,6}}?\s+to\s+{ONE}",
        is_put_together,
    ),
    in_text(
        _SPOKEN,
        "phrase",
        r"(?i:pass ?phrase)[^()\n]{0,60}\(([^\s()\"'$]{6,80})\)",
        is_put_together,
    ),
    in_text(
        _SPOKEN,
        "code",
        r"(?i)\b(?:recovery|backup|scratch|one-time|verification|2fa|mfa|otp) codes?(?:\s+(?:is|are)|:|,)?\s+"
        rf"{_LIKELY}{ONE}",
        looks_random,
    ),
    in_text(
        _SPOKEN,
        "code",
        r"(?i)\b(?:recovery|backup|scratch|one-time|verification|2fa|mfa|otp) codes?(?:\s+(?:is|are|was)|:|,)?\s+"
        r"(\d{3,5}(?: \d{3,5}){1,7})\b",
    ),
    in_text(
        _SPOKEN,
        "passphrase phrase",
        rf"(?i)\b(?:passphrase|phrase (?:secrète|de passe))\b[^\n]{{0,60}}?\s{_IS}:?\s+"
        r"[\"“«]\s?([^\"“”«»\n]{8,120})",
        is_of_words,
    ),
    in_text(
        _SPOKEN,
        NAMES,
        rf"(?i)\b(?:{PASSWORD})\b[^\n]{{0,60}}?\s(?:is|was|to|be|ist|lautet):?\s+[\"“«„]\s?([^\"“”«»()\n]{{8,120}})",
        is_of_three_words,
    ),
    in_text(
        _SPOKEN,
        "passphrase phrase",
        r"(?im)\bpass ?phrase\b[^\n]{0,80}?\b(?:it is|it's|is):\s+([^\"\n]{8,80}?)[.]?$",
        is_of_three_words,
    ),
    in_text(
        _SPOKEN,
        "passphrase phrase",
        r"(?i)\bpass ?phrase\b[^\n]{0,80}?(?::|\s(?:is|to|was))\s+([a-z]+(?: [a-z]+){2,7})\s*(?=[.,;\n]|$)",
        are_no_common_words,
    ),
    # "four words or more" as the passphrase; put tulips as the password
    in_text(_SPOKEN, NAMES, rf"[\"“«'`]([^\"“”«»'`\n]{{6,120}})[\"”»'`]\s+as\s+{_AFTER}", is_value),
    in_text(
        _SPOKEN,
        NAMES,
        rf"(?i)\b(?:and|with|us(?:e|es|ing)|put|set|has|have|enter(?:ed)?|typed?)\s+{ONE}[\"'`”]?\s+as\s+"
        rf"(?:(?:the|a|its|our|new|root|admin|default)\s+){{0,3}}{_SAID}\b",
        is_said,
    ),
    # User app and password tulips; (app, password tulips)
    in_text(
        _SPOKEN,
        NAMES,
        rf"(?i)\b{_USER}\s*(?:,|/|and|with|und|mit|et|avec|y|con)?\s*(?:the\s+|das\s+|le\s+|la\s+)?{_SAID}\s+{ONE}",
        is_said,
    ),
    in_text(
        _SPOKEN,
        NAMES,
        rf"\([^()\n]{{1,60}}?,?\s(?:and\s+)?{_SAID}\s+([^\s()\"'$]{{4,60}})\)",
        is_said,
    ),
    in_text(_SPOKEN, NAMES, rf"(?i:{PASSWORD})[^\n]{{0,80}}?\blautet:?\s+{ONE}", is_said),
    in_text(
        _SPOKEN,
        "prompt ask",
        rf"(?i)\b(?:(?:su|sudo|ssh|psql|mysql|{PASSWORD})\b[^\n]{{0,60}}?\bprompt\w*"
        rf"|(?:asks|asked|prompts|prompted)\b[^\n]{{0,40}}?{PASSWORD})\b[^\n]{{0,40}}?"
        rf"\b(?:type|enter|answer with)\s+{ONE}",
        is_said,
    ),
    in_text(
        _SPOKEN,
        "credential",
        r"(?i)\bcredentials?\b[^\n]{0,40}?\s(?:to|as)\s+[\"'`“]([^\s\"'`”]{6,60})[\"'`”]",
        looks_like_a_password,
    ),
    # User app and Tulips88
    in_text(
        _SPOKEN,
        "user log account benutzer konto utilisateur compte identifiant usuario cuenta",
        rf"(?i)\b{_USER}\s*(?:,|/|and|with|und|mit|et|avec|y|con)\s+{ONE}",
        is_a_name_with_number,
    ),
    in_text(
        _SPOKEN,
        "key secret",
        rf"(?<!run )({UUID}|[0-9a-f]{{32,64}})(?![\w-])",
        places=near(
            r"(?i:\b(?:api|secret|access|signing|encryption|shared|license|integration)[ _-](?:key|secret)\b)",
            within=80,
        ),
    ),
    in_text(
        _SPOKEN,
        "pin keypad tastenfeld combination mailbox voicemail",
        r"(?i)\b(?:enter|punch in|press|type|now|ponle|es|ist)\s+(\d{4,10}|\d\d-\d\d-\d\d)\b"
        r"|\b(\d{4,10})\s+(?:eingeben|eintippen)\b",
        places=near(
            r"\b(?:PIN|(?i:el pin|keypad|tastenfeld|combination|mailbox|voicemail))\b", within=80
        ),
    ),
    in_text(
        _SPOKEN,
        "-p",
        r"(?i)(?<![^\s`\"'(])-p\s+([A-Za-z0-9][\w!@#%^&*+~?.-]{7,60})(?![\w/={}])",
        is_like_no_word,
    ),
    in_text(_SPOKEN, "/", rf"[(,]\s*[\w.@-]{{1,40}} / {ONE}", is_of_chance),
    # What nobody would take for a word, near the word, or near what is said of users.
    in_text(_SPOKEN, _NEARBY, _ODD, is_like_no_word, places=near(_NEAR)),
    in_text(_SPOKEN, _OF_USERS, _TOKEN, is_odd, places=near(_NEAR_USERS)),
    in_text(_SPOKEN, _OF_USERS, _TOKEN, is_of_all_classes, places=near(_NEAR_USERS)),
    # Set the password to tulips, which ...
    in_text(
        _SPOKEN,
        "set change",
        rf"(?i)\b(?:re)?(?:set|changed?)\s+(?:\S{{1,40}}\s+){{0,3}}?(?:{PASSWORD}|secret|pass|pwd|pw)"
        rf"(?:\s+[\w@.'’/-]{{1,40}}){{0,6}}?\s+to\s+{ONE}(?=[,.;)]|$)",
        is_said,
    ),
    # The seed of one-time passwords, in base32
    in_text(
        _SPOKEN,
        "seed totp factor mfa authenticator",
        r"(?<![\w-])(?=[A-Z]*[2-7])([A-Z2-7]{16,64})(?![\w-])",
        places=near(r"(?i:\b(?:seed|totp|2fa|mfa|second factor|authenticator|oathtool)\b)"),
    ),
    in_text(
        _SPOKEN,
        "token kubeadm join",
        r"(?<![\w.-])([a-z0-9]{6}\.(?=[a-z]*[0-9])[a-z0-9]{16})(?![\w.-])",
        places=near(r"(?i:\b(?:tokens?|kubeadm|join)\b)", within=200),
    ),
    # Credentials: admin / Blue7dog!; log in with admin and Blue7dog!; use admin:Blue7dog!
    in_text(
        _SPOKEN,
        "cred log sign account user zugangsdaten identifiant",
        r"(?i)\b(?:credentials?|creds|log ?in|sign ?in|account|user(?:name)?|zugangsdaten|identifiants?)\b[^\n]{0,40}?"
        rf"[ (](?!arn:|iqn\.|SHA\d|MD5)[\w.@-]{{1,60}} ?[/:] ?{_LIKELY}{ONE}",
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
        r"(?i)(?<![\w/.:-])(?:root|admin\w*|sa|postgres|oracle|operator|guest)"
        rf" ?[/:] ?(?!x:){ONE}",
        is_of_chance,
    ),
    in_text(
        _SPOKEN,
        "root admin",
        rf"(?i)[\"'`](?:root|admin\w*)[\"'`]\s(?:with|and)\s{ONE}",
        is_of_chance,
    ),
)
