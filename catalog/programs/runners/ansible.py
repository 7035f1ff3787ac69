"""Export a script as an Ansible role. The role runs the script as a plain file, not as a template."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from catalog.programs.runners.awx import awx_survey
from catalog.programs.runners.script_data import RunnableScript, Value

PREFIX = "script_"  # Prefixes the parameter names, because all roles of a play share its variables.


class _Unsafe(str):
    """A string in which Ansible must not interpret braces as a template."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


_Dumper.add_representer(
    _Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style="'")
)


def ansible_role(script: RunnableScript) -> Iterator[tuple[str, bytes]]:
    """Yield the path in the role and the content of each file."""
    about = script.provenance
    yield "files/script.sh", script.script.encode()
    yield "PROVENANCE.json", about.as_json().encode()
    yield "tasks/main.yml", _yaml([_task(script)], about.comment())
    defaults = {PREFIX + one.name: _text(one.parameter.default or "") for one in script.values}
    optional = {
        name: text
        for (name, text), one in zip(defaults.items(), script.values, strict=True)
        if not one.is_required
    }
    yield "defaults/main.yml", _yaml(optional)
    yield "meta/argument_specs.yml", _yaml(_specs(script))
    yield "meta/main.yml", _yaml({"galaxy_info": _galaxy_info(script), "dependencies": []})
    yield "survey.json", awx_survey(script, prefix=PREFIX)


def role_name(script: RunnableScript) -> str:
    """Return the role's name. Ansible allows only letters, digits and underscores."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in script.provenance.entry)
    return f"scriptsmith_{plain.lower()}"


def _task(script: RunnableScript) -> dict[str, object]:
    # Ansible interprets a task's name as a template, so the name must not contain the entry's title.
    task: dict[str, object] = {
        "name": f"Run {role_name(script)} version {script.provenance.version}",
        "ansible.builtin.script": {
            "cmd": f"script.sh {_arguments(script)}".strip(),
            "executable": script.interpreter,
        },
        "changed_when": not script.is_read_only,
    }
    if script.variables:
        task["environment"] = _environment(script)
    if script.needs_root:
        task["become"] = True
    return task


def _arguments(script: RunnableScript) -> str:
    """Return the template expression for the script's arguments, without empty options and trailing empty arguments."""
    parts = [
        f"(['-{one.option}'{' ~' if one.option.endswith('=') else ','} {_value(one)}] if {_value(one)} else [])"
        for one in script.options
    ]
    positional = [_value(one) for one in script.positional]
    if positional and script.ends_options:
        parts.append(f"(['--'] if ({' ~ '.join(positional)}) else [])")
    for place, value in enumerate(positional):
        later = " ~ ".join(positional[place:])
        parts.append(f"([{value}] if ({later}) else [])")
    return f"{{{{ ({' + '.join(parts)}) | map('quote') | join(' ') }}}}" if parts else ""


def _environment(script: RunnableScript) -> str:
    """Return the template expression for the variables. Omit empty variables, so that the script's defaults apply."""
    pairs = ", ".join(f"'{one.name}': {_value(one)}" for one in script.variables)
    return f"{{{{ {{{pairs}}} | dict2items | rejectattr('value', 'equalto', '') | items2dict }}}}"


def _value(one: Value) -> str:
    return f"({PREFIX}{one.name} | string)"


def _specs(script: RunnableScript) -> dict[str, object]:
    options: dict[str, object] = {}
    for one in script.values:
        parameter = one.parameter
        spec: dict[str, object] = {"type": "str", "required": one.is_required}
        if parameter.description:
            spec["description"] = _text(parameter.description)
        if parameter.choices:
            empty = [] if one.is_required or parameter.default else [""]
            spec["choices"] = [_text(choice) for choice in (*empty, *parameter.choices)]
        if not one.is_required:
            spec["default"] = _text(parameter.default or "")
        options[PREFIX + one.name] = spec
    words = f"{script.provenance.entry} version {script.provenance.version}"
    return {"argument_specs": {"main": {"short_description": words, "options": options}}}


def _galaxy_info(script: RunnableScript) -> dict[str, object]:
    return {
        "role_name": role_name(script),
        "author": "ScriptSmith",
        # Omit the title, because it may contain braces and `ansible-galaxy` does not support `!unsafe`.
        "description": f"{script.provenance.entry} version {script.provenance.version}",
        "license": "proprietary",
        "min_ansible_version": "2.15",
        "platforms": [],
    }


def _text(text: str) -> str:
    """Return the text, marked as unsafe if Ansible could interpret its braces as a template."""
    return _Unsafe(text) if "{" in text else text


def _yaml(value: object, comment: str = "") -> bytes:
    text = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    return f"---\n{comment}{text}".encode()
