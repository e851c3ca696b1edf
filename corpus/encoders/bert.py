"""BERT as ONNX Runtime runs it fastest on processors: matrices in eight-bit integers, attention in one piece.

Written down operation by operation (Devlin et al. 2019, section 3), so that weights that were just put
together can be run at once: no torch, no exporter, no file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

Weights = Mapping[str, NDArray[np.float32]]
INPUTS = ("ids", "mask", "sides")
OUTPUT = "numbers"
_FUSED = "com.microsoft"
_OPSET, _IR = 17, 8
# One bit less in the weights: processors without VNNI would saturate on the eighth.
_LARGEST, _LARGEST_WORD, _TINY = 63, 127, 1e-9
# ONNX's numbers for its kinds of tensors.
_FLOAT, _INT32, _INT64 = 1, 6, 7


@dataclass(frozen=True, slots=True)
class Shape:
    """How a network is built, besides the sizes of its matrices."""

    layers: int
    heads: int
    epsilon: float
    per_token: bool = False


def bert_network(weights: Weights, shape: Shape) -> bytes:
    """Return the ONNX file of a BERT with the matrix `head.weight` on top, (outputs, size), and its bias.

    It takes `ids`, `mask` and `sides` (texts, tokens) and gives (texts, outputs) over the mean of a text's
    states, or (texts, tokens, outputs) where it is `per_token`.
    """
    graph = _Graph(weights, shape)
    graph.read()
    return graph.to_file()


@dataclass(slots=True)
class _Graph:
    """A graph as it grows: each operation returns the name of what it makes."""

    weights: Weights
    shape: Shape
    nodes: list["NodeProto"] = field(default_factory=list)
    constants: list["TensorProto"] = field(default_factory=list)

    def read(self) -> None:
        """Add all there is between a text's tokens and its numbers."""
        mask = self._add("Cast", ["mask"], to=_INT32)
        states = self._embedded()
        for number in range(self.shape.layers):
            states = self._layer(f"encoder.layer.{number}", states, mask)
        if not self.shape.per_token:
            states = self._mean(states)
        head = self._constant("head.weight", np.ascontiguousarray(self.weights["head.weight"].T))
        bias = self._constant("head.bias", self.weights["head.bias"])
        self._add("Add", [self._add("MatMul", [states, head]), bias])

    def _add(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        from onnx import helper  # noqa: PLC0415 - only where a network is put together

        made = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [made], **attributes))
        return made

    def _constant(self, name: str, value: NDArray[np.generic]) -> str:
        from onnx import numpy_helper  # noqa: PLC0415

        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def _embedded(self) -> str:
        """Add what stands for each token, its place and its side."""
        words = self.weights["embeddings.word_embeddings.weight"]
        scale = np.maximum(np.abs(words).max(axis=1, keepdims=True), _TINY) / _LARGEST_WORD
        held = self._constant("words", np.rint(words / scale).astype(np.int8))
        scales = self._constant("word_scales", scale.astype(np.float32))
        token = self._add("Cast", [self._add("Gather", [held, "ids"])], to=_FLOAT)
        token = self._add("Mul", [token, self._add("Gather", [scales, "ids"])])
        place = self._add("Gather", [self._own("embeddings.position_embeddings.weight"), self._places()])
        side = self._add("Gather", [self._own("embeddings.token_type_embeddings.weight"), "sides"])
        whole = self._add("Add", [self._add("Add", [token, place]), side])
        normal = self._normal("embeddings.LayerNorm")
        return self._add("LayerNormalization", [whole, *normal], epsilon=self.shape.epsilon, axis=-1)

    def _places(self) -> str:
        zero, one = self._constant("zero", np.array(0)), self._constant("one", np.array(1))
        count = self._add("Gather", [self._add("Shape", ["ids"]), one])
        return self._add("Range", [zero, count, one])

    def _layer(self, name: str, states: str, mask: str) -> str:
        """Add attention and the feed-forward net of a layer, each added to what came in."""
        own = f"{name}.attention.self"
        parts = [self._product(f"{own}.{part}", states) for part in ("query", "key", "value")]
        seen = self._add("MultiHeadAttention", [*parts, "", mask], domain=_FUSED, num_heads=self.shape.heads)
        seen = self._product(f"{name}.attention.output.dense", seen)
        states = self._joined(f"{name}.attention.output.LayerNorm", seen, states)
        wide = self._product(f"{name}.intermediate.dense", states)
        narrow = self._product(f"{name}.output.dense", self._add("Gelu", [wide], domain=_FUSED))
        return self._joined(f"{name}.output.LayerNorm", narrow, states)

    def _product(self, name: str, states: str) -> str:
        """Add a matrix in eight-bit integers, with a scale of its own for every column, and its bias."""
        matrix = self.weights[f"{name}.weight"].T
        scale = np.maximum(np.abs(matrix).max(axis=0), _TINY) / _LARGEST
        held = self._constant(f"{name}.weight", np.rint(matrix / scale).astype(np.int8))
        scales = self._constant(f"{name}.scale", scale.astype(np.float32))
        inputs = [states, held, scales, "", self._own(f"{name}.bias")]
        return self._add("DynamicQuantizeMatMul", inputs, domain=_FUSED)

    def _joined(self, name: str, new: str, states: str) -> str:
        inputs = [new, states, *self._normal(name)]
        return self._add("SkipLayerNormalization", inputs, domain=_FUSED, epsilon=self.shape.epsilon)

    def _normal(self, name: str) -> tuple[str, str]:
        return self._own(f"{name}.weight"), self._own(f"{name}.bias")

    def _own(self, name: str) -> str:
        return self._constant(name, self.weights[name])

    def _mean(self, states: str) -> str:
        """Add the mean of the states of a text's own tokens."""
        last, tokens = self._constant("last", np.array([-1])), self._constant("tokens", np.array([1]))
        kept = self._add("Cast", [self._add("Unsqueeze", ["mask", last])], to=_FLOAT)
        total = self._add("ReduceSum", [self._add("Mul", [states, kept]), tokens], keepdims=0)
        return self._add("Div", [total, self._add("ReduceSum", [kept, tokens], keepdims=0)])

    def to_file(self) -> bytes:
        """Return the graph as a file; what was added last is what it gives."""
        from onnx import helper  # noqa: PLC0415

        self.nodes[-1].output[0] = OUTPUT
        inputs = [helper.make_tensor_value_info(name, _INT64, ["texts", "tokens"]) for name in INPUTS]
        sizes = ["texts", "tokens", "outputs"] if self.shape.per_token else ["texts", "outputs"]
        output = helper.make_tensor_value_info(OUTPUT, _FLOAT, sizes)
        made = helper.make_graph(self.nodes, "bert", inputs, [output], self.constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)]
        return bytes(helper.make_model(made, opset_imports=opsets, ir_version=_IR).SerializeToString())
