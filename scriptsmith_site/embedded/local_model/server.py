"""The process that serves one model file on a free loopback port with llama.cpp's HTTP server."""

from __future__ import annotations

import os
import secrets
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipeline.clients.local_models import LocalModel
from scriptsmith_site.embedded.local_model.schema_adapter import SchemaAdapter
from scriptsmith_site.embedded.servers.machine_memory import available_bytes

# The exit status of a server whose problem a restart can't fix.
UNUSABLE = 78
_OOM_SCORE = Path("/proc/self/oom_score_adj")
PACKAGES = Path(sys.prefix) / "local-model"
_GIB = 1024**3
_PROMPT_CACHE_MIB = 512
_AGAIN = "then start ScriptSmith again."


class Unusable(Exception):
    """The model can't be served until the user fixes a problem. The message says what to do."""


@dataclass(frozen=True)
class Resources:
    """The limits of a server. `context` is in tokens per slot."""

    threads: int
    context: int
    slots: int


def serve(model: Path, folder: Path, resources: Resources) -> None:
    """Serve the model and announce it in `folder`, until a signal arrives.

    Exits with UNUSABLE if a restart can't help.
    """
    told = LocalModel(model.stem, os.getpid(), key=secrets.token_urlsafe())
    told.announce(folder)
    # If memory runs out, the kernel kills this process rather than the database.
    _OOM_SCORE.write_text("1000")
    try:
        require_usable(model)
        server = _load(model, resources, told.key)
    except Unusable as problem:
        replace(told, problem=str(problem)).announce(folder)
        print(problem, file=sys.stderr)
        sys.exit(UNUSABLE)
    with SchemaAdapter(urlsplit(server.listening_address).port or 0) as adapter:
        replace(told, port=adapter.server_address[1]).announce(folder)
        adapter.serve_forever()


def require_usable(model: Path) -> None:
    """Raise Unusable if the file can't be read, is not a GGUF file, or does not fit in memory."""
    try:
        size = model.stat().st_size
        with model.open("rb") as file:
            begins = file.read(4)
    except OSError as error:
        raise Unusable(
            f"{model} can't be read: {error.strerror}. Run `make local-model`, or set "
            f"SCRIPTSMITH_LOCAL_MODEL to another GGUF file, {_AGAIN}"
        ) from error
    if begins != b"GGUF":
        raise Unusable(f"{model} is not a GGUF file. Replace it, {_AGAIN}")
    # Context and buffers need less than half a GiB for a small model, and less than a fifth of a large model's weights.
    needed, free = size + max(size // 5, _GIB // 2), available_bytes()
    if needed > free:
        raise Unusable(
            f"{model.name} needs about {needed / _GIB:.1f} GiB of memory, but only "
            f"{free / _GIB:.1f} GiB are available. Close other programs or choose a smaller model, "
            f"{_AGAIN}"
        )


def _load(model: Path, resources: Resources, key: str) -> Any:
    """Load the weights and return llama.cpp's server, which listens in its own threads. Raises Unusable."""
    sys.path.append(
        str(PACKAGES)
    )  # last, because an installed package may be built for this machine's GPU
    try:
        import xllamacpp
    except ImportError as error:
        raise Unusable(
            f"xllamacpp can't be imported: {error}. Run `make local-model`, {_AGAIN}"
        ) from error
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(model)
    wanted.model_alias = {model.stem}
    wanted.n_ctx = resources.context * resources.slots
    wanted.n_parallel = resources.slots
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = resources.threads
    wanted.cache_ram_mib = _PROMPT_CACHE_MIB
    wanted.api_keys = [key]
    wanted.endpoint_metrics = True
    wanted.endpoint_slots = False  # this endpoint shows prompts
    wanted.ui = wanted.fit_params = False
    wanted.verbosity = 1  # errors only
    try:
        return xllamacpp.Server(wanted)
    except RuntimeError as error:
        raise Unusable(
            f"llama.cpp can't load {model}: the file is damaged, too large, or has an unsupported "
            "architecture. The preceding lines in the log have details. Replace the file, "
            f"{_AGAIN}"
        ) from error
