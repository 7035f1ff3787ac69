"""Tests for the classification of calls to stubbed commands as changing or not, which `no_effect` depends on."""

from __future__ import annotations

import json
from pathlib import Path

from catalog.execution.cases import read_case_set
from catalog.execution.cases.checks import Seen
from catalog.execution.cases.checks.files import NoEffect
from catalog.execution.cases.effects import Effects
from catalog.execution.cases.personas import load_personas, only_reads
from catalog.execution.sandbox import Call
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.execution.scripted import run_seen

# For each command, calls that change a machine or write a file.
CHANGING = {
    "ansible-playbook": ["site.yml", "site.yml --check"],
    "apachectl": ["restart", "-k graceful"],
    "apt": ["install nginx", "upgrade -y"],
    "apt-cache": ["gencaches"],
    "apt-get": ["install nginx", "-y autoremove", "clean"],
    "apt-mark": ["hold nginx", "unhold nginx"],
    "at": ["now", "-d 3"],
    "aws": ["s3 rm s3://b/k"],
    "blkid": ["-g", "-w /etc/blkid.tab", "--garbage-collect", "-c /etc/blkid.tab"],
    "certbot": ["renew", "certificates --force-renewal renew"],
    "chgrp": ["adm /srv/a"],
    "chown": ["root /srv/a"],
    "crictl": ["rm x", "rmi --prune", "images --prune"],
    "crontab": ["-r", "-", "file", "-u ada -r"],
    "curl": ["-X DELETE http://x", "-s -XPOST", "-s -O", "http://x -o /srv/x", "-sS --data=x"],
    "dmesg": ["-c", "-T -c", "-Tc", "--read-clear", "-C", "--clear", "-n 1", "--console-off", "-D", "--cle"],
    "dnf": ["install nginx", "update"],
    "docker": ["rm x", "system prune -f", "restart x", "image prune"],
    "fdisk": ["/dev/sda", "-l --wipe always /dev/sda"],
    "gcloud": ["compute instances delete x"],
    "halt": [""],
    "haproxy": ["-f /etc/haproxy.cfg", "-c -f a -D -p /run/x"],
    "helm": ["upgrade x y", "template x --output-dir /srv/out", "template x --output-d=/srv/out"],
    "hostnamectl": ["set-hostname x", "hostname x"],
    "init": ["0"],
    "ip": ["addr flush dev eth0", "-4 addr flush dev eth0", "neigh flush all", "link set eth0 down",
           "-s link set eth0 down", "a f dev eth0", "l s eth0 down", "route add default via 10.0.0.1",
           "-4 r d default", "route flush cache", "-6 neigh del x", "netns add x", "-batch /srv/x"],
    "iptables": ["-A INPUT -j DROP", "-L -Z", "-LZ", "-L -n --zero", "-F", "-nL -Z INPUT", "-S -Z", "-t nat -F"],
    "journalctl": ["--vacuum-time=1d", "-u nginx --vacuum-time=1d", "-u nginx --rotate", "--no-pager --flush",
                   "-n 5 --vacuum-size 1M", "--rotat", "-b --cursor-file=/srv/c", "-x --sync"],
    "kubectl": ["delete pod x", "apply -f x", "config set-context x", "scale --replicas=0 deploy/x"],
    "lvextend": ["-L +1G /dev/vg/x"],
    "mail": ["-s x ops"],
    "mount": ["/dev/sda1 /mnt", "-a", "-o remount,ro /"],
    "mysql": ["-e 'drop table x'", "db"],
    "mysqladmin": ["shutdown", "ping shutdown", "status shut", "flush-logs",
                   "processlist kill 3", "status flush-hosts"],
    "mysqldump": ["-r /srv/x db", "--result-file=/srv/x db", "db -F", "--tab=/srv db", "-T/srv db", "--flush-logs db",
                  "--delete-master-logs", "--result=/srv/x"],
    "nc": ["-l 80"],
    "nginx": ["", "-s reload", "-t -g 'pid /x;'"],
    "pg_dump": ["-f /srv/x db", "db -f/srv/x", "--file=/srv/x db", "-Fd -f /srv/d db", "-vf /srv/x db", "--fil=/srv/x"],
    "podman": ["rm x", "volume prune"],
    "poweroff": [""],
    "psql": ["-c 'delete from x'", "-l -c x"],
    "reboot": [""],
    "redis-cli": ["flushall", "del x", "set x 1", "info --eval x", "config set x 1"],
    "resize2fs": ["/dev/sda1"],
    "rsync": ["-a x y", "-n --write-batch=x a b", "-n --no-dry-run a b", "--dry-run --log-file=/srv/l a b"],
    "scp": ["a b:"],
    "sendmail": ["x"],
    "service": ["nginx restart", "nginx stop"],
    "sftp": ["x"],
    "shutdown": ["-h now"],
    "ss": ["-K dst 10.0.0.1", "-tK", "--kill", "-t -K", "-D /srv/x", "--diag=/srv/x"],
    "ssh": ["x rm y"],
    "swapoff": ["-a"],
    "swapon": ["-a", "/dev/sda2", "--show -a"],
    "sysctl": ["vm.swappiness=10", "-p", "--system", "-w vm.swappiness=10", "-n vm.swappiness=10", "-n -p",
               "--load=/etc/x", "-n --system"],
    "systemctl": ["restart nginx", "--failed restart nginx", "enable --now nginx", "-q stop nginx", "daemon-reload",
                  "reset-failed", "--no-pager mask nginx"],
    "terraform": ["apply", "plan -out=x", "destroy"],
    "timedatectl": ["set-timezone UTC", "set-ntp true"],
    "ufw": ["enable", "deny 22"],
    "umount": ["/mnt"],
    "wget": ["http://x", "--spider --post-data=a http://x",
             "--spider -o /srv/x http://x", "-q --spider --output-file=/srv/x http://x"],
    "yum": ["install nginx", "update"],
}  # fmt: skip
# Calls to these commands change nothing except on the network.
ONLY_READ = {"df", "dig", "findmnt", "host", "lsblk", "lvs", "netstat", "nslookup", "pg_isready", "ping", "traceroute", "vgs"}  # fmt: skip  # noqa: E501
# The commands that these programs start are recorded separately, and no sandbox test checks log output.
OTHERS = {"doas", "logger", "runuser", "su", "sudo"}

READING = {
    "apt-cache": ["policy nginx", "search x"],
    "blkid": ["", "-o value -s UUID /dev/sda1", "-c /dev/null"],
    "curl": ["http://x/health", "-s http://x", "-sf localhost/health"],
    "dmesg": ["", "-T", "-T --level=err,warn", "-H -l err"],
    "ip": ["a", "-br addr", "addr show dev eth0", "-4 -o addr show", "route get 1.1.1.1", "-s link show eth0",
           "neigh", "route show default"],
    "iptables": ["-L -n -v --line-numbers", "-t nat -S", "-C INPUT -p tcp --dport 22 -j ACCEPT"],
    "journalctl": ["-u nginx --since -1h --no-pager", "--disk-usage", "-f -n 20"],
    "kubectl": ["get pods -A"],
    "mysqladmin": ["ping", "ping --silent", "--silent ping", "status -uroot"],
    "mysqldump": ["--single-transaction -uroot db", "--all-databases"],
    "nginx": ["-t"],
    "pg_dump": ["-Fc db", "-U postgres -h localhost db"],
    "redis-cli": ["info replication", "slowlog get 10", "get x"],
    "ss": ["-tlnp", "-s", "-tan state established"],
    "sudo": ["systemctl restart nginx"],  # the command that it starts changes something
    "swapon": ["--show", "--show=NAME --noheadings"],
    "sysctl": ["-n vm.swappiness", "vm.swappiness", "-a"],
    "systemctl": ["is-active --quiet nginx", "--failed --no-legend", "--no-pager status nginx",
                  "list-units --type=service"],
    "wget": ["-q --spider http://x"],
}  # fmt: skip


def calls(told: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(command, call) for command, found in told.items() for call in found]


def test_calls_that_change_something_are_known() -> None:
    assert CHANGING.keys() | ONLY_READ | OTHERS == load_personas().keys()
    assert not CHANGING.keys() & ONLY_READ
    assert not only_reads("unknown", ())
    assert [call for call in calls(CHANGING) if only_reads(call[0], tuple(call[1].split()))] == []
    assert [
        call for call in calls(READING) if not only_reads(call[0], tuple(call[1].split()))
    ] == []


def fault(*made: Call) -> str | None:
    seen = Seen(run_seen(calls=made), Effects((), (), (), ()), {})
    return NoEffect(check="no_effect").find_fault(seen)


def test_a_rule_of_the_case_can_say_that_its_call_reads() -> None:
    rule = {"args": ["job", "list"], "reads": True}
    case_set = make_set(
        case_data({"check": "no_effect"}, world={"commands": {"nomad": [rule, {"args": ["**"]}]}})
    )
    nomad = next(one for one in case_set.cases[0].world.list_commands() if one["name"] == "nomad")
    assert [one.get("reads", False) for one in nomad["rules"]] == [True, False]
    assert fault(Call("nomad", ("job", "list"), None, 0, True, reads=True)) is None
    assert (
        fault(Call("nomad", ("job", "stop"), None, 0, True))
        == "calls that may modify state: `nomad job stop`"
    )


def test_cases_from_before_keep_their_hash() -> None:
    """Results are found by this hash, so new optional fields must not change the hash of older test suites."""
    file = Path(__file__).parent / "set_of_an_earlier_release.json"
    told = json.loads(file.read_text())
    assert read_case_set(json.dumps(told["content"])).sha256 == told["sha256"]
