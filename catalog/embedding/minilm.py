"""The sentence embedder all-MiniLM-L6-v2, run by onnxruntime on the CPU."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from catalog.embedding.store import open_model
from catalog.embedding.types import EmbedderUnavailable, Vectors

LONGEST = 256  # tokens; the original model's max_seq_length and the graph's number of positions
_LONGEST_TEXT = 20_000  # characters; far more than 256 tokens, to limit the cost of hostile input


class _Loaded(NamedTuple):
    tokenizer: Tokenizer
    session: onnxruntime.InferenceSession


class MiniLMEmbedder:
    """The all-MiniLM-L6-v2 model with int8 weights. The model is loaded on first use and is thread-safe."""

    name = "all-minilm-l6-v2-int8"  # must change whenever the vectors change
    dimension = 384

    def __init__(self, cache: Path, *, threads: int = 1) -> None:
        """Store the built model in the `cache` folder, and use `threads` threads per text."""
        self._cache = cache
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def load(self) -> None:
        """Load the model now instead of on the first `embed`. Raises `EmbedderUnavailable`."""
        self._load()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of unit length for each text. Text after the 256th token has no effect.

        Texts run one by one, so a vector never depends on other texts. On one thread, a padded batch of 32 took a third
        longer per text and used 40 MiB more memory.
        """
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if texts:
            tokenizer, session = self._load()
            for row, text in zip(vectors, texts, strict=True):
                encoding = tokenizer.encode(_clean(text))
                ids = np.array(encoding.ids, dtype=np.int64)
                row[:] = session.run(["vector"], {"input_ids": ids})[0][0]
        return vectors

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _open(open_model(self._cache, self.name), self._threads)
        return self._loaded


def _open(folder: Path, threads: int) -> _Loaded:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(LONGEST)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The arena and the memory pattern would keep the memory of a long text allocated.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's errors have no other common base class
        reason = str(error).splitlines()[0]
        raise EmbedderUnavailable(f"onnxruntime cannot load {folder.name}: {reason}") from error
    return _Loaded(tokenizer, session)


def _clean(text: str) -> str:
    """Truncate the text, and replace unpaired surrogates, which the tokenizer rejects."""
    return text[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")
