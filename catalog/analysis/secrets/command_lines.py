"""Secrets that a command takes: a row for each option, argument or line of a file that a password is given in."""

from __future__ import annotations

from collections.abc import Callable

from catalog.analysis.secrets.context import (
    PASSWORD,
    VALUE,
    Context,
    in_here_documents,
    in_text,
    on_command_lines,
)
from catalog.analysis.secrets.value_tests import (
    is_given,
    is_like_no_word,
    is_of_chance,
    is_said,
    is_value,
    looks_random,
)

_OPTION = "password on a command line"


def _option(
    signs: str, command: str, option: str, is_one: Callable[[str], bool] = is_value
) -> Context:
    """The value of an option of these commands; the option has the space behind it, where one must stand."""
    places = on_command_lines(command)
    return in_text(_OPTION, signs, rf"\s{option}{VALUE}", is_one, places=places)


_LOGIN = r"(?:docker|podman|nerdctl|skopeo|buildah|helm|oras|crane|az|oc|argocd|npm)\b[^\n|;&]{0,80}?\blogin"
COMMAND_LINES = (
    in_text(
        _OPTION,
        "-",
        rf"(?i)(?<!\S)--?(?:[a-z]+-){{0,3}}(?:{PASSWORD}|pass|token|secret|api-?key|access-key|secret-key|account-key|certificate-key|oauth2-bearer)"
        rf"\s{{1,3}}{VALUE}",
        looks_random,
    ),
    in_text(
        _OPTION,
        "--",
        rf"(?i)(?<!\S)--(?:[a-z]+-){{0,3}}(?:{PASSWORD})\d?[\s=]{{1,3}}{VALUE}",
        is_said,
    ),
    in_text(_OPTION, "-command", r"(?i)password-command[\s=]{1,3}[\"']echo\s+([^\s\"'$]{3,100})[\"']", is_value),
    _option("nsupdate", "nsupdate", r"-y\s+(?:[\w-]{1,40}:){1,2}"),
    _option("radtest", "radtest", r"(?:-t\s+\S+\s+)?[\w.@-]{1,60}\s+"),
    _option("check_http", "check_(?:http|curl)\\w*", r"-a\s{0,3}[\"']?[^\s:\"'$]{1,80}:"),
    _option("mysql mariadb", "mysql|mysqldump|mysqladmin|mysqlimport|mysqlpump|mariadb(?:-\\w+)?", "-p"),
    in_text(_OPTION, "sshpass", rf"\bsshpass\s{{1,3}}-p\s{{0,3}}{VALUE}", is_value),
    in_text(
        _OPTION,
        "curl",
        r"\s(?:-[A-Za-z]{0,8}[uU]|--(?:proxy-)?user)[\s=]{0,3}[\"']?[^\s:\"'$]{1,80}:([^\s\"'$]{3,})",
        is_value,
        places=on_command_lines("curl"),
    ),
    # A line of .curlrc.
    in_text(
        _OPTION,
        "user",
        r"(?m)^[ \t]*(?:--)?(?:proxy-)?user(?:[ \t]*=[ \t]*|[ \t]+)[\"'][\w.@-]{1,80}:([^\s\"'$]{3,})[\"'][ \t]*$",
        is_value,
    ),
    _option("openssl", "openssl", r"-[Kk]\s{1,3}", looks_random),
    _option("mosquitto_", "mosquitto_(?:pub|sub|rr)", r"-P\s{1,3}"),
    _option("check_", r"check_(?:mysql\w*|pgsql|oracle|mssql\w*)", r"-p\s{0,3}", looks_random),
    in_text(
        _OPTION,
        "--arg",
        rf"--arg\s+(?:\w{{0,40}}(?i:key|token|secret|{PASSWORD}|pass|pw)|[kpt])\s+{VALUE}",
        is_of_chance,
        places=on_command_lines("jq"),
    ),
    _option("redis-cli valkey-cli", "(?:redis|valkey)-cli", r"-a\s{1,3}"),
    _option("ldap", "ldap(?:search|add|modify|delete|passwd|whoami|compare|modrdn)", r"-[ws]\s{0,3}"),
    _option("login", _LOGIN, r"-p\s{1,3}"),
    _option("mongo cqlsh", "mongo(?:sh|dump|restore|export|import|stat|top)?|cqlsh", r"-p\s{1,3}"),
    _option("sqlcmd bcp isql tsql ipmitool", "sqlcmd|bcp|isql|tsql|ipmitool", r"-P\s{0,3}"),
    _option("zip", "zip|unzip|zipcloak", r"-P\s{1,3}"),
    _option("7z rar", "7z[ar]?|u?nrar|rar", "-p"),
    _option("ssh-keygen", "ssh-keygen", r"-[PN]\s{1,3}"),
    _option("pass", "keytool|jarsigner|apksigner", r"-(?:store|key|srcstore|deststore|srckey|destkey)pass\s{1,3}"),
    _option("kadmin kinit", "kadmin(?:\\.local)?|kinit", r"-w\s{1,3}"),
    _option("snmp", "snmp\\w+", r"-[cAX]\s{1,3}", looks_random),
    _option("check_snmp", "check_snmp\\w*", r"-C\s{0,3}", looks_random),
    _option("schtasks", "(?i:schtasks)", r"(?i:/rp)\s{1,3}"),
    _option("/p:", "xfreerdp", "/p:"),
    _option("rdesktop", "rdesktop", r"-p\s{1,3}"),
    _option("nmcli", "nmcli", r"password\s{1,3}"),
    _option("useradd usermod", "useradd|usermod", r"-p\s{1,3}", looks_random),
    _option("%", "smbclient|smbget|rpcclient|winexe|net", r"-U\s{0,3}[\"']?[^\s%\"'$]{1,80}%"),
    _option("ftp", "lftp|ncftp", r"-u\s{0,3}[\"']?[^\s,\"'$]{1,80},"),
    _option("sqlplus sqlldr imp exp rman", "sqlplus|sqlldr|impdp?|expdp?|rman", r"[\"']?\w{1,40}/", looks_random),
    _option("rabbitmqctl", "rabbitmqctl", r"(?:add_user|change_password|authenticate_user)\s{1,3}\S{1,80}\s{1,3}"),
    in_text(
        _OPTION,
        "htpasswd",
        rf"\bhtpasswd\s+(?:-\w+\s+){{0,4}}-\w*b\w*\s+(?:-\w+\s+){{0,4}}\S{{1,200}}\s+(?:[\w.@-]{{1,80}}\s+)?{VALUE}\s*"
        r"(?=[|;&\n]|$)",
        looks_random,
    ),
    in_text(_OPTION, "wpa_passphrase", rf"\bwpa_passphrase\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\S+)\s+{VALUE}", is_value),
    in_text(_OPTION, "login", rf"\b(?:vault|doctl|gh|flyctl)\s+(?:auth\s+)?login\s+{VALUE}", is_of_chance),
    in_text(_OPTION, "pass:", rf"(?<![\w:])pass:{VALUE}", looks_random),
    in_text(_OPTION, "securestring", rf"(?i)\bConvertTo-SecureString\s+(?:-String\s+)?{VALUE}", is_value),
    in_text(_OPTION, "/user:", rf"(?i)\bnet\s+use\b[^\n]{{0,200}}?/user:\S{{1,100}}\s+{VALUE}", is_value),
    in_text(_OPTION, "net user", rf"(?i)\bnet\s+user\s+[\w.\\-]{{1,60}}\s+{VALUE}", looks_random),
    in_text(
        _OPTION,
        "@ sysdba sysoper",
        r"(?i)(?<![\w/.-])[a-z]\w{0,40}/\"?([^\s\"@/]{4,60})\"?(?=\s+as\s+sys(?:dba|oper)\b|@(?://)?[\w.-]{1,80}[:/])",
        looks_random,
    ),
    in_text(_OPTION, "jdbc:oracle:", r"(?i)\bjdbc:oracle:\w{1,10}:[\w.-]{1,60}/([^@\s$]{3,100})@", is_value),
    # What is written to a program that reads a password.
    in_text(
        _OPTION,
        "stdin sudo cryptsetup kinit su passwd",
        r"\b(?:echo|printf)\s+(?:-\w+\s+)?[\"']?(?:(?:%s\\n){1,2}[\"']?\s+[\"']?)?([^\s\"'$`|;&]{4,100})(?:\\n)?[\"']?"
        r"(?:\s+[\"'][^\s\"'$`|;&]{4,100}[\"'])?\s*\|\s*"
        r"(?:sudo\s+)?(?:sudo\s+-S|passwd\s|\w+\b[^|\n;&]{0,120}--(?:pass\w*-)?(?:on-)?stdin|cryptsetup\s|kinit\b|su\s"
        r"|smbpasswd\s)",
        is_value,
    ),
    in_text(
        _OPTION,
        "chpasswd",
        r"\b(?:echo|printf)\s+(?:-\w+\s+)?[\"']?[\w.@-]{1,80}:([^\s\"'$`|;]{4,100})(?:\\n)?[\"']?\s*\|\s*"
        r"(?:sudo\s+)?chpasswd\b",
        is_value,
    ),
    in_text(
        _OPTION,
        "chpasswd",
        r"(?m)^[ \t]*[\w.@-]{1,60}:([^\s\"'$]{3,100})$",
        is_value,
        places=in_here_documents("chpasswd"),
    ),
    # stats auth of HAProxy, cache_peer of Squid, sasl_passwd of Postfix, ipsec.secrets
    in_text(_OPTION, "auth login=", r"\b(?:stats\s+auth\s+|login=)[\w.@-]{1,60}:([^\s\"'$]{3,100})", is_value),
    in_text(_OPTION, "@", r"(?m)\s[\w.+-]{1,60}@[\w.-]{1,60}:([^\s:/\"'$]{6,100})$", is_like_no_word),
    in_text(
        _OPTION,
        "]:",
        r"(?m)(?:^\[?[\w.-]{1,80}\]?|(?<=[\"'])\[[\w.-]{1,80}\]):\d{2,5}\s+[\w.+-]{1,60}(?:@[\w.-]{1,60})?:([^\s:/\"'$]{4,100})"
        r"(?:$|(?=[\"']))",
        is_said,
    ),
    in_text(_OPTION, "psk", r":\s*PSK\s+[\"']([^\"'\n$]{4,100})[\"']", is_value),
    # A line of .netrc, of .pgpass, of a server's configuration, of SQL.
    in_text(_OPTION, "login", rf"\blogin\s+\S{{1,80}}\s+password\s+{VALUE}", is_value),
    in_text(
        _OPTION,
        ":",
        r"(?<![\w:.-])[\w.*-]{1,80}:(?:\d{4,5}|\*):[A-Za-z*][\w.*-]{0,60}:[A-Za-z*][\w.*-]{0,60}:"
        r"([^\s:\"'|;&]{4,100})(?![\w:])",
        is_said,
    ),
    in_text(
        _OPTION,
        "requirepass masterauth bindpw rootpw",
        rf"\b(?:requirepass|masterauth|bindpw|rootpw)\s+{VALUE}",
        is_given,
    ),
    # A file of two lines, as OpenVPN and cifs read one.
    in_text(
        _OPTION,
        "printf echo",
        r"\b(?:printf|echo -e)\s+[\"'][\w.@-]{1,60}\\n([^\s\\\"'$]{4,100})(?:\\n)?[\"']"
        r"\s*>{1,2}\s*\S*(?:auth|cred|pass|login)",
        is_value,
    ),
    # A key of Kerberos, as its tables are listed.
    in_text(_OPTION, "0x", r"\((?:DEPRECATED:)?(?:aes|des|arcfour|camellia)[\w-]{1,60}\)\s+\((0x[0-9a-f]{16,64})\)"),
    # What Redis writes of a client that proves who it is.
    in_text(_OPTION, "auth", r"\"(?i:auth)\"\s+(?:\"[\w.@-]{1,60}\"\s+)?\"([^\"\n]{3,200})\"", is_value),
    in_text(_OPTION, "send", r"assword[\s\S]{0,80}?\bsend\s+(?:--\s+)?[\"']([^\"'\\$\s]{4,})\\[rn]", is_value),
    in_text(
        _OPTION,
        "identified password",
        r"(?i)\b(?:IDENTIFIED\s+(?:WITH\s+\S+\s+)?(?:BY|AS)|(?:ENCRYPTED|WITH|LOGIN|USER|ROLE\s+\S+)\s+PASSWORD)\s+"
        r"(?:'([^'\n$]{4,})'|\"([^\"\s$]{4,})\")",
        is_value,
    ),
)  # fmt: skip
