"""The rules that are data: their examples, options that hide a subcommand, dry runs, and AWS's table."""

from __future__ import annotations

import pytest

from catalog.analysis import Risk, SideEffect, analyse_static
from catalog.analysis.risk.rule_data import RuleError
from catalog.analysis.risk.subcommands import RULES, read_rules

RULE = "[destructive warning]\ntool remove\n  Deletes «it».\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (RULE, r"data.txt: the rule 'tool remove' needs a line with \+ and one with -"),
        (f"{RULE}  + tool remove a\n", "'tool remove' needs"),
        (f"{RULE}  - tool list\n", "'tool remove' needs"),
        (f"{RULE}  + tool list\n  - tool add\n", "'tool remove' should fit 'tool list'"),
        (f"{RULE}  + tool remove\n  - tool list ; tool remove a\n", "should not fit 'tool remove a'"),
        (f"{RULE}  + tool remove --dry-run\n  - tool\n", "should fit 'tool remove --dry-run'"),
    ],
)  # fmt: skip
def test_rule_without_or_against_its_examples_is_refused(text: str, problem: str) -> None:
    with pytest.raises(RuleError, match=problem):
        read_rules(text, "data.txt")


def test_rule_hidden_by_an_earlier_rule_is_refused() -> None:
    hidden = (
        f"{RULE}  + tool remove\n  - tool\ntool remove all\n  X.\n  + tool remove all\n  - tool\n"
    )
    with pytest.raises(RuleError, match="'tool remove all' should fit"):
        read_rules(hidden, "data.txt")


def test_messages_are_sentences_that_end() -> None:
    rules = {id(rule): rule for found in RULES.values() for rule in found}.values()
    assert len(rules) > 400
    assert not [r.block.head for r in rules if not r.block.message.endswith(".")]


# Global options with a value, known to us or not, do not hide what a tool does.
OPTIONS = {
    "docker": ["compose -f prod.yml -p shop down -v", "--context prod compose --env-file x down --volumes",
               "--frobnicate x volume rm data", "-H tcp://x system prune -af"],
    "docker-compose": ["-f a.yml down -v", "--env-file prod.env --profile all down --volumes"],
    "kubectl": ["--request-timeout 5s delete ns prod", "--as bob -n x delete pod a", "--new-option x delete pod a",
                "-v 9 delete pvc --all", "--cache-dir /tmp delete pod a"],
    "oc": ["--as admin delete project x", "--loglevel 4 adm prune images --confirm"],
    "helm": ["--kube-context prod uninstall shop", "--registry-config x delete shop"],
    "git": ["--work-tree D --git-dir G clean -fdx", "-C repo -c a.b=c reset --hard", "--namespace x push --force"],
    "apt-get": ["-o Dpkg::Options::=--force-confold -y purge nginx", "-t stable remove nginx"],
    "aws": ["--profile p --region r s3 rb s3://b --force", "--cli-read-timeout 9 ec2 terminate-instances"],
    "gcloud": ["--project p compute instances delete vm", "--verbosity debug beta container clusters delete c"],
    "az": ["--subscription s group delete -n g", "vm --new x delete -n y"],
    "terraform": ["-chdir=infra destroy", "-chdir=infra apply -destroy"],
    "restic": ["-r /b --password-file p forget --prune", "--new x forget abc --prune"],
    "ceph": ["--cluster x osd purge 3", "-n client.admin osd pool delete p p"],
    "nomad": ["job stop -purge shop"],
    "etcdctl": ["--endpoints http://x --new y del --prefix /"],
    "redis-cli": ["-h x -p 1 flushall", "--new y FLUSHDB"],
}  # fmt: skip


def test_option_with_a_value_hides_no_deletion() -> None:
    commands = [f"{tool} {rest}" for tool, cases in OPTIONS.items() for rest in cases]
    missed = [
        command
        for command in commands
        if not any(f.code == "destructive" for f in analyse_static(command).problems)
    ]
    assert not missed


DRY = [
    *("kubectl delete pod a --dry-run", "kubectl delete pod a --dry-run=client"),
    *("kubectl delete pod a --dry-run=server", "aws s3 rm s3://b --recursive --dryrun"),
    *("apt-get -s remove nginx", "apt-get --simulate purge nginx", "git clean -nfdx", "git push -n --force"),
    *("restic forget --prune --dry-run", "borg prune -n /b", "zfs destroy -nv tank/x", "helm uninstall a --dry-run"),
    *("rclone purge remote:x --dry-run=true", "docker compose --dry-run down -v"),
]  # fmt: skip
WET = [
    *("kubectl delete pod a --dry-run=none", "kubectl delete pod a --dry-run=false"),
    *("oc delete pod a --dry-run=client --dry-run=none", "kubectl delete pod a --dry-run=$MODE"),
    *(
        "helm uninstall a --dry-run=false",
        "rclone purge remote:x --dry-run=0",
        "git reset --hard -n",
    ),
]


def test_only_a_dry_run_is_treated_as_one() -> None:
    found = {c: {f.code for f in analyse_static(c).problems} for c in (*DRY, *WET)}
    assert not [command for command in DRY if "destructive" in found[command]]
    assert not [command for command in WET if "destructive" not in found[command]]


def test_project_name_of_compose_is_no_password() -> None:
    for script in ("docker compose -p shop down", "docker compose -p shop-prod up -d"):
        assert "secrets" not in {found.code for found in analyse_static(script).problems}
    login = analyse_static("docker login -u bob -p hunter22hunter")
    assert "secrets" in {found.code for found in login.problems}


@pytest.mark.parametrize(
    ("command", "effect", "code"),
    [
        ("aws ec2 describe-instances", SideEffect.READ_ONLY, ""),
        ("aws --profile p elbv2 describe-load-balancers", SideEffect.READ_ONLY, ""),
        ("aws cloudwatch get-metric-statistics --period 60", SideEffect.READ_ONLY, ""),
        ("aws s3api get-bucket-acl --bucket b", SideEffect.READ_ONLY, ""),
        ("aws route53 list-hosted-zones", SideEffect.READ_ONLY, ""),
        ("aws s3api get-object --bucket b --key k out", SideEffect.MUTATING, "mutating"),
        ("aws ec2 run-instances --image-id x", SideEffect.MUTATING, "mutating"),
        ("aws ec2 create-tags --resources x", SideEffect.MUTATING, "mutating"),
        ("aws iam attach-user-policy --user-name x", SideEffect.MUTATING, "privileged"),
        ("aws dynamodb delete-table --table-name x", SideEffect.MUTATING, "destructive"),
        ("aws secretsmanager get-secret-value --secret-id x", SideEffect.UNKNOWN, "reads_secrets"),
        ("aws ssm get-parameter --name x --with-decryption", SideEffect.UNKNOWN, "reads_secrets"),
        ("aws nonsense get-thing", SideEffect.UNKNOWN, ""),
    ],
)
def test_aws_action_has_the_effect_of_its_access_level(
    command: str, effect: SideEffect, code: str
) -> None:
    report = analyse_static(command)
    assert report.side_effect is effect
    codes = {found.code for found in report.problems} - {"network"}
    assert code in codes if code else not codes
    assert (report.risk is Risk.LOW) == (effect is SideEffect.READ_ONLY)
