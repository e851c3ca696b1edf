"""The bundled encoder's network with LoRA adapters (Hu et al., 2021), and reading and writing of parts."""

import hashlib
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from peft import LoraConfig, get_peft_model
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from sklearn.linear_model import LogisticRegression
from tokenizers import Encoding, Tokenizer
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from transformers import BertModel
from transformers.utils import logging as transformers_logging

from assistant.learned.parts import Card
from corpus.encoders.base import BUNDLED_SHA256, bundled_path
from corpus.encoders.batching import token_batches
from corpus.encoders.pairs import token_starts
from training.files import Run, TrainingError, as_json, saving, write_durably

RANK = 64
ADAPTERS = {"rank": RANK, "dropout": 0.0}
MATRICES = ["query", "key", "value", "dense"]  # of attention and of the feed-forward net
TOKENS_AT_ONCE = {"cpu": 1536, "cuda": 65536}
# "trunk.base_model.model.encoder.layer.0.attention.self.query.lora_A.default.weight"
_ADAPTER = re.compile(r"^trunk\.base_model\.model\.(?P<matrix>.+)\.lora_(?P<side>[AB])\.default\.weight$")

# For both texts of a pair: the index of the token that begins at a character.
Starts = tuple[dict[int, int], dict[int, int]]
Scales = Mapping[str, Mapping[str, float]]
Measured = tuple[Scales, Mapping[str, object]]


class Pair(NamedTuple):
    """Two texts as one sequence of tokens; the second text begins at index `second`."""

    ids: NDArray[np.uint16]
    second: int


class Reader(torch.nn.Module):
    """Reads pairs of texts; returns `outputs` numbers for each pair, or for each token of it."""

    def __init__(self, outputs: int = 1, *, rank: int = RANK, per_token: bool = False) -> None:
        super().__init__()
        self.trunk = add_adapters(_open_network(), rank, MATRICES)
        self.head = torch.nn.Linear(self.trunk.config.hidden_size, outputs)
        torch.nn.init.normal_(self.head.weight, std=0.02)
        torch.nn.init.zeros_(self.head.bias)
        self.dropout = torch.nn.Dropout(0.1)
        self.per_token = per_token

    @classmethod
    def new(cls, seed: int, start: Mapping[str, torch.Tensor] | None = None, **options: Any) -> Self:
        """Make a seeded reader, on the GPU if there is one, with the weights of `start`."""
        torch.manual_seed(seed)
        reader = cls(**options).to("cuda" if torch.cuda.is_available() else "cpu")
        if start:
            restore(reader, start)
        return reader

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, sides: torch.Tensor) -> torch.Tensor:
        """Return the numbers: (pairs, outputs), or (pairs, tokens, outputs)."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=sides).last_hidden_state
        if not self.per_token:
            token_mask = mask.unsqueeze(-1).to(states.dtype)
            states = (states * token_mask).sum(1) / token_mask.sum(1)
        return cast(torch.Tensor, self.head(self.dropout(states)))

    def read(self, pairs: Sequence[Pair]) -> torch.Tensor:
        """Return the numbers of pairs; numbers of tokens are padded to the longest pair."""
        device, lengths = self.head.weight.device, [len(pair.ids) for pair in pairs]
        # Pairs of similar length share a batch, as padding costs as much as text.
        batches = list(token_batches(lengths, TOKENS_AT_ONCE[device.type]))
        outputs = []
        for batch in batches:
            tokens = [torch.from_numpy(pairs[index].ids.astype(np.int64)) for index in batch]
            ids = pad_sequence(tokens, batch_first=True)
            positions = torch.arange(ids.shape[1]).expand(len(batch), -1)
            mask = positions < torch.tensor([[lengths[index]] for index in batch])
            sides = mask & (positions >= torch.tensor([[pairs[index].second] for index in batch]))
            numbers = self(ids.to(device), mask.long().to(device), sides.long().to(device))
            missing = max(lengths) - numbers.shape[1] if self.per_token else 0
            outputs.append(pad(numbers, (0, 0, 0, missing)) if missing else numbers)
        order = torch.tensor([index for batch in batches for index in batch], device=device).argsort()
        return torch.cat(outputs)[order]


def add_adapters(model: Any, rank: int, matrices: str | list[str], **options: Any) -> Any:
    """Return a model with new LoRA adapters on the named matrices."""
    config = LoraConfig(**{"r": rank, "lora_alpha": rank, "target_modules": matrices, **options})
    with warnings.catch_warnings():
        # peft uses an attribute that transformers has deprecated.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(model, config)


def _open_network() -> BertModel:
    """Load the bundled network without its pooling layer; transformers' warning about that is silenced."""
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    # On CPUs fused attention trains slower than the plain implementation.
    attention = "sdpa" if torch.cuda.is_available() else "eager"
    try:
        return BertModel.from_pretrained(
            bundled_path(), add_pooling_layer=False, dtype=torch.float32, attn_implementation=attention
        )
    finally:
        transformers_logging.set_verbosity(before)


def trainable(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Return the parameters that training changes: adapters and head."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def restore(model: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Copy trained weights into a model."""
    with torch.no_grad():
        for name, weight in trainable(model).items():
            weight.copy_(weights[name])


def mean_weights(
    before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """Return the weighted means of a model's weights before and after further training.

    `share` is the weight of those after it. They forget less of the earlier training (Wortsman et al., 2022,
    section 3).
    """
    with torch.no_grad():
        return {
            name: torch.lerp(before[name].to(weight.device), weight, share) for name, weight in after.items()
        }


class PairTokenizer:
    """The network's tokenizer for pairs of at most `longest` tokens; it truncates the longer text."""

    def __init__(self, longest: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(bundled_path() / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)

    def pairs_with_starts(self, texts: Sequence[tuple[str, str]]) -> list[tuple[Pair, Starts]]:
        """Tokenise pairs; also return for both texts the token that begins at each character."""
        encodings = self._tokenizer.encode_batch(list(texts))
        return [(_pair(encoding), token_starts(encoding)) for encoding in encodings]

    def pairs(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[Pair]:
        """Tokenise pairs or single texts."""
        return [_pair(encoding) for encoding in self._tokenizer.encode_batch_fast(list(texts))]


def _pair(encoding: Encoding) -> Pair:
    second = encoding.type_ids.index(1) if 1 in encoding.type_ids else len(encoding.ids)
    return Pair(np.array(encoding.ids, np.uint16), second)


def product_name(name: str) -> str:
    """Return the name that the product uses for a trained parameter."""
    adapter = _ADAPTER.match(name)
    return f"{adapter['matrix']}.{'down' if adapter['side'] == 'A' else 'up'}" if adapter else name


def weights_of_part(part: str, folder: Path, reader: Reader, *, head: bool = True) -> dict[str, torch.Tensor]:
    """Return a reader's trainable weights, replaced by those of a stored part; the head only with `head`.

    Raises TrainingError if the part cannot be read or has another rank.
    """
    path = folder / f"{part}.safetensors"
    try:
        stored = load_file(path)
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"The part {path}, to start from, cannot be read: {error}") from error
    weights: dict[str, torch.Tensor] = dict(trainable(reader))
    for name, weight in trainable(reader).items():
        if head or not name.startswith("head."):
            value = stored.get(product_name(name))
            if value is None or value.shape != weight.shape:
                raise TrainingError(f"The adapters of the part {path} differ from those of this run.")
            weights[name] = value.to(weight.dtype)
    return weights


def write_part(
    part: str,
    reader: Reader,
    run: Run,
    longest: int,
    measure: Callable[[str], Measured],
    *,
    draft: Scales | None = None,
) -> Card:
    """Write a part and return its card.

    First writes a draft to `run.work`. `measure` gets its name, measures it on held-out data, and returns the
    scales and the provenance of the final card.
    """
    halves = {name: weight.detach().cpu().half().contiguous() for name, weight in trainable(reader).items()}
    weights = save({product_name(name): weight for name, weight in halves.items()})
    digest = hashlib.sha256(weights).hexdigest()
    name = f"{part}-{digest[:8]}"

    def write(folder: Path, scales: Scales, provenance: Mapping[str, object]) -> Card:
        card = Card(
            name=name,
            trunk_sha256=BUNDLED_SHA256,
            weights_sha256=digest,
            longest=longest,
            scales=scales,
            provenance=provenance,
        )
        with saving(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_durably(folder / f"{part}.safetensors", weights)
        write_card(folder, part, card)
        return card

    write(run.work, draft or {}, {})
    return write(run.out, *measure(name))


def write_card(folder: Path, part: str, card: Card) -> None:
    """Write a part's card beside its weights."""
    with saving(folder):
        write_durably(folder / f"{part}.json", as_json(card.model_dump()))


# Features (a missing one is 0), label and weight of each row.
WeightedRows = Iterable[tuple[Mapping[str, float], bool, float]]


def fit_scale(weighted_rows: WeightedRows, seed: int, *, freedom: float = 1.0) -> dict[str, float]:
    """Fit a logistic regression on standardised features; return the intercept and weights for raw ones.

    `freedom` is the inverse of the regularisation.
    """
    rows, labels, weights = zip(*weighted_rows, strict=True)
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows], dtype=np.float64)
    mean, deviation = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), 1e-6)
    model = LogisticRegression(C=freedom, max_iter=2000, random_state=seed)
    model.fit((matrix - mean) / deviation, np.asarray(labels), sample_weight=weights)
    raw = model.coef_[0] / deviation
    scale = {"intercept": model.intercept_[0] - raw @ mean, **dict(zip(names, raw, strict=True))}
    return {name: round(float(weight), 5) for name, weight in scale.items()}
