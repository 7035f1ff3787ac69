"""Secrets that are known by their form, wherever they stand: the prefixes and lengths that their makers document."""

from __future__ import annotations

from catalog.analysis.secrets.context import in_text
from catalog.analysis.secrets.value_tests import is_private_key_in_base64, is_user_and_password

PRIVATE_KEY = "private key"
_KEYS = r"(?:(?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)"
KEY_ENDS = rf"-----END {_KEYS}-----"

FORMS = (
    in_text(PRIVATE_KEY, "-----BEGIN", rf"-----BEGIN {_KEYS}-----"),
    in_text(
        "private key in base64",
        "LS0tLS1CRUdJTi",
        r"(?<![\w+/])LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}(?:\s+[A-Za-z0-9+/]{16,})*={0,2}",
        is_private_key_in_base64,
    ),
    in_text("age key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    in_text("Alibaba access key", "LTAI", r"\bLTAI[A-Za-z0-9]{12,24}\b"),
    in_text("Airtable token", "pat", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    in_text("Atlassian token", "ATATT ATCTT ATBB", r"\bAT(?:ATT|CTT|BB)[\w=-]{20,}"),
    in_text("AWS access key", "AKIA ASIA", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    in_text("AWS secret key", "AKIA ASIA", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\W{1,5}([A-Za-z0-9/+]{40})(?![\w/+])"),
    in_text("AWS secret key", "secret", r"(?i)(?:aws_?)?secret_(?:access_)?key\W{1,5}([A-Za-z0-9/+]{40})(?![\w/+])"),
    in_text("Azure key", "accesskey= accountkey=", r"(?i)\b(?:account|sharedaccess)key=([A-Za-z0-9+/]{30,}={0,2})"),
    in_text("Azure client secret", "Q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])"),
    in_text("BitLocker key", "0 1 2 3 4 5 6 7 8 9", r"(?<![\d-])(?:\d{6}-){7}\d{6}(?![\d-])"),
    in_text("CircleCI token", "CCIPAT_ CCIPRJ_", r"\bCCI(?:PAT|PRJ)_\w{40,}"),
    in_text("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    in_text("DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    in_text("Discord webhook", "/api/webhooks/", r"\bdiscord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}"),
    in_text("Docker token", "dckr_", r"\bdckr_(?:pat|oat)_[\w-]{20,}"),
    in_text("Doppler token", "dp.", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}"),
    in_text("GitHub token", "gh github_pat_", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{50,255})\b"),
    in_text("GitLab token", "gl", r"\bgl(?:pat|rt|dt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{20,}"),
    in_text("Google API key", "AIza", r"\bAIza[\w-]{35}(?![\w-])"),
    in_text("Google access token", "ya29.", r"\bya29\.[\w-]{20,}"),
    in_text("Google client secret", "GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
    in_text("Grafana token", "glsa_ glc_", r"\bgl(?:sa|c)_[\w+/=]{32,}"),
    in_text("Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}\b"),
    in_text("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
    in_text("Linear key", "lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}\b"),
    in_text("Mailgun key", "key-", r"\bkey-[0-9a-f]{32}\b"),
    in_text("Mattermost webhook", "/hooks/", r"/hooks/([a-z0-9]{26})(?![\w/-])"),
    in_text("Netlify token", "nfp_ nfc_ nfo_ nfu_", r"\bnf[pcou]_[A-Za-z0-9]{36,}\b"),
    in_text("New Relic key", "NRAK- NRJS- NRII- NRAA- NRRA-", r"\bNR(?:AK|JS|II|AA|RA)-[A-Za-z0-9-]{19,}"),
    in_text("Notion token", "ntn_ secret_", r"\b(?:ntn|secret)_[A-Za-z0-9]{40,}\b"),
    in_text("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    in_text("password hash", "$", r"\$(?:[15679y]|2[abxy]|gy|apr1|argon2\w{1,2})\$[\w./$,=+-]{20,}"),
    in_text("Postman key", "PMAK-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    in_text("Pulumi token", "pul-", r"\bpul-[0-9a-f]{40}\b"),
    in_text("PuTTY key", "Private-Lines:", r"\bPrivate-Lines: \d{1,3}\n((?:[A-Za-z0-9+/=]+\n?){1,200})"),
    in_text("PyPI token", "pypi-", r"\bpypi-[\w-]{50,}"),
    in_text("RubyGems key", "rubygems_", r"\brubygems_[0-9a-f]{48}\b"),
    in_text("SendGrid key", "SG.", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    in_text("Sentry token", "sntrys_ sntryu_", r"\bsntry[su]_[\w+/=]{32,}"),
    in_text("Sentry key", "://", r"://([0-9a-f]{32})(?::[0-9a-f]{32})?@"),
    in_text("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    in_text("Slack token", "xox", r"\bxox[abeoprs]-[\w-]{10,}"),
    in_text("Slack token", "xapp-", r"\bxapp-\d-[A-Z0-9]+-\d+-[0-9a-f]{32,}"),
    in_text(
        "Slack webhook",
        "hooks.slack.com",
        r"\bhooks\.slack\.com/(?:services|workflows|triggers)/T\w+/\w+/\w{16,}(?:/\w+)?",
    ),
    in_text("SonarQube token", "squ_ sqa_ sqp_", r"\bsq[uap]_[0-9a-f]{40}\b"),
    in_text("Square token", "sq0 EAAA", r"\b(?:sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{50,})"),
    in_text("Stripe key", "sk_ rk_ whsec_", r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    in_text("Supabase token", "sbp_", r"\bsbp_[0-9a-f]{40}\b"),
    in_text(
        "Teams webhook",
        ".webhook.office.com",
        r"\.webhook\.office\.com/webhookb2/([\w@-]{30,}/IncomingWebhook/[\w/-]{30,})",
    ),
    in_text("Telegram token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    in_text("Terraform token", ".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,}"),
    in_text("Twilio key", "SK", r"\bSK[0-9a-f]{32}\b"),
    in_text("Vault token", "hvb. hvr. hvs. s.", r"\bhv[brs]\.[\w-]{20,}|(?<![\w.-])s\.[A-Za-z0-9]{24}(?![\w.-])"),
    in_text("API key", "sk- xai-", r"\bsk-(?:ant-|proj-)?[\w-]{20,}|\bxai-[A-Za-z0-9]{60,}"),
    in_text("Zapier webhook", "hooks.zapier.com", r"\bhooks\.zapier\.com/hooks/catch/\d+/(\w{5,})"),
    in_text("JSON web token", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    in_text(
        "password in an address",
        "//",
        r"\b[a-z][a-z0-9+.-]{1,14}\\?://[^\s/:@'\"$]*:([^\s/@'\"$][^\s/@'\"]*)@",
    ),
    in_text(
        "access token",
        "authorization",
        r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?(?:geniekey|bearer|basic|token|bot|ssws|o?auth|api-?key|key|digest|negotiate)\s+"
        r"([\w+/=.~-]{8,})",
    ),
    in_text("access token", "basic", r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})(?![\w+/=])", is_user_and_password),
)  # fmt: skip
"""A row for each kind. Nothing else may look like it: scripts are searched for these, too."""
