"""Export a script as a Rundeck job that checks the script's hash on the node before it runs the script.

Rundeck replaces option references such as `@option.x@` in scripts. If a replacement changes the script, its hash
differs and the job stops.
"""

from __future__ import annotations

import base64
import re
import uuid

import yaml

from catalog.programs.runners.script_data import RunnableScript, Value

# References that Rundeck replaces in scripts.
_REPLACED = re.compile(r"@[A-Za-z]+\.[^@\s]*@")
_NAMESPACE = uuid.UUID("6f1c2f0e-6f3a-5f0c-9a53-0c6e0b6d4b8e")


class _Literal(str):
    """A multi-line string that YAML writes as a literal block."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


_Dumper.add_representer(
    _Literal, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
)


def rundeck_job(script: RunnableScript) -> bytes:
    """Return the job as YAML, ready to import into a project."""
    about = script.provenance
    job: dict[str, object] = {
        "name": about.entry,
        "group": "scriptsmith",
        "uuid": str(uuid.uuid5(_NAMESPACE, about.entry)),
        "description": f"{about.title}\n\n{about.verification}\n{about.url}",
        "loglevel": "INFO",
        "executionEnabled": True,
        "scheduleEnabled": False,
        "sequence": {
            "keepgoing": False,
            "strategy": "node-first",
            "commands": [
                {
                    "description": f"version {about.version}, SHA-256 {about.sha256}",
                    "script": _Literal(_launcher(script)),
                    "args": " ".join(f"{one.name}=${{option.{one.name}}}" for one in script.values),
                }
            ],
        },
    }
    if script.values:
        job["options"] = [_option(one) for one in script.values]
    text = yaml.dump([job], Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    return f"{about.comment()}{text}".encode()


def _option(one: Value) -> dict[str, object]:
    parameter = one.parameter
    option: dict[str, object] = {"name": one.name, "required": one.is_required}
    if parameter.description:
        option["description"] = parameter.description
    if parameter.default:
        option["value"] = parameter.default
    if parameter.choices:
        option |= {"values": list(parameter.choices), "enforced": True}
    elif parameter.type.value == "number":
        option["regex"] = r"^[+-]?[0-9]+(\.[0-9]+)?$"
    return option


def _launcher(script: RunnableScript) -> str:
    """Return a launcher that writes the script to a file, checks its hash and runs it with NAME=VALUE arguments."""
    about = script.provenance
    # Rundeck also replaces references in comments, so the comment must not contain text that users can choose.
    lines = [
        "#!/usr/bin/env bash",
        f"# {about.entry} version {about.version}, SHA-256 {about.sha256}",
        "set -euo pipefail",
        "script=$(mktemp)",
        "trap 'rm -f -- \"$script\"' EXIT",
        _written_out(script),
        f"if ! echo '{about.sha256}  '\"$script\" | sha256sum --check --status -; then",
        "  echo 'The script differs from the verified one. Nothing was run.' >&2",
        "  exit 70",
        "fi",
    ]
    if script.values:
        lines += _reading(script)
    lines.append(f'{script.interpreter} "$script"{_words(script)}')
    return "\n".join(lines) + "\n"


def _written_out(script: RunnableScript) -> str:
    text, end = script.script, f"SCRIPT_{script.provenance.sha256[:16]}"
    as_it_is = text.endswith("\n") and not _REPLACED.search(text) and end not in text
    if as_it_is and all(c in "\n\t" or c.isprintable() for c in text):
        return f"cat > \"$script\" <<'{end}'\n{text}{end}"
    packed = base64.encodebytes(text.encode()).decode()
    return f"base64 --decode > \"$script\" <<'{end}'\n{packed}{end}"


def _reading(script: RunnableScript) -> list[str]:
    """Return the launcher lines that parse NAME=VALUE arguments and pass the values to the script."""
    lines = [f"given_{one.name}=" for one in script.values]
    lines += ['for pair in "$@"; do', "  case $pair in"]
    for one in script.values:
        lines.append(f"    {one.name}=*) given_{one.name}=${{pair#*=}} ;;")
    lines += ['    *) echo "Unknown: $pair" >&2; exit 64 ;;', "  esac", "done", "set --"]
    # The script's own default applies to an empty value.
    for one in script.variables:
        given = f"given_{one.name}"
        lines.append(f'if [ -n "${given}" ]; then export {one.name}="${given}"; fi')
    for one in script.options:
        given = f"given_{one.name}"
        word = f"-{one.option}" + ("" if one.option.endswith("=") else " ")
        lines.append(f'if [ -n "${given}" ]; then set -- "$@" {word}"${given}"; fi')
    names = [f"$given_{one.name}" for one in script.positional]
    if names and script.ends_options:
        lines.append(f'if [ -n "{"".join(names)}" ]; then set -- "$@" --; fi')
    for place, name in enumerate(names):
        later = "".join(names[place:])
        lines.append(f'if [ -n "{later}" ]; then set -- "$@" "{name}"; fi')
    return lines


def _words(script: RunnableScript) -> str:
    return ' "$@"' if script.options or script.positional else ""
