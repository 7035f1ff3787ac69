"""Commands known to read only, as tables. A name is added only with its manual page at hand."""

from __future__ import annotations

from typing import NamedTuple

from catalog.analysis.word_sets import word_set

# Every option and operand of these reads, or prints to standard output.
ANY_USE = word_set(
    """
    [ arch apropos b2sum base32 base64 basename bc bzcat bzgrep cal cat cksum clear cmp comm cut
    df diff dir dirname dpkg-query du echo egrep expand expr factor false fgrep findmnt fmt fold
    free getconf getent getfacl grep groups head hexdump host id iostat join jq last lastb
    locale ls lsattr lsblk lscpu lslocks lsmem lsmod lsns lsof lspci lsusb lvdisplay lvs md5sum
    mpstat namei netstat nl nproc nslookup numfmt od paste pgrep pg_isready pidof pmap printenv
    printf ps pstree pvdisplay pvs pwd readlink realpath rev seq sha1sum sha224sum sha256sum
    sha384sum sha512sum sleep stat strings sum tac tail test tput tr tracepath traceroute true
    tty uname unexpand uptime users vdir vgdisplay vgs vmstat w wc whatis whereis which who
    whoami xzcat xzgrep yes zcat zegrep zfgrep zgrep zstdcat
    """
)

# Builtins that change this shell only, and what closes a group.
SHELL_ONLY = word_set(
    """
    : } alias bg break cd continue declare dirs disown exit export fg exec getopts jobs let
    local logout popd pushd read readonly return set shift shopt times trap type typeset ulimit
    umask unalias unset wait
    """
)

# Commands that run another one and do nothing else: with them, that one decides.
TRANSPARENT = word_set(
    """
    sudo doas pkexec env nice ionice nohup setsid command builtin exec coproc { ! timeout stdbuf
    unbuffer chroot taskset chrt busybox runuser setpriv unshare nsenter xargs su ssh eval trap
    alias watch time sshpass bash sh dash zsh ksh ash rbash retry chronic eatmydata fakeroot torsocks
    dumb-init tini annotate-output rlwrap softlimit gosu su-exec setuidgid chpst faketime caffeinate
    prlimit numactl cpulimit proxychains proxychains4 hyperfine parallel
    """
)

MUTATING = word_set(
    """
    add-apt-repository adduser addgroup apt-mark at batch bunzip2 bzip2 cc chage chattr chcon chgrp chmod
    chown chpasswd chsh cp createdb createuser csplit dd dpkg-reconfigure e2fsck fallocate fsck
    gcc gpasswd groupadd groupmod gunzip gzip initdb insmod install kill killall ldconfig ln
    logger logrotate losetup lvcreate lvextend lvreduce lvresize make mkdir mke2fs mkfifo mkfs
    mknod mkswap mktemp modprobe mv newusers ntpdate passwd patch pg_restore pvcreate vgcreate
    vgextend vgreduce growpart fstrim pkill poweroff reboot renice resize2fs restorecon rm rmdir
    rmmod rsync scp setcap setfacl sftp shred shutdown split swapoff swapon sync tee touch
    truncate tune2fs umount unlink unxz unzstd update-alternatives update-grub useradd usermod
    visudo xfs_growfs xz zip zstd
    """
)


class Options(NamedTuple):
    """The options known to read only, and how many operands may follow them.

    Where `needs` names options, one of them must be there: without it the command does more.
    """

    flags: str = ""  # single letters without a value
    values: str = ""  # single letters with one
    long: str = ""  # names without dashes; a name that takes the next word ends in "="
    operands: int = 99
    needs: str = ""  # separated by blanks


LISTED_OPTIONS: dict[str, Options] = {
    "sort": Options(
        "bcCdfghiMmnRrsuVz",
        "kStT",
        "key= field-separator= reverse numeric-sort unique version-sort human-numeric-sort check"
        " ignore-case stable general-numeric-sort zero-terminated parallel",
    ),
    "uniq": Options("cdDiuz", "fsw", "count repeated unique ignore-case", operands=1),
    "shuf": Options("erz", "in", "head-count echo input-range repeat"),
    "file": Options("bikLhrsz", "mfF", "brief mime mime-type mime-encoding dereference"),
    "ss": Options(
        "htuanlpmieoZsr46dwx0H",
        "fF",
        "listening tcp udp all numeric processes summary no-header extended info memory options",
    ),
    "dmesg": Options(
        "dekLPrTtuxHw",
        "lfs",
        "human ctime level= facility= reltime kernel userspace time-format= color nopager follow",
    ),
    "journalctl": Options(
        "abefkmnqrxt",
        "unptSUogcF",
        "unit= lines= since= until= boot no-pager priority= follow reverse output= grep="
        " dmesg list-boots disk-usage catalog quiet utc system user all full no-full pager-end"
        " no-hostname field= fields header identifier=",
    ),
    "top": Options("bcHiSs1", "dnpuUoewE"),
    "hostname": Options("AdfIisy", "", "all-fqdns domain fqdn ip-address short", operands=0),
    "mount": Options("lv", "t", "", operands=0),
    "ifconfig": Options("as", "", "", operands=1),
    "crontab": Options("l", "u", "", operands=0, needs="l"),
    "lastlog": Options("", "tub", "time= user= before="),
    "blkid": Options("kip", "osLUt", "output= match-tag= match-token= label= uuid="),
    "fdisk": Options("lx", "", "list list-details", needs="l x list"),
    "dpkg": Options(
        "lLsSpI",
        "",
        "list listfiles status search print-avail info print-architecture",
        needs="l L s S p I list listfiles status search print-avail info print-architecture",
    ),
    "ping": Options("46aDnqvARrUb", "ciIswWtlMSQ", "count="),
    "ping6": Options("anqv", "ciIsw"),
    "dig": Options("46mru", "bcfkpqtxy"),
    "command": Options("vV", needs="v V"),
    "tree": Options("adfisphugDFrtxlCnSAJX", "LPIT", "noreport dirsfirst prune du si filelimit="),
    "zstd": Options("lt", needs="l t"),
    "gzip": Options("lt", needs="l t"),
    "xz": Options("lt", needs="l t"),
    "bzip2": Options("t", needs="t"),
    "unzip": Options("ltZ", needs="l t Z"),
    "zipinfo": Options("12smlvhMtTzC"),
    "iptables": Options(
        "LSnvx",
        "t",
        "list numeric verbose line-numbers exact list-rules table=",
        needs="L S list list-rules",
    ),
    "ip6tables": Options(
        "LSnvx",
        "t",
        "list numeric verbose line-numbers exact list-rules table=",
        needs="L S list list-rules",
    ),
    "nginx": Options("tTvVq", "cpg", needs="t T v V"),
    "sshd": Options("tT", "f", needs="t T"),
    "haproxy": Options("cVv", "f", needs="c v"),
    "visudo": Options("cqs", "f", "check", needs="c check"),
    "smartctl": Options(
        "aHiAxcl",
        "dl",
        "all health info attributes xall capabilities scan",
        needs="a H i A x c l all health info attributes xall scan",
    ),
    "mdadm": Options("DQE", "", "detail query examine scan", needs="D Q E detail query examine"),
    "sar": Options("AbBdFHhqrSuvWwyzp", "fPnIsei"),
    "rpm": Options(
        "qailpfcdRV",
        "",
        "query all list info whatprovides changelog queryformat= qf=",
        needs="q query",
    ),
    "nc": Options("zv46nu", "w", needs="z"),
    "at": Options("l", "q", needs="l"),
    "kill": Options("l0", needs="l 0"),
    "chage": Options("l", needs="l"),
    "logname": Options(),
    "history": Options(operands=1),
    "column": Options("tnxLe", "sNcoRTHJ", "table separator= output-separator="),
    "yq": Options("reMCP", "po", "output-format= input-format= raw-output"),
    "xmllint": Options("", "", "noout xpath= format valid noblanks"),
    "apt-get": Options(
        "sqyV", "ot", "simulate dry-run quiet assume-yes no-remove", needs="s simulate dry-run"
    ),
    "sudo": Options("ln", "uU", "list other-user user non-interactive", needs="l list"),
    "redis-cli": Options(
        "",
        "hpanui",
        "bigkeys memkeys hotkeys latency version raw no-auth-warning user pass",
        operands=0,
        needs="bigkeys memkeys hotkeys latency version",
    ),
    "env": Options("i0", "u", "", operands=0),
    "xargs": Options("0rt", "nLPdIas", "", operands=0),
    "hash": Options("rl"),
    "mapfile": Options("t", "nOsud"),
    "readarray": Options("t", "nOsud"),
    "pidstat": Options("dhIlRrstuUvwH", "pCGT"),
    "lsb_release": Options("aidrcsv", "", "all id description release codename short"),
    "timedatectl": Options("", "", "no-pager", operands=0),
    "hostnamectl": Options("", "", "no-pager static transient pretty", operands=0),
    "pip": Options("", "", "version", needs="version"),
    "docker": Options("v", "", "version", needs="v version"),
    "git": Options("", "", "version", needs="version"),
}

# Subcommands: words are separated by blanks and may have choices and stars; further operands may
# follow, unless the pattern ends in a dot.
SUBCOMMANDS: dict[str, tuple[str, ...]] = {
    "systemctl": ("status|show|cat|help|is-*|list-*|get-default", "show-environment"),
    "service": ("* status",),
    "rc-service": ("* status",),
    "supervisorctl": ("status|tail|pid|version",),
    "loginctl": ("list-*|*-status|show-*",),
    "kubectl": (
        "get|describe|logs|top|version|explain|api-resources|api-versions|cluster-info|events",
        "config view|current-context|get-contexts|get-clusters",
        "auth can-i|whoami",
        "adm top",
        "rollout status|history",
        "exec",
    ),
    "docker": (
        "ps|images|inspect|logs|stats|top|version|info|port|diff|history|events|search|exec",
        "system df|info|events",
        "container|image|volume|network|context|node|stack|secret|config|plugin ls|list|inspect|ps",
        "container logs|top|stats|port|diff|exec",
        "compose ps|ls|logs|images|top|port|version|exec",
        "service ls|ps|inspect|logs",
    ),
    "docker-compose": ("ps|logs|images|top|port|version|exec",),
    "git": (
        "status|log|show|diff|rev-parse|rev-list|ls-files|ls-tree|ls-remote|blame|describe|shortlog"
        "|grep|cat-file|merge-base|name-rev|for-each-ref|count-objects|whatchanged|cherry",
        "remote show|get-url",
        "stash list|show",
        "config get|list",
        "worktree|submodule list|status",
    ),
    "helm": ("list|ls|status|get|history|version|show|search|lint",),
    "terraform": ("show|output|validate|version",),
    "aws": (
        "* describe-*|list-*|head-*|lookup-*|wait|help",
        "s3 ls",
        "sts|ssm|iam|lambda|cloudwatch get-*",
        "logs tail|filter-log-events",
        "configure list|list-profiles",
    ),
    "gcloud": (
        *("* list|describe", "* * list|describe", "* * * list|describe", "* * * * list|describe"),
        "info|version",
    ),
    "az": ("* list|show", "* * list|show", "* * * list|show", "version"),
    "apt": ("list|show|search|policy|depends|rdepends",),
    "yum": ("list|info|search|repolist|check-update|provides", "history list|info"),
    "dnf": ("list|info|search|repolist|check-update|provides", "history list|info"),
    "apk": ("info|list|search|version",),
    "snap": ("list|info|find|version|services",),
    "pip": ("list|show|freeze|check",),
    "pip3": ("list|show|freeze|check",),
    "npm": ("ls|list|view|outdated",),
    "ufw": ("status",),
    "nft": ("list",),
    "zpool": ("list|status|iostat|get|history",),
    "zfs": ("list|get",),
    "mysqladmin": ("status|ping|processlist|version|variables|extended-status .",),
    "rabbitmqctl": ("status|list_*|cluster_status|node_health_check|ping",),
    "etcdctl": ("get|endpoint|version", "member|user|role|alarm list"),
    "consul": ("members|info|catalog|version", "kv get"),
    "vault": ("status|list", "kv list", "secrets|auth|policy list", "operator members"),
    "argocd": ("app|proj|repo|cluster list|get|diff|history|resources|manifests", "version"),
    "velero": ("backup|restore|schedule get|describe|logs", "version"),
    "nomad": ("status|version", "job|node|alloc status", "job plan|inspect|history"),
    "restic": ("snapshots|stats|check|ls|diff|version|find",),
    "borg": ("list|info|check",),
    "ceph": ("status|-s|health|df|versions|version", "osd tree|df|ls|stat|status", "pg stat|dump"),
    "rbd": ("ls|info|du|status",),
    "qm": ("list|status|config",),
    "pct": ("list|status|config",),
    "pvesh": ("get|ls",),
    "nvme": ("list|list-subsys|smart-log|id-ctrl|id-ns|version",),
    "crictl": ("ps|images|img|pods|inspect|inspecti|inspectp|info|stats|logs|version",),
    "doctl": ("* * list|get", "account get"),
    "heroku": ("ps|apps|apps:info|releases|logs|addons|domains",),
    "flyctl": ("status|logs|version", "apps|volumes|machines|ips|certs list"),
    "fly": ("status|logs|version", "apps|volumes|machines|ips|certs list"),
    "pulumi": ("preview|whoami|version", "stack ls|history"),
    "gluster": ("volume|peer info|status|list",),
    "btrfs": ("filesystem show|usage|df|du", "subvolume list|show", "device stats"),
    "nmcli": ("general|device status", "connection show", "dev|device show|status|list"),
    "timedatectl": ("status|show|list-timezones",),
    "hostnamectl": ("status",),
    "apachectl": ("configtest|status|fullstatus",),
    "apache2ctl": ("configtest|status|fullstatus",),
    "virsh": ("list|dominfo|domstate|nodeinfo|version|domstats",),
    "gh": ("* list|view|status",),
    "resolvectl": ("status|query|statistics",),
    "chronyc": ("tracking|sources|sourcestats|activity",),
    "apt-cache": ("policy|show|search|depends|rdepends|madison|showpkg|pkgnames|stats",),
    "redis-cli": (
        "get|mget|info|ping|keys|scan|ttl|pttl|type|exists|llen|lrange|scard|smembers|sismember|hget"
        "|hgetall|hlen|hkeys|zcard|zrange|zscore|dbsize|role|lastsave|time|strlen|xlen|xinfo|randomkey",
        "config get",
        "client list|info|getname",
        "slowlog get|len",
        "cluster info|nodes|slots",
        "memory usage|stats|doctor",
        "latency latest|history|doctor",
        "object encoding|idletime|freq",
    ),
}

# Options that make a listed subcommand write, or run something else.
UNSAFE_OPTIONS = word_set(
    """
    output o O output-directory exec-path ext-diff textconv config-env paginate
    open-files-in-pager c upload-pack set-upstream add edit e unset replace-all fix execute x
    eval rotate ldb pipe rdb functions-rdb
    """
)
# Of these tools -o and -c are the output's format, a container and the like.
FORMAT_OPTIONS = word_set(
    """
    kubectl docker docker-compose systemctl helm aws az gcloud gh zfs zpool service loginctl
    argocd velero doctl ceph rbd crictl
    """
)

# --- Standard tools: coreutils, util-linux, procps, iproute2, systemd, packages, Kubernetes ---

ANY_USE |= word_set(
    """
    b3sum bzdiff col colcrt colrm diff3 dpkg-architecture fincore getcap getenforce getopt gettext
    ggrep hostid ipcs isosize look lsfd lsinitramfs lsipc lsirq lslogins lsscsi lz4cat lzcat mcookie
    md5 more mountpoint mtr ncal nm objdump pathchk pinky pwdx readelf sdiff sensors sestatus shasum
    size sw_vers systemd-cgls systemd-delta systemd-detect-virt systemd-escape systemd-path tload
    tsort ul uuidgen uuidparse vm_stat whois xzcmp xzdiff zcmp zdiff zipgrep
    """
)
MUTATING |= word_set(
    """
    ar bsdtar compress cpio dos2unix ed ex genisoimage growpart hwclock ip6tables-restore
    iptables-restore link lz4 lzma mail mailx mkisofs msmtp msgfmt objcopy pax ranlib rename
    sendmail sntp ssh-copy-id ssh-keygen strip systemd-sysusers systemd-tmpfiles uncompress
    unix2dos unlzma wall write zipnote
    """
)
LISTED_OPTIONS |= {
    "envsubst": Options("v", "", "variables"),
    "iconv": Options("clst", "ft", "from-code= to-code= list silent"),
    "lsmod": Options(),
    "nstat": Options("asz", "", "ignore zeros"),
    "pacman": Options("QSilmosqeu", "", "", needs="Q"),
    "slabtop": Options("o", "ds", "once"),
    "ssh-add": Options("lL", needs="l L"),
    "stty": Options("a", "F", "all", operands=0),
    "utmpdump": Options("", "", "", operands=1),
    "xxd": Options("abeiup", "cglos", "", operands=1),
    "zramctl": Options("", "", "", operands=0),
}
for _name, _patterns in {
    "kubectl": (
        "wait|diff|kustomize|options|completion|neat|tree|who-can|ktop|resource-capacity",
        "krew list|search|info|version",
        "plugin list",
        "config get-users",
        "certificate list",
    ),
    "oc": (
        "get|describe|logs|version|whoami|status|explain|api-resources|api-versions|projects",
        "adm top",
    ),
    "docker": (
        "compose config|version|stats|events",
        "manifest|buildx inspect|ls|version|du",
        "service|stack|node|swarm inspect|ls|ps|services|ca",
    ),
    "docker-compose": ("config|version|events|ls",),
    "podman": (
        "ps|images|inspect|logs|stats|top|version|info|port|diff|history|events|search",
        "container|image|volume|network|pod ls|list|inspect|ps|exists|logs|stats",
    ),
    "crictl": ("ps|images|pods|inspect*|logs|stats*|info|version",),
    "git": ("check-ignore|check-attr|diff-tree|diff-index|diff-files|show-ref|var|verify-commit",),
    "brew": ("list|ls|info|outdated|search|deps|uses|config|doctor|leaves",),
    "gcloud": ("config get-value|get|list", "* * * * list|describe", "auth list"),
    "aws": ("* batch-get-*|search-*|validate-*|simulate-*", "configure list|get"),
    "systemd-analyze": (
        "blame|critical-chain|time|plot|dot|dump|verify|security|calendar|timespan",
    ),
    "networkctl": ("status|list",),
    "localectl": ("status|list-*",),
    "machinectl": ("list*|status|show",),
    "coredumpctl": ("list|info",),
    "udevadm": ("info|monitor",),
    "bridge": ("link|fdb|vlan|mdb show|list|ls",),
    "tc": ("qdisc|class|filter|action|actions show|list|ls",),
    "eksctl": ("get|info|version",),
    "kubeadm": ("version", "token|config list|view|print", "certs check-expiration"),
    "kustomize": ("version|cfg",),
    "flatpak": ("list|info|search|remotes|history",),
    "zypper": ("search|se|info|if|list-updates|lu|list-patches|lp|repos|lr|patches|packages",),
    "tmutil": ("list*|destinationinfo|status|latestbackup|machinedirectory",),
    "lvm": ("lvs|vgs|pvs|version",),
    "argocd": ("app list|get|diff|history|manifests|resources", "cluster|proj|repo list|get"),
    "restic": ("snapshots|ls|stats|find|diff|version",),
    "velero": ("backup|restore|schedule get|describe|logs", "version"),
    "promtool": ("check", "query"),
}.items():
    SUBCOMMANDS[_name] = (*SUBCOMMANDS.get(_name, ()), *_patterns)
FORMAT_OPTIONS |= {"argocd", "crictl", "eksctl", "networkctl", "oc", "podman"}
