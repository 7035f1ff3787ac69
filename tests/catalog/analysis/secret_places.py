"""Places where people write secrets, and texts that look near to one: the secrets are made at random, none is real."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from typing import NamedTuple

_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits


class Written(NamedTuple):
    """A text and the secret in it."""

    secret: str
    text: str


# The tokens of makers: what stands before, how many signs of which letters, what stands behind.
_TOKENS = (
    ("shpat_", 32, _HEX),
    ("dapi", 32, _HEX),
    ("lin_api_", 40, _LETTERS),
    ("glsa_", 32, _LETTERS + "_"),
    ("pul-", 40, _HEX),
    ("nfp_", 36, _LETTERS),
    ("sbp_", 40, _HEX),
    ("ntn_", 46, _LETTERS),
    ("dp.pt.", 43, _LETTERS),
    ("sntrys_", 60, _LETTERS),
    ("sq0csp-", 43, _LETTERS),
    ("NRAK-", 27, _UPPER),
    ("SK", 32, _HEX),
    ("key-", 32, _HEX),
    ("ATATT3xFfGF0", 60, _LETTERS),
    ("LTAI5t", 18, _LETTERS),
    ("gldt-", 20, _LETTERS),
    ("gsk_", 52, _LETTERS),
    ("xai-", 80, _LETTERS),
    ("xapp-1-A01BCD2EF-123456789012-", 64, _HEX),
    ("s.", 24, _LETTERS),
    ("$6$saltsalt$", 86, _LETTERS),
    ("pat4Zk2Ml9Qw1Xy8R.", 64, _HEX),
    ("abc8Q~", 34, _LETTERS),
    ("Zk2Ml9Qw1Xy8Rt.atlasv1.", 64, _LETTERS),
    ("unknownmaker_", 40, _LETTERS),  # no row has it: long and random
)
_IN_SENTENCES = (
    "Log in as root with password {} and restart nginx",
    "Log in with root and {} on the iDRAC and do a cold reset.",
    "The password for the admin account is {}, please rotate it",
    "Connect to db1 (user app, password {}) and list the slow queries",
    "the db password was changed to {} yesterday",
    "set the password of the user app to '{}'",
    "I reset it to “{}” and unlocked the account",
    "Entered {} as the enable secret on rtr-1",
    "credentials: admin / {}",
    "Creds for the switch: netadmin / {}",
    "Credentials for Harbor are admin and {}; the robot account is broken.",
    "use admin:{} for the console",
    "pw: {}",
    "passwrod for ilo on esx-4: {}",
    "Das Kennwort für den Benutzer ops lautet {}, bitte ändern.",
    "Le mot de passe du compte sauvegarde est {}, merci.",
    "the cron connects as sa with the password of {} so the lockout came from there",
    "its password was set to {} and a scanner guessed it",
    "the bind credential, it is {} on every server",
    "agents only authenticate when you put {} as the api key",
    "someone posted the prod password ({}) in the channel",
    "log in as svc-backup with {}, then restart it",
    "auth_pass {}",
    "ldap_default_authtok = {}",
    "mount the share with user backup and pass `{}`, then rerun",
)
# In the same line as the word, and like no other word.
_NEARBY = (
    "to unlock the volume with LUKS on nfs-2 type {} within two minutes",
    "Grafana has the same password as Kibana, namely {}, which we should split",
    "it should come in with {} instead of the expired password of etl",
)
_IN_COMMANDS = (
    "redis-cli -h cache01 -a {} info memory",
    "ldapsearch -x -D cn=admin,dc=x -w {} -b dc=x",
    "smbclient //srv/share -U backup%{} -c ls",
    "htpasswd -b /etc/nginx/.htpasswd deploy {}",
    "docker login registry.local -u ci -p {}",
    "openssl rsa -in k.pem -passin pass:{}",
    "echo 'deploy:{}' | chpasswd",
    "echo {} | passwd --stdin deploy",
    "echo '{}' | sudo -S systemctl restart nginx",
    "mongosh -u admin -p {} --authenticationDatabase admin",
    "curl -uadmin:{} https://registry.local/",
    "sqlcmd -S db -U sa -P '{}' -Q 'select 1'",
    "ipmitool -I lanplus -H bmc1 -U ADMIN -P {} chassis status",
    "unzip -P {} a.zip",
    "7z x -p{} a.7z",
    "keytool -list -keystore x.jks -storepass {}",
    "lftp -u bob,{} ftp.local",
    "rabbitmqctl add_user app {}",
    "nmcli dev wifi connect Office password {}",
    "snmpwalk -v2c -c {} 10.0.0.1",
    "net use Z: \\\\fs\\backup /user:CORP\\svc {}",
    "ConvertTo-SecureString '{}' -AsPlainText -Force",
    "machine git.local login ci password {}",
    "echo 'db1:5432:app:app:{}' > ~/.pgpass",
    "ALTER ROLE app WITH PASSWORD '{}'",
    "CREATE LOGIN reporting WITH PASSWORD = N'{}'",
    "CREATE USER x IDENTIFIED BY '{}'",
    "CONFIG SET requirepass {}",
    'expect "assword:" {{ send "{}\\r" }}',
    "username netops privilege 15 secret 0 {}",
    "<server><password>{}</password></server>",
    '$env:DB_PASSWORD = "{}"',
    "define('DB_PASSWORD', '{}');",
)
_WITH_KEYS = (
    "curl 'https://maps.local/v1?key={}&q=1'",
    "curl -H 'Cookie: sessionid={}' https://desk.local",
    "curl -H 'Authorization: GenieKey {}' https://alerts.local",
    "client-key-data: {}",
    "PrivateKey = {}",
    "secret_key_base = '{}'",
    'routing_key: "{}"',
    "curl https://discord.com/api/webhooks/11223344/{0}{0}",
    "azcopy cp 'https://acc.blob.local/c?sv=1&sig={}' .",
    '{{"auths": {{"registry.local": {{"auth": "{}"}}}}}}',
)
ORDINARY = (
    "Reset the password of user deploy01 on db-7 and tell them",
    "kubectl -n kube-system describe secret default-token-x7k2p",
    "create the secret app-tls-2024 from the file",
    "the token of the runner expires in 90days, renew it before 2024-06-01T10:00",
    "the password policy is scram-sha-256 on db-7.internal",
    "Host key of db-7 is SHA256:Nos2seWeT9Yu9EFGge0Z0XXuDHibVnX1DMB1JtbTRQS (ED25519).",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEa1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ012345 ops@jump",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIB\nQ1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6\n-----END CERTIFICATE-----",
    "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/orders/db-Ab3xYz",
    "password = var.db_master_password",
    "revert commit 3f9d2b7c41e05a68d7c2b1903e4f5a6b7c8d9e0f and deploy",
    "image: web@sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
    "the pod web-7d4b9c6f5d-x2x4z restarts",
    "echo aGVsbG8gd29ybGQgZnJvbSB0aGUgaGVhbHRoIGNoZWNr | base64 -d",
    "import the key 3AA5C34371567BD2 of the package archive",
    "fe80:1234:5678:9abc:def0:1234:5678:9abc",
    "chown root:deploy01 /srv/app",
    "LoadCredential=dbpass:/etc/credstore/orders.dbpass",
    "jdbc:oracle:thin:@//ora-scan.example.net:1521/LEDG gives ORA-12514",
    "Partition key customer_id=88120471 is hot; the sort key order_ts#2025-02-11T08:14:09Z is missing",
    'integrity="sha384-vzjThnpXzyL0n93mWKBAWGKFWqO0JzwdnNZtU2QC5D45AFWCOZlnxqYGjt2QubO5"',
    "the disk of vol-0a1b2c3d4e5f67890 is full on i-0123456789abcdef0",
)


def written_secrets(seed: int = 20) -> Iterator[Written]:
    """Each place once, with another secret for each."""
    draw = random.Random(seed)

    def some(count: int, letters: str = _LETTERS) -> str:
        return "".join(draw.choices(letters, k=count - 1)) + draw.choice(string.digits)

    def password() -> str:
        word = draw.choice(["Winter", "grey", "Tulip", "oaken"])
        return f"{word}{draw.choice('!_-')}{some(6)}{draw.randrange(10, 100)}"

    for before, count, letters in _TOKENS:
        secret = before + some(count, letters)
        yield Written(secret, f"check that {secret} still works")
    for place in (*_IN_SENTENCES, *_IN_COMMANDS):
        secret = password()
        yield Written(secret, place.format(secret))
    for place in _NEARBY:
        secret = f"{some(5)}^{some(4)}"
        yield Written(secret, place.format(secret))
    for place in _WITH_KEYS:
        secret = some(32)
        yield Written(secret, place.format(secret))
