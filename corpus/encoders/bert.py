"""BERT as an ONNX graph that is fast on CPUs: matrices in eight-bit integers, attention as one operation.

The graph is built operation by operation (Devlin et al. 2019, section 3), so that new weights can be run
without torch, an exporter or a file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

Weights = Mapping[str, NDArray[np.float32]]
Pooling = Literal["mean", "cls"]

_IDS, _MASK, _SIDES = "input_ids", "attention_mask", "token_type_ids"
INPUTS = (_IDS, _MASK)
PAIR_INPUTS = (*INPUTS, _SIDES)
OUTPUT = "numbers"
_FUSED = "com.microsoft"
_OPSET, _IR = 17, 8
# Seven bits for the weights: processors without VNNI saturate with eight.
_LARGEST, _LARGEST_WORD, _TINY = 63, 127, 1e-9
# ONNX's numbers of tensor types.
_FLOAT, _INT32, _INT64 = 1, 6, 7


@dataclass(frozen=True, slots=True)
class Shape:
    """The hyperparameters of a network besides the sizes of its matrices."""

    layers: int
    heads: int
    epsilon: float


def bert_encoder(weights: Weights, shape: Shape, pooling: Pooling) -> bytes:
    """Return the ONNX file of a BERT that computes unit vectors of texts, (texts, size).

    Its inputs are `INPUTS`, (texts, tokens); it pools the states of a text by their mean or by the first.
    """
    graph = _Graph(weights, shape)
    states = graph.states(INPUTS)
    graph.add("LpNormalization", [graph.mean(states) if pooling == "mean" else graph.first(states)])
    return graph.to_file(INPUTS, ("texts", "size"))


def bert_network(weights: Weights, shape: Shape, *, per_token: bool = False) -> bytes:
    """Return the ONNX file of a BERT with the linear head `head.weight`, (outputs, size), and its bias.

    Its inputs are `PAIR_INPUTS`, (texts, tokens); its output is (texts, outputs) of the mean of a text's
    states, or `per_token` (texts, tokens, outputs).
    """
    graph = _Graph(weights, shape)
    states = graph.states(PAIR_INPUTS)
    graph.head(states if per_token else graph.mean(states))
    sizes = ("texts", "tokens", "outputs") if per_token else ("texts", "outputs")
    return graph.to_file(PAIR_INPUTS, sizes)


@dataclass(slots=True)
class _Graph:
    """A graph under construction; each method returns the name of the tensor that it adds."""

    weights: Weights
    shape: Shape
    nodes: list["NodeProto"] = field(default_factory=list)
    constants: list["TensorProto"] = field(default_factory=list)

    def states(self, inputs: Sequence[str]) -> str:
        """Add the embeddings and all layers; return the last states of the tokens."""
        mask = self.add("Cast", [_MASK], to=_INT32)
        states = self._embedded(has_sides=_SIDES in inputs)
        for number in range(self.shape.layers):
            states = self._layer(f"encoder.layer.{number}", states, mask)
        return states

    def head(self, states: str) -> str:
        matrix = self._constant("head.weight", np.ascontiguousarray(self.weights["head.weight"].T))
        return self.add("Add", [self.add("MatMul", [states, matrix]), self._weight("head.bias")])

    def add(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        from onnx import helper  # noqa: PLC0415 - only where a network is put together

        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _constant(self, name: str, value: NDArray[np.generic]) -> str:
        from onnx import numpy_helper  # noqa: PLC0415

        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def _embedded(self, *, has_sides: bool) -> str:
        """Add the embeddings of tokens, positions and sides; without sides all tokens are of the first."""
        token = self._rounded_word() if has_sides else self._word()
        place = self.add("Gather", [self._weight("embeddings.position_embeddings.weight"), self._places()])
        sides = self._weight("embeddings.token_type_embeddings.weight")
        side = self.add("Gather", [sides, _SIDES if has_sides else self._constant("first_side", np.array(0))])
        whole = self.add("Add", [self.add("Add", [token, place]), side])
        return self._normal("embeddings.LayerNorm", whole)

    def _word(self) -> str:
        words = self.weights["embeddings.word_embeddings.weight"].astype(np.float16)
        return self.add("Cast", [self.add("Gather", [self._constant("words", words), _IDS])], to=_FLOAT)

    def _rounded_word(self) -> str:
        """Add words in eight bits: networks of pairs are many, and what they tell was measured with these."""
        words = self.weights["embeddings.word_embeddings.weight"]
        scale = np.maximum(np.abs(words).max(axis=1, keepdims=True), _TINY) / _LARGEST_WORD
        rounded = words / scale
        rounded_words = self._constant("words", np.rint(rounded, out=rounded).astype(np.int8))
        scales = self._constant("word_scales", scale.astype(np.float32))
        token = self.add("Cast", [self.add("Gather", [rounded_words, _IDS])], to=_FLOAT)
        return self.add("Mul", [token, self.add("Gather", [scales, _IDS])])

    def _places(self) -> str:
        zero, one = self._constant("zero", np.array(0)), self._constant("one", np.array(1))
        count = self.add("Gather", [self.add("Shape", [_IDS]), one])
        return self.add("Range", [zero, count, one])

    def _layer(self, name: str, states: str, mask: str) -> str:
        """Add the attention and the feed-forward network of a layer, each with its residual connection."""
        attention = f"{name}.attention.self"
        parts = [self._product(f"{attention}.{part}", states) for part in ("query", "key", "value")]
        attended = self.add(
            "MultiHeadAttention", [*parts, "", mask], domain=_FUSED, num_heads=self.shape.heads
        )
        attended = self._product(f"{name}.attention.output.dense", attended)
        states = self._residual(f"{name}.attention.output.LayerNorm", attended, states)
        wide = self._product(f"{name}.intermediate.dense", states)
        narrow = self._product(f"{name}.output.dense", self.add("Gelu", [wide], domain=_FUSED))
        return self._residual(f"{name}.output.LayerNorm", narrow, states)

    def _product(self, name: str, states: str) -> str:
        """Add the product with a matrix in eight-bit integers with a scale per column, and its bias."""
        matrix = self.weights[f"{name}.weight"].T
        scale = np.maximum(np.abs(matrix).max(axis=0), _TINY) / _LARGEST
        integers = self._constant(f"{name}.weight", np.rint(matrix / scale).astype(np.int8))
        scales = self._constant(f"{name}.scale", scale.astype(np.float32))
        inputs = [states, integers, scales, "", self._weight(f"{name}.bias")]
        return self.add("DynamicQuantizeMatMul", inputs, domain=_FUSED)

    def _residual(self, name: str, new: str, states: str) -> str:
        return self._normal(name, self.add("Add", [new, states]))

    def _normal(self, name: str, states: str) -> str:
        normal = [self._weight(f"{name}.weight"), self._weight(f"{name}.bias")]
        return self.add("LayerNormalization", [states, *normal], epsilon=self.shape.epsilon, axis=-1)

    def _weight(self, name: str) -> str:
        return self._constant(name, self.weights[name])

    def mean(self, states: str) -> str:
        """Add the mean of the states of a text's tokens, without padding."""
        last, tokens = self._constant("last", np.array([-1])), self._constant("tokens", np.array([1]))
        real_tokens = self.add("Cast", [self.add("Unsqueeze", [_MASK, last])], to=_FLOAT)
        total = self.add("ReduceSum", [self.add("Mul", [states, real_tokens]), tokens], keepdims=0)
        return self.add("Div", [total, self.add("ReduceSum", [real_tokens, tokens], keepdims=0)])

    def first(self, states: str) -> str:
        """Add the state of a text's first token."""
        return self.add("Gather", [states, self._constant("first_token", np.array(0))], axis=1)

    def to_file(self, inputs: Sequence[str], sizes: Sequence[str]) -> bytes:
        """Return the graph as a file, with the tensor added last as its output."""
        from onnx import helper  # noqa: PLC0415

        self.nodes[-1].output[0] = OUTPUT
        input_infos = [helper.make_tensor_value_info(name, _INT64, ["texts", "tokens"]) for name in inputs]
        output = helper.make_tensor_value_info(OUTPUT, _FLOAT, sizes)
        graph = helper.make_graph(self.nodes, "bert", input_infos, [output], self.constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)]
        return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=_IR).SerializeToString())
