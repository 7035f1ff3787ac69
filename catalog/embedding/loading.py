"""Create the embedder named by the SCRIPTSMITH_EMBEDDER setting."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from catalog.embedding.types import Embedder, EmbedderUnavailable

_SHORT = {
    "minilm": "catalog.embedding.minilm:MiniLMEmbedder",
    "hashing": "catalog.embedding.hashing:HashingEmbedder",
}


def load_embedder(spec: str, cache: Path) -> Embedder:
    """Return the embedder that `spec` names. Models store their files in the `cache` folder.

    `spec` is "minilm", "hashing" or "package.module:Class", a class that takes `cache` as its only argument. Modules
    are imported by name, so that only processes that need onnxruntime load it. A model reads its files when it embeds
    its first text. Raises `EmbedderUnavailable`.
    """
    module_name, colon, class_name = _SHORT.get(spec, spec).partition(":")
    if not (module_name and colon and class_name):
        raise EmbedderUnavailable(
            f'unknown embedder {spec!r}: use "minilm", "hashing" or "package.module:Class"'
        )
    try:
        embedder = getattr(import_module(module_name), class_name)(cache)
    except (ImportError, AttributeError, TypeError) as error:
        why = " ".join(str(error).split())
        raise EmbedderUnavailable(f"the embedder {spec!r} cannot be loaded: {why}") from error
    if not isinstance(embedder, Embedder):
        raise EmbedderUnavailable(
            f"{spec!r} is not an embedder: it needs name, dimension and embed()"
        )
    return embedder
