"""A slow but simple implementation of the network in full-precision numpy, for comparison."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from catalog.embedding.weights import find_model_folder, read_safetensors

Matrix = NDArray[np.float64]


class Reference:
    """A forward pass through all-MiniLM-L6-v2, one text at a time."""

    def __init__(self) -> None:
        folder = find_model_folder()
        tensors = read_safetensors(folder / "model.safetensors")
        self._weights = {name: values.astype(np.float64) for name, values in tensors.items()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(longest_of(folder))
        self._tokenizer.no_padding()

    def embed(self, text: str) -> Matrix:
        ids = self._tokenizer.encode(text).ids
        hidden = (
            self._weights["embeddings.word_embeddings.weight"][ids]
            + self._weights["embeddings.position_embeddings.weight"][: len(ids)]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self._normalize(hidden, "embeddings.LayerNorm")
        for layer in range(6):
            hidden = self._layer(hidden, f"encoder.layer.{layer}")
        mean: Matrix = hidden.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _layer(self, hidden: Matrix, name: str) -> Matrix:
        queries, keys, values = (
            self._linear(hidden, f"{name}.attention.self.{part}").reshape(-1, 12, 32)
            for part in ("query", "key", "value")
        )
        scores = np.einsum("ihd,jhd->hij", queries, keys) / math.sqrt(32)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = np.einsum("hij,jhd->ihd", shares, values).reshape(-1, 384)
        attended = self._linear(mixed, f"{name}.attention.output.dense")
        hidden = self._normalize(attended + hidden, f"{name}.attention.output.LayerNorm")
        inner = self._linear(hidden, f"{name}.intermediate.dense")
        inner *= 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        outer = self._linear(inner, f"{name}.output.dense")
        return self._normalize(outer + hidden, f"{name}.output.LayerNorm")

    def _linear(self, hidden: Matrix, name: str) -> Matrix:
        return hidden @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normalize(self, hidden: Matrix, name: str) -> Matrix:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        scaled: Matrix = centred / spread * self._weights[f"{name}.weight"]
        return scaled + self._weights[f"{name}.bias"]


def longest_of(folder: Path) -> int:
    """Return the maximum number of tokens that the original model reads."""
    settings = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
    return int(settings["max_seq_length"])
