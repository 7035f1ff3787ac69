"""Converts the weights of all-MiniLM-L6-v2 for the shipped graph: int8, in one memory-mapped file.

`minilm.onnx` next to this module has the network's nodes and the position of each number in `model.bin`. `python -m
bench.ship embedder` builds it. The output of this module depends only on the weights.

Weights are int8 with one scale per 32 neighbors (linear layers) or per row (word vectors). Measured on 300 statements,
the cosine with the fp32 network is 0.9997 on average and at least 0.9994, with less than two thirds of its memory. A
text of one letter has 0.9986. Scaling the activations of a whole tensor at once (dynamic quantization) lowered it to
0.985 and is not used.

Runs as a program, `python -m catalog.embedding.quantised WEIGHTS FOLDER`, so that the original weights take no memory
in the processes that embed.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from catalog.embedding.types import Vectors
from catalog.embedding.weights import read_safetensors

LAYERS = 6
LONGEST = 256  # tokens, as in the original's sentence_bert_config.json
BLOCK = 32  # weights of a linear layer that share a scale
GRAPH = Path(__file__).parent / "minilm.onnx"

Array = NDArray[np.float32] | NDArray[np.int8] | NDArray[np.uint8]


def quantise(weights: Mapping[str, Vectors]) -> Iterator[tuple[str, Array]]:
    """Yield the name and the values of each array in `model.bin`, in file order."""
    words, scales = _to_int8(weights["embeddings.word_embeddings.weight"])
    yield "words", words.astype(np.int8)
    yield "word_scales", scales
    # The position, plus the segment, which is always the first.
    yield (
        "places",
        weights["embeddings.position_embeddings.weight"][:LONGEST]
        + weights["embeddings.token_type_embeddings.weight"][0],
    )
    yield from _as_it_is(weights, "embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for name in ("query", "key", "value"):
            yield from _linear(weights, f"{layer}.attention.self.{name}")
        yield from _linear(weights, f"{layer}.attention.output.dense")
        yield from _as_it_is(weights, f"{layer}.attention.output.LayerNorm")
        yield from _linear(weights, f"{layer}.intermediate.dense")
        yield from _linear(weights, f"{layer}.output.dense")
        yield from _as_it_is(weights, f"{layer}.output.LayerNorm")


def _linear(weights: Mapping[str, Vectors], name: str) -> Iterator[tuple[str, Array]]:
    """Yield a weight in blocks of int8 (stored with 128 added), its scales, and the bias."""
    matrix = weights[f"{name}.weight"]
    outputs, inputs = matrix.shape
    blocks, scales = _to_int8(matrix.reshape(outputs, inputs // BLOCK, BLOCK))
    yield f"{name}.weight", (blocks + 128).astype(np.uint8)
    yield f"{name}.scales", scales.reshape(outputs, inputs // BLOCK)
    yield f"{name}.bias", weights[f"{name}.bias"]


def _as_it_is(weights: Mapping[str, Vectors], name: str) -> Iterator[tuple[str, Array]]:
    for part in ("weight", "bias"):
        yield f"{name}.{part}", weights[f"{name}.{part}"]


def _to_int8(values: Vectors) -> tuple[Vectors, Vectors]:
    """Return whole numbers from -127 to 127 along the last axis, and their scales."""
    scales = np.abs(values).max(axis=-1, keepdims=True) / np.float32(127)
    scales[scales == 0] = 1
    return np.round(values / scales), scales


def write_model(weights: Path, folder: Path) -> None:
    """Write the model to `folder`: the shipped nodes and their numbers."""
    shutil.copy(GRAPH, folder / "model.onnx")
    with (folder / "model.bin").open("wb") as file:
        for _name, values in quantise(read_safetensors(weights)):
            file.write(np.ascontiguousarray(values).tobytes())


if __name__ == "__main__":
    write_model(Path(sys.argv[1]), Path(sys.argv[2]))
