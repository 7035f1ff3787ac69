"""Secrets that are known by their form, wherever they stand: the prefixes and lengths that their makers document."""

from __future__ import annotations

import re
from typing import NamedTuple

PRIVATE_KEY = "private key"


class Form(NamedTuple):
    """A kind of secret, and its pattern: the secret is the first group that matched, or all of it."""

    kind: str
    signs: tuple[str, ...]  # in small letters: one of them is in every text that has such a secret
    pattern: re.Pattern[str]


def _forms(*rows: tuple[str, str, str]) -> tuple[Form, ...]:
    """Of each the kind, its signs with spaces between them, and the pattern."""
    return tuple(
        Form(kind, tuple(signs.lower().split()), re.compile(pattern))
        for kind, signs, pattern in rows
    )


FORMS = _forms(
    (PRIVATE_KEY, "PRIVATE", r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("age key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    ("Alibaba access key", "LTAI", r"\bLTAI[A-Za-z0-9]{12,24}\b"),
    ("Airtable token", "pat", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    ("Atlassian token", "ATATT ATCTT ATBB", r"\bAT(?:ATT|CTT|BB)[\w=-]{20,}"),
    ("AWS access key", "AKIA ASIA", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("AWS secret key", "secret", r"(?i)\baws_?secret_?(?:access_?)?key\W{1,5}([A-Za-z0-9/+]{40})(?![\w/+])"),
    ("Azure key", "accountkey= sharedaccesskey=", r"(?i)\b(?:account|sharedaccess)key=([A-Za-z0-9+/]{30,}={0,2})"),
    ("Azure client secret", "Q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])"),
    ("CircleCI token", "CCIPAT_ CCIPRJ_", r"\bCCI(?:PAT|PRJ)_\w{40,}"),
    ("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    ("DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    ("Discord webhook", "/api/webhooks/", r"\bdiscord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}"),
    ("Docker token", "dckr_", r"\bdckr_(?:pat|oat)_[\w-]{20,}"),
    ("Doppler token", "dp.", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}"),
    ("GitHub token", "gh github_pat_", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{50,255})\b"),
    ("GitLab token", "gl", r"\bgl(?:pat|rt|dt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{20,}"),
    ("Google API key", "AIza", r"\bAIza[\w-]{35}(?![\w-])"),
    ("Google access token", "ya29.", r"\bya29\.[\w-]{20,}"),
    ("Google client secret", "GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
    ("Grafana token", "glsa_ glc_", r"\bgl(?:sa|c)_[\w+/=]{32,}"),
    ("Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}\b"),
    ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("Linear key", "lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}\b"),
    ("Mailgun key", "key-", r"\bkey-[0-9a-f]{32}\b"),
    ("Netlify token", "nfp_ nfc_ nfo_ nfu_", r"\bnf[pcou]_[A-Za-z0-9]{36,}\b"),
    ("New Relic key", "NRAK- NRJS- NRII- NRAA- NRRA-", r"\bNR(?:AK|JS|II|AA|RA)-[A-Za-z0-9-]{19,}"),
    ("Notion token", "ntn_ secret_", r"\b(?:ntn|secret)_[A-Za-z0-9]{40,}\b"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("password hash", "$", r"\$(?:[1567y]|2[abxy]|gy|apr1|argon2\w{1,2})\$[\w./$,=+-]{20,}"),
    ("Postman key", "PMAK-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    ("Pulumi token", "pul-", r"\bpul-[0-9a-f]{40}\b"),
    ("PuTTY key", "Private-Lines:", r"\bPrivate-Lines: \d{1,3}\n((?:[A-Za-z0-9+/=]+\n?){1,200})"),
    ("PyPI token", "pypi-", r"\bpypi-[\w-]{50,}"),
    ("SendGrid key", "SG.", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    ("Sentry token", "sntrys_ sntryu_", r"\bsntry[su]_[\w+/=]{32,}"),
    ("Sentry key", "://", r"://([0-9a-f]{32})(?::[0-9a-f]{32})?@"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    ("Slack token", "xox", r"\bxox[abeoprs]-[\w-]{10,}"),
    ("Slack token", "xapp-", r"\bxapp-\d-[A-Z0-9]+-\d+-[0-9a-f]{32,}"),
    (
        "Slack webhook",
        "hooks.slack.com",
        r"\bhooks\.slack\.com/(?:services|workflows|triggers)/T\w+/\w+/\w{16,}(?:/\w+)?",
    ),
    ("Square token", "sq0 EAAA", r"\b(?:sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{50,})"),
    ("Stripe key", "sk_ rk_ whsec_", r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    ("Supabase token", "sbp_", r"\bsbp_[0-9a-f]{40}\b"),
    (
        "Teams webhook",
        ".webhook.office.com",
        r"\.webhook\.office\.com/webhookb2/([\w@-]{30,}/IncomingWebhook/[\w/-]{30,})",
    ),
    ("Telegram token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    ("Terraform token", ".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,}"),
    ("Twilio key", "SK", r"\bSK[0-9a-f]{32}\b"),
    ("Vault token", "hvb. hvr. hvs. s.", r"\bhv[brs]\.[\w-]{20,}|(?<![\w.-])s\.[A-Za-z0-9]{24}(?![\w.-])"),
    ("API key", "sk- xai-", r"\bsk-(?:ant-|proj-)?[\w-]{20,}|\bxai-[A-Za-z0-9]{60,}"),
    ("JSON web token", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    (
        "password in an address",
        "://",
        r"\b[a-z][a-z0-9+.-]{1,14}://[^\s/:@'\"$]*:([^\s/@'\"$][^\s/@'\"]*)@",
    ),
    (
        "access token",
        "authorization",
        r"(?i)\bauthorization:\s*(?:bearer|basic|token|bot|ssws|o?auth|api-?key|key|digest|negotiate)\s+"
        r"([\w+/=.~-]{8,})",
    ),
)  # fmt: skip
"""A row for each kind. Nothing else may look like it: scripts are searched for these, too."""
