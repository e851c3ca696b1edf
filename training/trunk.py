"""The bundled encoder's network as a reader of two texts: adapters that learn and a head on top.

The network itself stays as it was published; what is learned is a small difference to each of its matrices
(LoRA, Hu et al. 2021), which the product adds to the bundled weights.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from peft import LoraConfig, get_peft_model
from tokenizers import Encoding, Tokenizer
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from transformers import BertModel
from transformers.utils import logging as transformers_logging

from corpus.encoders import token_batches, token_starts

# The matrices of a layer: attention in and out, and the two of the feed-forward net.
ADAPTED = ("query", "key", "value", "dense")
TOKENS_AT_ONCE = {"cpu": 1536, "cuda": 65536}


@dataclass(frozen=True, slots=True)
class Adapters:
    """How much may be learned: the rank of each difference, and what is dropped while training."""

    rank: int = 64
    dropout: float = 0.0  # the network drops already; a quarter of a processor's time went into more of it


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts in tokens; the second begins at `second`."""

    ids: NDArray[np.uint16]
    second: int


class Reader(torch.nn.Module):
    """Reads pairs of texts; returns `outputs` numbers for each pair, or for each token of it."""

    def __init__(self, trunk: Path, outputs: int, adapters: Adapters, *, per_token: bool = False) -> None:
        super().__init__()
        network = _open_network(trunk)
        config = LoraConfig(
            r=adapters.rank,
            lora_alpha=adapters.rank,
            lora_dropout=adapters.dropout,
            target_modules=list(ADAPTED),
        )
        with warnings.catch_warnings():
            # peft asks transformers for it by its old name.
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            self.trunk = get_peft_model(network, config)
        self.head = torch.nn.Linear(network.config.hidden_size, outputs)
        torch.nn.init.normal_(self.head.weight, std=0.02)
        torch.nn.init.zeros_(self.head.bias)
        self.dropout = torch.nn.Dropout(0.1)
        self.per_token = per_token

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, sides: torch.Tensor) -> torch.Tensor:
        """Return the numbers: (pairs, outputs), or (pairs, tokens, outputs)."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=sides).last_hidden_state
        if not self.per_token:
            kept = mask.unsqueeze(-1).to(states.dtype)
            states = (states * kept).sum(1) / kept.sum(1)
        return cast(torch.Tensor, self.head(self.dropout(states)))

    def read(self, pairs: Sequence[Pair]) -> torch.Tensor:
        """Return the numbers of pairs, (pairs, outputs), or of their tokens, padded to the longest of all.

        Pairs of about a length are read together: on a processor padding costs as much as text.
        """
        device = self.head.weight.device
        lengths = [len(pair.ids) for pair in pairs]
        batches = list(token_batches(lengths, TOKENS_AT_ONCE[device.type]))
        read = [self._read([pairs[index] for index in batch]) for batch in batches]
        if self.per_token:
            read = [pad(numbers, (0, 0, 0, max(lengths) - numbers.shape[1])) for numbers in read]
        back = torch.tensor([index for batch in batches for index in batch], device=device).argsort()
        return torch.cat(read)[back]

    def _read(self, pairs: Sequence[Pair]) -> torch.Tensor:
        device = self.head.weight.device
        ids = pad_sequence([torch.from_numpy(pair.ids.astype(np.int64)) for pair in pairs], batch_first=True)
        places = torch.arange(ids.shape[1]).expand(len(pairs), -1)
        mask = places < torch.tensor([[len(pair.ids)] for pair in pairs])
        sides = mask & (places >= torch.tensor([[pair.second] for pair in pairs]))
        return cast(torch.Tensor, self(ids.to(device), mask.long().to(device), sides.long().to(device)))

    def learned(self) -> dict[str, torch.Tensor]:
        """Return what was learned: every adapter and the head."""
        return {name: weight for name, weight in self.named_parameters() if weight.requires_grad}

    def restore(self, learned: Mapping[str, torch.Tensor]) -> None:
        """Put in what was learned before."""
        own = self.learned()
        with torch.no_grad():
            for name, weight in own.items():
                weight.copy_(learned[name])


def _open_network(trunk: Path) -> BertModel:
    """Return the trunk without its pooling layer, whose weights are then told to be missing: in silence."""
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        # On a processor, attention in one piece learns slower than in its three.
        attention = "sdpa" if torch.cuda.is_available() else "eager"
        return BertModel.from_pretrained(
            trunk, add_pooling_layer=False, dtype=torch.float32, attn_implementation=attention
        )
    finally:
        transformers_logging.set_verbosity(before)


# For both texts of a pair, which token begins at which place of it.
Starts = tuple[dict[int, int], dict[int, int]]


class PairTokenizer:
    """The trunk's tokenizer for pairs of at most `longest` tokens; of a longer one the longer text is cut."""

    def __init__(self, trunk: Path, longest: int, cut: str = "longest_first") -> None:
        self._tokenizer = Tokenizer.from_file(str(trunk / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest, strategy=cut)

    def placed(self, texts: Sequence[tuple[str, str]]) -> list[tuple[Pair, Starts]]:
        """Return the pairs in tokens, and for both texts which token begins at which place of it."""
        return [(_pair(found), token_starts(found)) for found in self._tokenizer.encode_batch(list(texts))]

    def pairs(self, texts: Sequence[tuple[str, str]]) -> list[Pair]:
        """Return the pairs in tokens."""
        return [_pair(found) for found in self._tokenizer.encode_batch_fast(list(texts))]

    def texts(self, texts: Sequence[str]) -> list[Pair]:
        """Return single texts in tokens: pairs without a second."""
        encoded = self._tokenizer.encode_batch_fast(list(texts))
        return [Pair(np.array(found.ids, np.uint16), len(found.ids)) for found in encoded]


def _pair(found: Encoding) -> Pair:
    second = found.type_ids.index(1) if 1 in found.type_ids else len(found.ids)
    return Pair(np.array(found.ids, np.uint16), second)
