"""The retriever: the bundled sentence encoder, fine-tuned to find passages (TruthReader, section 3.2).

The loss is InfoNCE (van den Oord et al., 2018) over the texts of a batch and hard negatives by words, with
the pooling and temperature of the bundled encoder.
"""

import hashlib
import json
import math
import random
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch.nn.functional import cross_entropy, normalize

from corpus.encoders import BUNDLED_SHA256, bundled_path
from corpus.language import Bm25
from corpus.settings import BUNDLED_ENCODER
from evaluation.answers.query_contexts import HISTORIES, QueryContext, history_of, query_in_context
from training.files import SETS, Run, draw, finished_card, grouped, hash_byte, write_durably, write_model
from training.fitting import CHECKPOINT, Plan, Task, autocast, fit, reported
from training.network import Pair, PairTokenizer, Reader
from training.sought import SoughtTexts, sought_texts

TEMPERATURE = 0.05
HARDEST = 8  # negatives are drawn from the nearest texts by words: the nearest itself may be right
PARTS = 10  # of each set, by paper or dialogue, of which one is held back
WEIGHTS = "model.safetensors"
# Files of the bundled folder that do not describe the new weights.
LEFT_OUT = (WEIGHTS, "README.md", "data_config.json", ".gitattributes")


@dataclass(frozen=True, slots=True)
class RetrieverPlan:
    """The options of a run; the defaults are TruthReader's where it names them.

    `length` limits a query and a text, `tokens` a step, and `most_tokens` the run. `measured` queries of each
    set are asked before and after.
    """

    context: QueryContext = "ours"
    length: int = 512
    most_tokens: int | None = None
    negatives: int = 1
    measured: int = 100
    learning_rate: float = 2e-4
    tokens: int = 8192
    seed: int = 13
    rank: int = 16

    @property
    def numbers(self) -> dict[str, object]:
        """The options as the card has them."""
        numbers = asdict(self)
        rank = numbers.pop("rank")
        return {**numbers, "adapters": {"rank": rank, "dropout": 0.0}}


@dataclass(frozen=True, slots=True)
class Example:
    """A query beside its own text and then hard negatives, as tokens; `keys` number the texts.

    `right` numbers all texts that are right for the query: none of them is a negative.
    """

    query: Pair
    texts: Sequence[Pair]
    keys: Sequence[int]
    right: frozenset[int]

    @property
    def tokens(self) -> int:
        return sum(len(pair.ids) for pair in (self.query, *self.texts))


class SentenceReader(Reader):
    """Reads texts into unit vectors: `read` returns (texts, dimension)."""

    def __init__(self, rank: int) -> None:
        super().__init__(rank=rank)
        self.head.requires_grad_(False)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, sides: torch.Tensor) -> torch.Tensor:
        """Return the mean states of texts as unit vectors: (texts, dimension)."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=sides).last_hidden_state
        kept = mask.unsqueeze(-1)
        return normalize((states.float() * kept).sum(1) / kept.sum(1), dim=1)


def _read(reader: Reader, batch: Sequence[Example]) -> tuple[torch.Tensor, list[int]]:
    """Return the vectors of queries and then of all texts, each read once, and the texts' numbers."""
    texts = {key: text for example in batch for key, text in zip(example.keys, example.texts, strict=True)}
    return reader.read([*(example.query for example in batch), *texts.values()]), list(texts)


def _loss(reader: Reader, batch: Sequence[Example]) -> torch.Tensor:
    """Return the mean loss of queries among all texts of the batch, each of which is read once."""
    vectors, keys = _read(reader, batch)
    own = torch.tensor([keys.index(example.keys[0]) for example in batch], device=vectors.device)
    also = [[key in example.right and key != example.keys[0] for key in keys] for example in batch]
    return info_nce(
        vectors[: len(batch)], vectors[len(batch) :], own, torch.tensor(also, device=vectors.device)
    )


def info_nce(
    queries: torch.Tensor, texts: torch.Tensor, own: torch.Tensor, also: torch.Tensor
) -> torch.Tensor:
    """Return the mean loss of queries with their texts at `own`; `also` (queries, texts) masks other ones."""
    return cross_entropy((queries @ texts.T / TEMPERATURE).masked_fill(also, -torch.inf), own)


TASK: Task[Example] = Task(lambda example: example.tokens, _loss)


class Examples:
    """Turns rows into examples: a history for each query, hard negatives, and a number for each text."""

    def __init__(self, rows: Sequence[SoughtTexts], plan: RetrieverPlan) -> None:
        self._plan = plan
        self._tokenizer = PairTokenizer(plan.length)
        self._keys: dict[str, int] = {}
        self._told = grouped((row for row in rows if row.history), "set")
        self._pools = {
            name: list(dict.fromkeys(text for row in own for text in row.texts))
            for name, own in grouped(rows, "set").items()
        }
        self._nearest = {name: Bm25(pool) for name, pool in self._pools.items()}

    def query(self, row: SoughtTexts) -> str:
        """Return a query with one of four kinds of history (TruthReader, section 3.1)."""
        if not row.history:
            return row.query
        chance = random.Random(f"{self._plan.seed}:{row.set}:{row.group}:{row.query}")
        kind = chance.choice(HISTORIES if row.alone else ("relevant", "both"))
        question = row.query if kind in ("relevant", "both") else row.alone
        drawn = chance.choice(self._told[row.set])
        other = drawn.history if drawn.group != row.group else ()
        return query_in_context(self._plan.context, question, history_of(kind, row.history, other))

    def negatives(self, row: SoughtTexts) -> list[str]:
        """Return texts that are near to a query by words, and not right for it."""
        pool = self._pools[row.set]
        order = self._nearest[row.set].order(row.alone or row.query, HARDEST + len(row.texts))
        wrong = [pool[index] for index in order if pool[index] not in row.texts][:HARDEST]
        return draw(wrong, self._plan.negatives, f"{self._plan.seed}:{row.query}")

    def example(self, row: SoughtTexts) -> Example:
        """Return a query with one of its texts, drawn at random, and its hard negatives."""
        own = random.Random(f"{row.group}:{row.query}").choice(row.texts)
        texts = [own, *self.negatives(row)]
        query, *encoded = self._tokenizer.pairs([self.query(row), *texts])
        keys, right = (
            [self._keys.setdefault(text, len(self._keys)) for text in some] for some in (texts, row.texts)
        )
        return Example(query, encoded, keys, frozenset(right))


def train_retriever(run: Run, plan: RetrieverPlan, checkpoint_seconds: float = 60.0) -> dict[str, Any]:
    """Fine-tune the bundled encoder and return the card; a killed run resumes. Raises TrainingError."""
    work, out = run.work, run.out
    rows = sought_texts(run.data, SETS["retriever"]["queries"], plan.seed)
    digest = hashlib.sha256(json.dumps([BUNDLED_SHA256, plan.numbers], sort_keys=True).encode())
    for row in rows:
        digest.update(repr(row).encode())
    fingerprint = digest.hexdigest()
    if (finished := finished_card(out, fingerprint)) is not None:
        run.say(f"{out} holds this encoder already.")
        return finished
    held = [row for row in rows if hash_byte(row.group) % PARTS == 0]
    learned = [row for row in rows if hash_byte(row.group) % PARTS]
    random.Random(plan.seed).shuffle(learned)
    taken, left = [], math.inf if plan.most_tokens is None else plan.most_tokens
    for example in map(Examples(learned, plan).example, learned):
        left -= example.tokens
        if left < 0:
            break
        taken.append(example)
    reader = SentenceReader.new(plan.seed, rank=plan.rank)
    how = Plan(1, plan.learning_rate, plan.tokens, seed=plan.seed, checkpoint_seconds=checkpoint_seconds)
    curve = fit(reader, TASK, taken, how, work, say=run.say, fingerprint=fingerprint)
    examples = Examples(held, plan)
    figures: dict[str, dict[str, dict[str, float]]] = {"before": {}, "after": {}}
    for name, queries in grouped(held, "set").items():
        asked = [examples.example(row) for row in queries[: plan.measured]]
        with reader.trunk.disable_adapter():
            figures["before"][name] = _found(reader, asked)
        figures["after"][name] = _found(reader, asked)
        run.say(f"{name}, {len(asked)} held back: {figures['before'][name]}, then {figures['after'][name]}")
    counts = {name: len(some) for name, some in grouped(learned[: len(taken)], "set").items()}
    card = {
        "kind": "retriever",
        "method": "InfoNCE with in-batch and hard negatives (TruthReader, section 3.2); LoRA, merged",
        "fingerprint": fingerprint,
        "base": {"name": BUNDLED_ENCODER, "sha256": BUNDLED_SHA256, "licence": "Apache-2.0"},
        "data": {"queries": counts, "tokens": sum(example.tokens for example in taken)},
        "licences": {name: SETS["retriever"]["licences"][name] for name in counts},
        "numbers": {**plan.numbers, "temperature": TEMPERATURE, "epochs": how.epochs},
        "curve": reported(curve),
        "held_back": figures,
        "versions": {name: version(name) for name in ("torch", "transformers", "peft")},
    }

    def write() -> None:
        merged = reader.trunk.merge_and_unload().state_dict()
        weights = {
            name: merged[name].detach().cpu().contiguous() if name in merged else weight
            for name, weight in load_file(bundled_path() / WEIGHTS).items()
        }
        ignored = shutil.ignore_patterns(*LEFT_OUT)
        options: dict[str, Any] = {"dirs_exist_ok": True, "ignore": ignored, "copy_function": shutil.copyfile}
        shutil.copytree(bundled_path(), out, **options)
        write_durably(out / WEIGHTS, save(weights, metadata={"format": "pt"}))

    return write_model(out, card, write, [work / CHECKPOINT])


def _found(reader: SentenceReader, asked: Sequence[Example]) -> dict[str, float]:
    """Return how well queries find their texts among all of them and their hard negatives."""
    reader.eval()
    with torch.no_grad(), autocast(reader):
        vectors, keys = _read(reader, asked)
    vectors = vectors.float()
    order = (vectors[: len(asked)] @ vectors[len(asked) :].T).argsort(dim=1, descending=True).tolist()
    ranks = [
        next(rank for rank, index in enumerate(ranked, start=1) if keys[index] in example.right)
        for example, ranked in zip(asked, order, strict=True)
    ]
    measures: dict[str, list[float]] = {
        "recall@1": [rank <= 1 for rank in ranks],
        "recall@4": [rank <= 4 for rank in ranks],
        "mrr": [1 / rank for rank in ranks],
    }
    means = {name: round(sum(values) / len(values), 4) for name, values in measures.items()}
    return {"queries": len(asked), "texts": len(keys), **means}
