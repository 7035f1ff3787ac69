"""Tools whose effect is in their subcommand or option: a table of patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from catalog.analysis.risk.effects import Code, Effect, list_words
from catalog.analysis.shell.arguments import Arguments, read_arguments
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.program import Program
from catalog.analysis.types import Level


@dataclass(frozen=True, slots=True)
class Pattern:
    """Subcommands in order, then options any of which must be there; `*` and `a|b` are understood.

    In the message, «it» stands for the operands after the subcommands.
    """

    subcommands: tuple[str, ...]
    options: tuple[str, ...]
    code: Code
    level: Level
    message: str

    def matches(self, arguments: Arguments) -> bool:
        """Whether the arguments begin with the subcommands and have one of the options."""
        given = arguments.subcommands[: len(self.subcommands)]
        if len(given) < len(self.subcommands):
            return False
        if self.options and not arguments.has(*self.options):
            return False
        return all(
            any(fnmatchcase(word.lower(), choice.lower()) for choice in pattern.split("|"))
            for word, pattern in zip(given, self.subcommands, strict=True)
        )


# Options that take a value, or the value would be taken for the subcommand.
_SHORT = {
    "kubectl": "nlfcos",
    "oc": "nlfcos",
    "docker": "Hc",
    "podman": "c",
    "git": "Cc",
    "systemctl": "tpnHMos",
    "helm": "nf",
    "redis-cli": "hpansu",
    "crontab": "u",
}
_LONG = frozenset(
    "namespace context kubeconfig selector filename output host region profile project zone"
    " resource-group subscription type state property user cluster endpoint-url kube-context".split()
)


def read_tool_arguments(command: Command) -> Arguments:
    """Options and subcommands of a tool with subcommands."""
    return read_arguments(command.arguments, short=_SHORT.get(command.name, ""), long=_LONG)


def find_subcommand_effects(command: Command, program: Program) -> Iterator[Effect]:
    """What the table says of the command; the first pattern that fits counts."""
    patterns = PATTERNS.get(command.name)
    if patterns is None:
        return
    arguments = read_tool_arguments(command)
    if command.name == "kill" and arguments.has("0", "l"):
        return  # asks whether a process is there
    for pattern in patterns:
        if pattern.matches(arguments):
            rest = arguments.operands[len(pattern.subcommands) :]
            message = pattern.message.replace("«it»", list_words(rest, otherwise="(named at run time)"))
            yield Effect(pattern.code, pattern.level, message, command.span)
            return


def _read_table(table: str, code: Code, level: Level) -> dict[str, list[Pattern]]:
    """Lines of `program subcommands --options = message`."""
    patterns: dict[str, list[Pattern]] = {}
    for line in table.strip().splitlines():
        left, _, message = line.partition(" = ")
        names, *words = left.split()
        options = tuple(word.lstrip("-") for word in words if word.startswith("-"))
        subcommands = tuple(word for word in words if not word.startswith("-"))
        for name in names.split("|"):
            pattern = Pattern(subcommands, options, code, level, message.strip())
            patterns.setdefault(name, []).append(pattern)
    return patterns


_DESTRUCTIVE = """
kubectl|oc delete = Deletes Kubernetes objects: «it».
kubectl|oc replace --force = Deletes and recreates Kubernetes objects.
helm|helm3 uninstall|delete = Deletes the release «it» and what belongs to it.
docker|podman system prune = Deletes unused containers, images and networks.
docker|podman *|builder prune = Deletes everything of that kind that is not in use.
docker|podman volume rm|remove = Deletes the volume «it» with its data.
docker|podman container|image|network rm = Deletes «it».
docker|podman rm|rmi = Deletes «it».
docker|podman compose down|rm -v --volumes = Deletes the volumes with their data.
docker-compose down|rm -v --volumes = Deletes the volumes with their data.
git clean -f --force = Deletes files that git does not track.
git reset --hard = Throws away every change that is not committed.
git checkout|restore . = Throws away every change that is not committed.
git checkout -f --force = Throws away every change that is not committed.
git push -f --force --force-with-lease --mirror --delete -d = Replaces or deletes history on the server.
git branch -D = Deletes branches even where they are not merged.
git stash drop|clear = Deletes stashed changes.
git filter-branch|filter-repo = Rewrites the history.
git reflog expire = Deletes what undo would need.
aws s3|s3api rm|rb|delete-* = Deletes objects or buckets: «it».
aws * delete-*|terminate-*|deregister-*|purge-*|release-*|schedule-key-deletion = Deletes or ends resources at AWS.
gcloud * delete = Deletes resources at Google Cloud: «it».
gcloud * * delete = Deletes resources at Google Cloud: «it».
gsutil rm|rb = Deletes objects or buckets: «it».
az * delete = Deletes resources at Azure.
az * * delete = Deletes resources at Azure.
terraform|tofu destroy = Destroys every resource that Terraform manages.
terraform|tofu apply --destroy -destroy = Destroys every resource that Terraform manages.
redis-cli|valkey-cli flushall|flushdb = Deletes every key in Redis.
redis-cli|valkey-cli del|unlink = Deletes Redis keys: «it».
dropdb = Deletes the database «it».
dropuser = Deletes the database user «it».
mysqladmin drop = Deletes the database «it».
rabbitmqctl reset|force_reset|delete_queue|purge_queue|delete_vhost = Deletes queues or everything in RabbitMQ.
kafka-topics|kafka-topics.sh --delete = Deletes Kafka topics.
etcdctl del = Deletes keys in etcd: «it».
userdel|deluser = Deletes the user «it».
groupdel|delgroup = Deletes the group «it».
crontab -r = Deletes every cron job of the user.
zpool|zfs destroy = Destroys «it» with all data in it.
mdadm --zero-superblock = Deletes the RAID description of «it».
cryptsetup luksFormat|luksErase|erase = Overwrites the encryption header: what is on it is lost.
apt|apt-get|dnf|yum|zypper remove|purge|autoremove|erase = Removes packages: «it».
rpm -e --erase = Removes packages: «it».
dpkg -r -P --remove --purge = Removes packages: «it».
apk del = Removes packages: «it».
pip|pip3|npm|gem|snap|brew|flatpak uninstall|remove = Removes packages: «it».
journalctl --vacuum-size --vacuum-time --vacuum-files = Deletes old entries of the journal.
virsh destroy|undefine|vol-delete = Ends or deletes the virtual machine «it».
pm2 delete = Deletes the process «it» from pm2.
consul kv delete = Deletes keys in Consul.
vault delete|destroy = Deletes secrets in Vault.
"""

_DISRUPTIVE = """
systemctl stop|kill|isolate = Stops «it».
systemctl disable|mask = Keeps «it» from starting again.
systemctl reboot|poweroff|halt|kexec|rescue|emergency|suspend|hibernate = Takes the machine down.
service * stop = Stops the service.
rc-service * stop = Stops the service.
supervisorctl|pm2 stop|shutdown = Stops «it».
reboot|shutdown|poweroff|halt = Takes the machine down.
init|telinit 0|6 = Takes the machine down.
killall|pkill = Ends every process that matches «it».
docker|podman stop|kill|pause = Stops «it».
docker|podman compose|swarm|container down|stop|kill|leave = Stops containers.
docker-compose down|stop|kill = Stops containers.
kubectl|oc drain = Moves every pod away from the node «it».
kubectl|oc scale --replicas = Changes the number of running pods.
kubectl|oc cordon = Keeps new pods away from the node «it».
kubectl|oc rollout restart|undo = Replaces the running pods.
iptables|ip6tables -F --flush -X -P = Drops or reverses firewall rules.
nft flush|delete = Drops firewall rules.
ufw disable|reset = Switches the firewall off.
ip link|addr|address|route|r|a|l set|del|delete|flush|down = Changes the network of this machine.
ifdown = Takes a network interface down.
nmcli connection|con|networking|device|dev down|off|disconnect|delete = Takes a network connection down.
umount = Unmounts «it».
swapoff = Switches swap space off.
setenforce 0|Permissive = Switches SELinux off.
aws * stop-*|reboot-* = Stops or restarts resources at AWS.
crontab * = Replaces the cron jobs of the user.
"""

_CHANGING = """
systemctl start|restart|reload|reload-or-restart|try-restart|enable|unmask|reenable = Starts or restarts «it».
systemctl daemon-reload|daemon-reexec|reset-failed|set-property|edit|set-default = Changes systemd's settings.
service|rc-service * start|restart|reload|force-reload = Starts or restarts the service.
supervisorctl|pm2 start|restart|reload|update = Starts or restarts «it».
kill = Sends a signal to «it».
docker|podman run|start|restart|build|create|update|pull|push|tag|load|import|cp = Changes containers or images.
docker-compose up|restart|build|pull = Changes containers or images.
kubectl|oc apply|create|patch|edit|replace|set|label|annotate|taint|uncordon|autoscale|expose|run = Changes Kubernetes objects.
helm|helm3 install|upgrade|rollback = Changes a release.
terraform|tofu apply|import|taint|state = Changes resources that Terraform manages.
apt|apt-get|dnf|yum|zypper|apk|snap|brew install|upgrade|update|dist-upgrade|full-upgrade|add = Changes installed packages.
pip|pip3|npm|gem|cargo|go install|update|i|ci|get = Installs packages.
mount * = Mounts «it».
swapon = Switches swap space on.
iptables|ip6tables -A -I -D -R --append --insert --delete = Changes firewall rules.
ufw enable|allow|deny|delete = Changes firewall rules.
ip link|addr|address|route|r|a|l add|replace|change|append = Changes the network of this machine.
"""


def _merge(*tables: dict[str, list[Pattern]]) -> dict[str, tuple[Pattern, ...]]:
    names = {name for table in tables for name in table}
    return {
        name: tuple(pattern for table in tables for pattern in table.get(name, []))
        for name in names
    }


PATTERNS = _merge(
    _read_table(_DESTRUCTIVE, "destructive", Level.WARNING),
    _read_table(_DISRUPTIVE, "mutating", Level.WARNING),
    _read_table(_CHANGING, "mutating", Level.INFO),
)
