"""The weights of all-MiniLM-L6-v2 as the shipped graph wants them: int8, in one file that is mapped.

`minilm.onnx` beside this module holds the network's nodes and says where in `model.bin` each number
is; `python -m bench.ship embedder` builds it. What is written here depends on the weights alone.

Weights are int8 with one scale for 32 neighbours (linear layers) or for one row (word vectors).
Measured on 300 statements: the cosine with the fp32 network is 0.9997 on average and at least
0.9994, at less than two thirds of its memory; a text of one letter has 0.9986. Scaling the
activations for a whole tensor at once (dynamic quantisation) went down to 0.985 and is not used.

Runs as a program, `python -m catalog.embedding.quantised WEIGHTS FOLDER`, so that the original
weights take no memory in the processes that embed.
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
LONGEST = 256  # tokens, as the original's sentence_bert_config.json says
BLOCK = 32  # weights of a linear layer that share a scale
GRAPH = Path(__file__).parent / "minilm.onnx"

Array = NDArray[np.float32] | NDArray[np.int8] | NDArray[np.uint8]


def quantise(weights: Mapping[str, Vectors]) -> Iterator[tuple[str, Array]]:
    """Name and values of all that stands in `model.bin`, in its order."""
    words, scales = _to_int8(weights["embeddings.word_embeddings.weight"])
    yield "words", words.astype(np.int8)
    yield "word_scales", scales
    # Position, and the segment that is always the first.
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
    """A weight in blocks of int8 (stored with 128 added), its scales, and the bias."""
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
    """Whole numbers from -127 to 127 along the last axis, and what to multiply them by."""
    scales = np.abs(values).max(axis=-1, keepdims=True) / np.float32(127)
    scales[scales == 0] = 1
    return np.round(values / scales), scales


def write_model(weights: Path, folder: Path) -> None:
    """Write the model to `folder`: the shipped nodes, and the numbers that they name."""
    shutil.copy(GRAPH, folder / "model.onnx")
    with (folder / "model.bin").open("wb") as file:
        for _name, values in quantise(read_safetensors(weights)):
            file.write(np.ascontiguousarray(values).tobytes())


if __name__ == "__main__":
    write_model(Path(sys.argv[1]), Path(sys.argv[2]))
