"""The bundled encoder's network with LoRA adapters (Hu et al., 2021), and the parts saved of it."""

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

# For both texts of a pair: the token that begins at a character.
Starts = tuple[dict[int, int], dict[int, int]]
Scales = Mapping[str, Mapping[str, float]]
Measured = tuple[Scales, Mapping[str, object]]


class Pair(NamedTuple):
    """Two texts as tokens; the second begins at `second`."""

    ids: NDArray[np.uint16]
    second: int


class Reader(torch.nn.Module):
    """Reads pairs of texts; returns `outputs` numbers for each pair, or for each token of it."""

    def __init__(self, outputs: int = 1, *, rank: int = RANK, per_token: bool = False) -> None:
        super().__init__()
        self.trunk = adapted(_open_network(), rank, MATRICES)
        self.head = torch.nn.Linear(self.trunk.config.hidden_size, outputs)
        torch.nn.init.normal_(self.head.weight, std=0.02)
        torch.nn.init.zeros_(self.head.bias)
        self.dropout = torch.nn.Dropout(0.1)
        self.per_token = per_token

    @classmethod
    def new(cls, seed: int, start: Mapping[str, torch.Tensor] | None = None, **options: Any) -> Self:
        """Return a seeded reader on the GPU, if there is one, with the weights of `start`."""
        torch.manual_seed(seed)
        reader = cls(**options).to("cuda" if torch.cuda.is_available() else "cpu")
        if start:
            restore(reader, start)
        return reader

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, sides: torch.Tensor) -> torch.Tensor:
        """Return the numbers: (pairs, outputs), or (pairs, tokens, outputs)."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=sides).last_hidden_state
        if not self.per_token:
            kept = mask.unsqueeze(-1).to(states.dtype)
            states = (states * kept).sum(1) / kept.sum(1)
        return cast(torch.Tensor, self.head(self.dropout(states)))

    def read(self, pairs: Sequence[Pair]) -> torch.Tensor:
        """Return the numbers of pairs; those of tokens are padded to the longest pair."""
        device, lengths = self.head.weight.device, [len(pair.ids) for pair in pairs]
        # Pairs of similar length share a batch: padding costs as much as text.
        batches = list(token_batches(lengths, TOKENS_AT_ONCE[device.type]))
        found = []
        for batch in batches:
            tokens = [torch.from_numpy(pairs[index].ids.astype(np.int64)) for index in batch]
            ids = pad_sequence(tokens, batch_first=True)
            places = torch.arange(ids.shape[1]).expand(len(batch), -1)
            mask = places < torch.tensor([[lengths[index]] for index in batch])
            sides = mask & (places >= torch.tensor([[pairs[index].second] for index in batch]))
            numbers = self(ids.to(device), mask.long().to(device), sides.long().to(device))
            missing = max(lengths) - numbers.shape[1] if self.per_token else 0
            found.append(pad(numbers, (0, 0, 0, missing)) if missing else numbers)
        order = torch.tensor([index for batch in batches for index in batch], device=device).argsort()
        return torch.cat(found)[order]


def adapted(model: Any, rank: int, matrices: str | list[str], **options: Any) -> Any:
    """Return a model with new LoRA adapters on the named matrices."""
    config = LoraConfig(**{"r": rank, "lora_alpha": rank, "target_modules": matrices, **options})
    with warnings.catch_warnings():
        # peft uses a name that transformers deprecates.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(model, config)


def _open_network() -> BertModel:
    """Return the bundled network without its pooling layer, whose absence transformers would report."""
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    # On CPUs the fused attention trains slower than the plain one.
    attention = "sdpa" if torch.cuda.is_available() else "eager"
    try:
        return BertModel.from_pretrained(
            bundled_path(), add_pooling_layer=False, dtype=torch.float32, attn_implementation=attention
        )
    finally:
        transformers_logging.set_verbosity(before)


def trained(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Return the parameters that are trained: adapters and head."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def restore(model: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Copy trained weights into a model."""
    with torch.no_grad():
        for name, weight in trained(model).items():
            weight.copy_(weights[name])


def averaged(
    before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """Return the weighted means of a model's weights before and after further training.

    `share` is the weight of those after it. The means keep more of what was learned before (Wortsman et al.,
    2022, section 3).
    """
    with torch.no_grad():
        return {
            name: torch.lerp(before[name].to(weight.device), weight, share) for name, weight in after.items()
        }


class PairTokenizer:
    """The network's tokenizer for pairs of at most `longest` tokens; the longer text is truncated."""

    def __init__(self, longest: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(bundled_path() / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)

    def placed(self, texts: Sequence[tuple[str, str]]) -> list[tuple[Pair, Starts]]:
        """Return pairs as tokens, and for both texts the token that begins at each character."""
        return [(_pair(found), token_starts(found)) for found in self._tokenizer.encode_batch(list(texts))]

    def pairs(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[Pair]:
        """Return pairs, or single texts, as tokens."""
        return [_pair(found) for found in self._tokenizer.encode_batch_fast(list(texts))]


def _pair(found: Encoding) -> Pair:
    second = found.type_ids.index(1) if 1 in found.type_ids else len(found.ids)
    return Pair(np.array(found.ids, np.uint16), second)


def product_name(name: str) -> str:
    """Return the product's name of a trained parameter."""
    adapter = _ADAPTER.match(name)
    return f"{adapter['matrix']}.{'down' if adapter['side'] == 'A' else 'up'}" if adapter else name


def weights_of_part(part: str, folder: Path, reader: Reader, *, head: bool = True) -> dict[str, torch.Tensor]:
    """Return a reader's trained weights with those of a saved part in their place, by default its head too.

    Raises TrainingError where the part cannot be read or is of another rank.
    """
    path = folder / f"{part}.safetensors"
    try:
        held = load_file(path)
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"The part {path}, to start from, cannot be read: {error}") from error
    found: dict[str, torch.Tensor] = dict(trained(reader))
    for name, weight in trained(reader).items():
        if head or not name.startswith("head."):
            own = held.get(product_name(name))
            if own is None or own.shape != weight.shape:
                raise TrainingError(f"The part {path} has other adapters than those to be fitted.")
            found[name] = own.to(weight.dtype)
    return found


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

    A draft goes to `run.work` first: `measure` takes its name, reads held-back data with it as the product
    does, and returns the scales and the provenance of the final card.
    """
    halves = {name: weight.detach().cpu().half().contiguous() for name, weight in trained(reader).items()}
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


Answers = Iterable[tuple[Mapping[str, float], bool, float]]


def fitted_scale(answers: Answers, seed: int, *, freedom: float = 1.0) -> dict[str, float]:
    """Return intercept and weights of a logistic regression over standardised features.

    `answers` has features (0 where missing), truth and weight of each; `freedom` is the inverse of the
    regularisation.
    """
    rows, truths, weights = zip(*answers, strict=True)
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows], dtype=np.float64)
    middle, spread = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), 1e-6)
    model = LogisticRegression(C=freedom, max_iter=2000, random_state=seed)
    model.fit((matrix - middle) / spread, np.asarray(truths), sample_weight=weights)
    own = model.coef_[0] / spread
    found = {"intercept": model.intercept_[0] - own @ middle, **dict(zip(names, own, strict=True))}
    return {name: round(float(weight), 5) for name, weight in found.items()}
