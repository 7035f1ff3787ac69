"""Build the shipped graph of all-MiniLM-L6-v2.

The graph is a BERT encoder (Devlin et al. 2019) with six layers, width 384 and twelve heads. Its output is the mean
over the tokens, scaled to length 1 (Reimers and Gurevych 2019). Its input is the tokens of a single text. The graph
therefore needs no mask, and a text's vector never depends on other texts.

The file contains the nodes and the offsets of the weights, but not the weights. Each installation converts the original
weights, which does not require the onnx package.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from catalog.embedding.quantised import BLOCK, GRAPH, LAYERS, Array, quantise
from catalog.embedding.weights import find_model_folder, read_safetensors

WIDTH = 384
HEADS = 12
_EPSILON = 1e-12  # the original's layer_norm_eps

Attribute = int | float | list[int]


def build_graph() -> onnx.ModelProto:
    """Return the graph from `input_ids [tokens]` to `vector [1, 384]`. Its weights are in `model.bin`."""
    weights = read_safetensors(find_model_folder() / "model.safetensors")
    graph = _Graph(dict(quantise(weights)))
    hidden = graph.embeddings("input_ids")
    for layer in range(LAYERS):
        hidden = graph.encoder_layer(hidden, f"encoder.layer.{layer}")
    mean = graph.node("ReduceMean", [hidden, graph.ints("axis", [0])], keepdims=1)
    graph.nodes.append(helper.make_node("LpNormalization", [mean], ["vector"], axis=-1, p=2))
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-minilm-l6-v2",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["tokens"])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, WIDTH])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)],
        ir_version=10,
    )


def _placed(arrays: dict[str, Array]) -> list[onnx.TensorProto]:
    """Return tensors that refer to `model.bin` by offset and contain no values."""
    offset, tensors = 0, []
    for name, values in arrays.items():
        tensor = numpy_helper.from_array(np.ascontiguousarray(values), name)
        set_external_data(tensor, "model.bin", offset=offset, length=values.nbytes)
        tensor.ClearField("raw_data")
        tensors.append(tensor)
        offset += values.nbytes
    return tensors


class _Graph:
    """Collects nodes and constants. Each method returns the name of the new output."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays
        self.nodes: list[onnx.NodeProto] = []
        self.constants = _placed(arrays)

    def node(
        self, operator: str, inputs: list[str], *, domain: str = "", **attributes: Attribute
    ) -> str:
        output = f"n{len(self.nodes)}"
        made = helper.make_node(operator, inputs, [output], domain=domain)
        made.attribute.extend(helper.make_attribute(key, attributes[key]) for key in attributes)
        self.nodes.append(made)
        return output

    def constant(self, name: str, values: NDArray[np.int64] | NDArray[np.float32]) -> str:
        if all(known.name != name for known in self.constants):
            self.constants.append(numpy_helper.from_array(values, name))
        return name

    def ints(self, name: str, values: Sequence[int]) -> str:
        return self.constant(name, np.array(values, dtype=np.int64))

    def embeddings(self, ids: str) -> str:
        """Add word vectors from int8 rows, and position vectors that include the first segment's vector."""
        row = self.node("Gather", ["words", ids])
        row = self.node("Cast", [row], to=TensorProto.FLOAT)
        scale = self.node("Gather", ["word_scales", ids])
        length = self.node("Shape", [ids])
        place = self.node("Slice", ["places", self.ints("start", [0]), length])
        total = self.node("Add", [self.node("Mul", [row, scale]), place])
        return self.normalize(total, "embeddings.LayerNorm")

    def normalize(self, hidden: str, name: str) -> str:
        inputs = [hidden, f"{name}.weight", f"{name}.bias"]
        return self.node("LayerNormalization", inputs, axis=-1, epsilon=_EPSILON)

    def linear(self, hidden: str, name: str) -> str:
        """Add the node for `hidden @ weight.T + bias`, with the weight in int8 blocks."""
        outputs, blocks, _width = self.arrays[f"{name}.weight"].shape
        return self.node(
            "MatMulNBits",
            [hidden, f"{name}.weight", f"{name}.scales", "", "", f"{name}.bias"],
            domain="com.microsoft",
            K=blocks * BLOCK,
            N=outputs,
            bits=8,
            block_size=BLOCK,
            accuracy_level=4,  # int8 activations, scaled for each block
        )

    def heads(self, hidden: str, name: str, order: list[int]) -> str:
        """Add a linear layer, split its output into heads, and transpose the axes to the given order."""
        split = self.ints("split", [-1, HEADS, WIDTH // HEADS])
        return self.node(
            "Transpose", [self.node("Reshape", [self.linear(hidden, name), split])], perm=order
        )

    def encoder_layer(self, hidden: str, name: str) -> str:
        attention = f"{name}.attention"
        queries = self.heads(hidden, f"{attention}.self.query", [1, 0, 2])
        keys = self.heads(hidden, f"{attention}.self.key", [1, 2, 0])
        values = self.heads(hidden, f"{attention}.self.value", [1, 0, 2])
        root = self.constant("root", np.array((WIDTH // HEADS) ** -0.5, dtype=np.float32))
        scores = self.node("Mul", [self.node("MatMul", [queries, keys]), root])
        mixed = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), values])
        joined = self.node(
            "Reshape",
            [self.node("Transpose", [mixed], perm=[1, 0, 2]), self.ints("join", [-1, WIDTH])],
        )
        attended = self.linear(joined, f"{attention}.output.dense")
        hidden = self.normalize(
            self.node("Add", [attended, hidden]), f"{attention}.output.LayerNorm"
        )
        inner = self.node("Gelu", [self.linear(hidden, f"{name}.intermediate.dense")])
        outer = self.linear(inner, f"{name}.output.dense")
        return self.normalize(self.node("Add", [outer, hidden]), f"{name}.output.LayerNorm")


def build() -> str:
    GRAPH.write_bytes(build_graph().SerializeToString(deterministic=True))
    return f"{GRAPH.stat().st_size:,} bytes"
