"""Random secrets in the places where users write them, and ordinary text that looks like secrets."""

from __future__ import annotations

import base64
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


# Vendors' token formats: prefix, number of characters, and alphabet.
_TOKENS = (
    ("shpat_", 32, _HEX), ("dapi", 32, _HEX), ("lin_api_", 40, _LETTERS), ("glsa_", 32, _LETTERS + "_"),
    ("pul-", 40, _HEX), ("nfp_", 36, _LETTERS), ("sbp_", 40, _HEX), ("ntn_", 46, _LETTERS), ("dp.pt.", 43, _LETTERS),
    ("sntrys_", 60, _LETTERS), ("sq0csp-", 43, _LETTERS), ("NRAK-", 27, _UPPER), ("SK", 32, _HEX), ("key-", 32, _HEX),
    ("ATATT3xFfGF0", 60, _LETTERS), ("LTAI5t", 18, _LETTERS), ("gldt-", 20, _LETTERS), ("gsk_", 52, _LETTERS),
    ("xai-", 80, _LETTERS), ("xapp-1-A01BCD2EF-123456789012-", 64, _HEX), ("s.", 24, _LETTERS),
    ("$6$saltsalt$", 86, _LETTERS), ("pat4Zk2Ml9Qw1Xy8R.", 64, _HEX), ("abc8Q~", 34, _LETTERS),
    ("Zk2Ml9Qw1Xy8Rt.atlasv1.", 64, _LETTERS),
    ("unknownmaker_", 40, _LETTERS),  # an unknown vendor, detected by length and randomness
)  # fmt: skip
_IN_SENTENCES = (
    "Log in as root with password {} and restart nginx",
    "Log in with root and {} on the iDRAC and do a cold reset.",
    "The password for the admin account is {}, please rotate it",
    "Connect to db1 (user app, password {}) and list the slow queries",
    "the db password was changed to {} yesterday", "set the password of the user app to '{}'",
    "I reset it to “{}” and unlocked the account", "Entered {} as the enable secret on rtr-1",
    "credentials: admin / {}", "Creds for the switch: netadmin / {}",
    "Credentials for Harbor are admin and {}; the robot account is broken.",
    "use admin:{} for the console", "pw: {}", "passwrod for ilo on esx-4: {}",
    "Das Kennwort für den Benutzer ops lautet {}, bitte ändern.",
    "Le mot de passe du compte sauvegarde est {}, merci.",
    "the cron connects as sa with the password of {} so the lockout came from there",
    "its password was set to {} and a scanner guessed it",
    "the bind credential, it is {} on every server",
    "agents only authenticate when you put {} as the api key",
    "someone posted the prod password ({}) in the channel",
    "log in as svc-backup with {}, then restart it",
    "the root password of db-2 was never rotated (it is still {})",
    "it takes an API key of one's own. Mine is {} until tonight.",
    "it hangs at the passphrase: you have to type {} there",
    'not "admin" but "root" with {}, as its label says',
    "Root-Passwort für die Konsole (iLO): {} . Danach neu starten.",
    "es fragt nach dem Truststore-Passwort ({}), deshalb hängt es",
    "Community-String {} auf allen Karten ersetzen", "auth_pass {}", "ldap_default_authtok = {}",
    "mount the share with user backup and pass `{}`, then rerun",
)  # fmt: skip
# The secret is on the same line as the keyword and does not look like an ordinary word.
_NEARBY = (
    "to unlock the volume with LUKS on nfs-2 type {} within two minutes",
    "Grafana has the same password as Kibana, namely {}, which we should split",
    "it should come in with {} instead of the expired password of etl",
)
_IN_COMMANDS = (
    "redis-cli -h cache01 -a {} info memory", "ldapsearch -x -D cn=admin,dc=x -w {} -b dc=x",
    "smbclient //srv/share -U backup%{} -c ls", "htpasswd -b /etc/nginx/.htpasswd deploy {}",
    "docker login registry.local -u ci -p {}", "openssl rsa -in k.pem -passin pass:{}",
    "echo 'deploy:{}' | chpasswd", "echo {} | passwd --stdin deploy",
    "echo '{}' | sudo -S systemctl restart nginx",
    "mongosh -u admin -p {} --authenticationDatabase admin",
    "curl -uadmin:{} https://registry.local/", "sqlcmd -S db -U sa -P '{}' -Q 'select 1'",
    "ipmitool -I lanplus -H bmc1 -U ADMIN -P {} chassis status", "unzip -P {} a.zip",
    "7z x -p{} a.7z", "keytool -list -keystore x.jks -storepass {}", "lftp -u bob,{} ftp.local",
    "rabbitmqctl add_user app {}", "nmcli dev wifi connect Office password {}",
    "snmpwalk -v2c -c {} 10.0.0.1", "net use Z: \\\\fs\\backup /user:CORP\\svc {}",
    "ConvertTo-SecureString '{}' -AsPlainText -Force", "machine git.local login ci password {}",
    "echo 'db1:5432:app:app:{}' > ~/.pgpass", "ALTER ROLE app WITH PASSWORD '{}'",
    "CREATE LOGIN reporting WITH PASSWORD = N'{}'", "CREATE USER x IDENTIFIED BY '{}'",
    "CONFIG SET requirepass {}", 'expect "assword:" {{ send "{}\\r" }}',
    "username netops privilege 15 secret 0 {}", "<server><password>{}</password></server>",
    '$env:DB_PASSWORD = "{}"', "define('DB_PASSWORD', '{}');",
    "snmpget -v3 -u nms -A Blue7authdog -X {} core-r1 sysUpTime.0",
    "printf '%s\\n' '{}' | openconnect --user=ada --passwd-on-stdin vpn.local",
    "check_pgsql -H pg-main -l nagios -p {} -w 2",
    'sqlplus /nolog\nconnect batch/"{}"@//ora-1.local:1521/FIN', "connect with sys/{} as sysdba",
    'user = "sonar:{}"', "backup -fstype=davfs :https\\://nas:{}@dav.local/remote",
    "tar cz /etc |\n  openssl enc -aes-256-cbc \\\n    -k {} >etc.tgz",
    "az storage blob list --account-name shop --account-key {}",
    "schtasks /change /tn Cleanup /ru LAN\\svc /rp {} /enable",
    "check_snmp -H db-1 -C {} -o .1.3.6.1.4",
    "imapsync --user1 postmaster --password1 {} --host2 mx2",
    "echo '[smtp.local]:587 relay:{}' >/etc/postfix/sasl_passwd",
    "printf 'ada\\n{}\\n' > /etc/openvpn/auth.txt",
    "<AdministratorPassword>\n  <Value>{}</Value>\n</AdministratorPassword>",
    'if ($http_x_hook_secret != "{}") {{ return 403; }}',
    'ALTER USER billing IDENTIFIED BY "{}" ACCOUNT UNLOCK;',
    'neighbor 10.0.0.1 authentication-key "{}"', "jq -n --arg token {} '{{t: $token}}'",
)  # fmt: skip
# The context shows that this is the password, even if it is an ordinary word.
_TOLD = (
    "They all still have user ubnt and {} as password.",
    "Marco has put {} as the root password everywhere",
    "Anmelden mit Benutzer admin und Kennwort {}, dann neu starten",
    "On se connecte avec utilisateur app, mdp {}.",
    "the test account (scott, password {}) can't log in",
    "Das Kennwort der Drucker lautet {}, bitte ändern", "When sudo prompts, type {} and go on",
    "db_root_pw: {}", "export LDAP_BINDPW={}", "mysqldump -u dump -p{} shop",
    "gpg --batch --passphrase {} -d backup.gpg", "7z x -p{} backup.7z",
    "    auth_type PASS\n    auth_pass {}\n",
    "neighbor 192.0.2.77 password {}\nneighbor 192.0.2.77 timers 10 30",
    "config vpn ipsec phase1-interface\n  set psksecret {}\n  set remote-gw 192.0.2.7",
    "SSID LAN-Guest, WPA2-Schlüssel: {}. Dann verbinden.",
    '<Connector keystoreFile="site.p12" keystorePass="{}"/>',
    'key "rndc-key" {{\n    secret "{}";\n}};', "pg3.lan:5432:*:stats:{}",
    "[smtp.local]:587 alerts@lan.local:{}", "- name: AMQP_PASS\n  value: {}\n",
    "chpasswd <<EOF\nada:tulip88\nbob:{}\nEOF\n", "stats auth noc:{}", "${{DB_PASSWORD:-{}}}",
    "cfg.secret || '{}'",
    "On sw-3 somebody set the password of the console to {}, all in small letters",
    "curl -sku elastic:{} https://es-1:9200/",
    "CREATE SUBSCRIPTION eu CONNECTION 'host=db password=''{}'' user=repl' PUBLICATION all",
)  # fmt: skip
_WORDS = ("marigold", "harbour", "pikkusisko", "Leuchtturm")
_PHRASES = (
    'Use "{}" as the passphrase of the volume.',
    "Passphrase of the signing key (gpg asks for it): {}. Type it with care.",
    'Its passphrase is "{}", all in small letters',
)
# Passwords that consist of multiple words, joined by hyphens or by capital letters.
_PUT_TOGETHER = (
    "Ada came in as root with the password {} and cleared the queue",
    "the volume opens with the LUKS passphrase {} at the console",
    "the guest password is {} this month",
    "somebody had set the write community to {} on the UPS",
    "the passphrase that lay in the safe ({}) opens the older tapes",
)
# No keyword identifies the password, but the text can't be a username.
_OF_USERS = (
    "log in as `rescue` with `{}`",
    "the management user is still ops with {} and the guest account is off",
    "I unlocked it in LDAP, your new one is {}.",
    "le compte ops et {} en attendant les clés",
)
_WITH_KEYS = (
    "curl 'https://maps.local/v1?key={}&q=1'", "curl -H 'Cookie: sessionid={}' https://desk.local",
    "curl -H 'Authorization: GenieKey {}' https://alerts.local", "client-key-data: {}",
    "PrivateKey = {}", "secret_key_base = '{}'", 'routing_key: "{}"',
    "curl https://discord.com/api/webhooks/11223344/{0}{0}",
    "azcopy cp 'https://acc.blob.local/c?sv=1&sig={}' .",
    '{{"auths": {{"registry.local": {{"auth": "{}"}}}}}}',
    "POST to https://alerts.local/webhook/v2/{}",
)  # fmt: skip
_UUID = "4b8d7952-3082-43ea-82af-50f2275b8cb0"
_BASIC = base64.b64encode(b"elastic:marigold").decode()
_SCRIPT_WITH_ONE = base64.b64encode(
    b"#!/bin/sh\nmysql -u root -pBlue7dog -h db-1 -e 'show tables'\n"
).decode()
_KEY_OF_RUBY = "rubygems_" + "4f0c" * 12
_OF_ONE_FORM = (
    Written(_UUID, f'{{"acl": {{"tokens": {{"agent": "{_UUID}"}}}}}}'),
    Written(_UUID, f"use the Consul token {_UUID} for it"),
    Written(_BASIC, f"httpHeaders:\n- name: Authorization\n  value: Basic {_BASIC}"),
    Written("JBSWQ4TOMV2GK3DP", "the second factor has the seed JBSWQ4TOMV2GK3DP"),
    Written("va9sxo.eusyfkfztpc9a079", "kubeadm join k8s-1:6443 --token va9sxo.eusyfkfztpc9a079"),
    Written("va9sxo.eusyfkfztpc9a079", "va9sxo.eusyfkfztpc9a079 is the token of the join"),
    Written("n0rthSt4r_ro", "rocommunity n0rthSt4r_ro 10.0.0.0/8"),
    Written("oLKvGZvdhnvBNt45OwhDcTlClZVcyUz/w1WBPSvN",
     "AKIAAOEO66XW6N2F6BSU / oLKvGZvdhnvBNt45OwhDcTlClZVcyUz/w1WBPSvN"),
    Written("Zebra!crossing19", "the one on the host is Zebra!crossing19 since Friday"),
    Written("804417", "the keypad wants a PIN, enter 804417"),
    Written("2jvpbfwle2leco0ituy92ch8qu", "https://mm.local/hooks/2jvpbfwle2leco0ituy92ch8qu"),
    Written("0x" + "5f" * 32, f"1 nfs/fs1@LAN (aes256-cts-hmac-sha1-96) (0x{'5f' * 32})"),
    Written("$9$h3jv4.9UzDjx", 'neighbor 10.0.0.1 authentication-key "$9$h3jv4.9UzDjx"'),
    Written("squ_" + "4f0c" * 10, f"-Dsonar.login=squ_{'4f0c' * 10}"),
    Written("070C1B4EA5C5", " key 7 070C1B4EA5C5\n!\nnot responding"),
    Written("wgwy oetv gadt xibf", "user noc@lan.local, app password: wgwy oetv gadt xibf . Refused"),
    Written("12345678", "bindpw 12345678"),
    Written("58312094715520936641", "WLAN-Schlüssel: 58312094715520936641"),
    Written("XQZPLMNRTVWABC", "RABBITMQ_ERLANG_COOKIE=XQZPLMNRTVWABC"),
    Written("Harbour7dog!", "SCHTASKS /change /tn A /ru B /RP Harbour7dog!"),
    Written("Qm7xK2p9Rt4Zs8Wd1Fv6Lc3Nb", "it was Qm7xK2p9Rt4Zs8Wd1Fv6Lc3Nb"),
    Written("Harbour1987x", "Das LDAP-Bind-Passwort ist Harbour1987x, wie immer"),
    Written(_SCRIPT_WITH_ONE, f"user data: {_SCRIPT_WITH_ONE}"),
    Written("Harbour 1987", "the Wi-Fi key is Harbour 1987, in hall 2 only"),
    Written(_KEY_OF_RUBY, f"---\n:rubygems_api_key: {_KEY_OF_RUBY}"),
    Written("k3q9zd1", "https://hooks.zapier.com/hooks/catch/123456/k3q9zd1/ is in a footer"),
    Written("harbour", "SSHPASS=harbour sshpass -e rsync -a /srv/ deploy@web-5:/srv/"),
    Written("harbour7", '17271.33 [0 10.0.0.9:514] "AUTH" "default" "harbour7"'),
    Written("harbour7", "printf '%s\\n%s\\n' 'harbour7' 'harbour7' | smbpasswd -s -a scanner"),
    Written("aGFyYm91cjctbGlnaHQ=", "data:\n  cookie: aGFyYm91cjctbGlnaHQ=\nkind: Secret\n"),
    Written("aGFyYm91cjctbGlnaHQ=", 'the old one has {"hmac-key":"aGFyYm91cjctbGlnaHQ="}'),
    Written("C14E488C05C9289F", '<machineKey decryptionKey="C14E488C05C9289F" />'),
    Written("2508", "They ask for a PIN on the phone. Ours is 2508, as ever."),
    Written("605149", "The PIN of the card for the safe (605149) was wrong three times"),
    Written("8412 6690", "the backup code 8412 6690 was taken at noon"),
    Written("grandmother's copper kettle", "the pass phrase, it is: grandmother's copper kettle"),
    Written("monday pancakes 42", 'the Wi-Fi passphrase is "monday pancakes 42"'),
)  # fmt: skip
ORDINARY = (
    "GPU-f0b14edb-6eb0-41fa-998b-6fcc61c3c7fb has fallen off the bus",
    "root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33:www-data:/var/www:/usr/sbin/nologin",
    "peer: 2aHjGKxddVjN1ZmR3ch4Y7Tcd2QWgR5yQKH2m4ovGOw=\n  endpoint: 198.51.100.23:51820",
    "base64 encoded: "
    + base64.b64encode(b"#!/bin/bash\nyum -y update\necho $(date +%s) >> /x").decode(),
    "PV UUID               fjRiIH-z4Jy-4oWx-u2pz-UZXY-28o4-SrekqM",
    "login to iqn.1992-08.com.netapp:sn.c164fc9c761e21edfbb4a4f03561d5f0:vs.7 fails",
    'TXT "v=DKIM1; k=ed25519; p=P18TmUAGCAoDdkiNa6sbQh7lkArOWdwc2FNQhJBA6+o="',
    '{"kty":"EC","crv":"P-256","x":"oPqax2TQMxwIjAqopjHmOQBCeiOsWUNFkjXhWTNkNAQ"}',
    "pass the request to load-balancer, the arguments to docker-compose and the flag to apt-get",
    "I forgot the password to grafana.corp.lan; copy the password file to backup.corp.lan",
    "The password is hard-coded, case-sensitive and machine-generated",
    "the passphrase is asked by the agent (gpg-agent)",
    "the admin and VMware7 run on Postgres with PostGIS3.4",
    "The Wi-Fi key is printed on the router, the WPA key is rotated monthly",
    "Set password requirements\nset password requirements",
    'if token == "start_list": go',
    "2 tests passed (of 3): TestLogin2fa failed",
    'The error for a wrong password is "Permission denied (publickey)"',
    'sshd[812]: "node-1:10250 kubelet:ready"',
    "PROXYBYPASS=10.0.0.0/8",
    "echo \"$8$9$destination\"; awk '{print $1 $9$timestamp}'",
    "the secret is missing, and the Pod payments-api-7d9c6b5f4d-xh5vd restarts",
    "don't log the password\n\nChange-Id: I917abaaa545d2e5e152a81d8b106ed969bc2fb48",
    "unknown user or bad password, status 0xC000006D",
    "update_password: on_create\nset masterauth from a file",
    "the signing key was rotated by the job (run ab2b1653-41b7-47c5-9da7-9f363f25740f)",
    "the access token renovate-bot-group has expired; the password auto-fill is off",
    "with the password reset-link from the mail; the community is well-known for it",
    "The secret's name is app-credentials-k8t2m9f4hc, by kustomize; cache key: it is "
    "ff2fe42bb9a63e7fb68575ea7f4d835b32e8fd52",
    "kind: ConfigMap\ndata:\n  mode: standalone\n",
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
    "i-0b7e1c2a9f4d38e61 lost its profile: unable to locate credentials",
    "User: arn:aws:sts::123456789012:assumed-role/ci/i-0a1b2c3d is not authorized",
    'password = getpass.getpass("New password: ")\ntoken = secrets.token_urlsafe(32)',
    'password: "[REDACTED]"',
    "helm upgrade grafana --set admin.existingSecret=grafana-admin",
    "gcloud secrets versions access latest --secret=stripe-webhook-secret",
    "sshpass -e ssh admin@sw-core-01 'show version'  # the password is in SSHPASS",
    '{"ts":"2024-07-01T12:00:05.113Z","caller":"login.go:88","msg":"invalid credentials"}',
    "PublicKey = jRQmMXkxODxVLoE6ZmF+1ZK41zGkJ+Cnq9hUlJ+HpaM=",
    "Create user deploy and password authentication stays off for it",
    "lock every user with an empty password and log in as root with the key",
    "passwd prompts twice: type yes when ssh prompts for the host key",
    "store the output as the password file and use it as password source",
    "Usuario o contraseña incorrectos para admin",
    "ALTER USER app_fact02 PASSWORD EXPIRE",
    "location / { proxy_pass http://backend_7f3a;\n}",
    "the password has expired\nTNS-12514: listener does not know the service",
    "PASS=3; awk '/^PASS/ {pass++} END {print pass, fail+0}' results_2025Q1.tsv",
    "users of shop#4120 reported it",
    "mkdir -p /srv/app2024/Data_v2/Logs1a",
    "Move the K8sCluster user to OAuth2proxy and the S3bucket account",
)


def written_secrets(seed: int = 20) -> Iterator[Written]:
    """Yield each place once, with a different secret in each."""
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
    for place in _TOLD:
        secret = draw.choice(_WORDS)
        yield Written(secret, place.format(secret))
    for place in _PHRASES:
        secret = " ".join(draw.sample(("copper", "kettle", "winter", "ladder", "giraffe"), 4))
        yield Written(secret, place.format(secret))
    for place in _PUT_TOGETHER:
        words = draw.sample(_WORDS, 2)
        for secret in ("-".join(words), "".join(word.capitalize() for word in words)):
            yield Written(secret, place.format(secret))
    for place in _OF_USERS:
        secret = f"{draw.choice('QRTZ')}{some(3)}{draw.randrange(10)}kettle{some(3)}"
        yield Written(secret, place.format(secret))
    yield from _OF_ONE_FORM
    for place in _NEARBY:
        secret = f"{some(5)}^{some(4)}"
        yield Written(secret, place.format(secret))
    for place in _WITH_KEYS:
        secret = some(32)
        yield Written(secret, place.format(secret))
