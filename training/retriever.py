"""Trains the retriever: the bundled sentence encoder, fine-tuned to find passages (TruthReader, section 4.1).

The loss is InfoNCE (van den Oord et al., 2018) over the texts of a batch and hard negatives by BM25, with the
pooling and temperature of the bundled encoder.
"""

import math
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch.nn.functional import cross_entropy, normalize

from corpus.encoders.base import BUNDLED_SHA256, bundled_path
from corpus.language.bm25 import Bm25
from corpus.settings import BUNDLED_ENCODER
from evaluation.answers.rewriting import QueryContext, query_in_context
from evaluation.harness import group_by, say
from training.files import SETS, Run, Trained, draw, hash_byte, train_folder, write_durably
from training.fitting import Plan, Task, autocast, fit, reported
from training.network import Pair, PairTokenizer, Reader
from training.questions import MOST_EXCHANGES, SoughtTexts, sought_texts
from training.truthreader.documents import Dialogue, nearest, read_dialogues

TEMPERATURE = 0.05
HARDEST = 8  # a negative is drawn from this many nearest texts, because the nearest itself may be right
MOST_DIALOGUES = 8000  # of each file
MEASURED = 100  # held-out queries of each set
PARTS = 10  # parts of each set, by paper or dialogue; one of them is held out
WEIGHTS = "model.safetensors"
# Files of the bundled folder that do not describe the new weights.
LEFT_OUT = (WEIGHTS, "README.md", "data_config.json", ".gitattributes")


@dataclass(frozen=True, slots=True)
class RetrieverPlan:
    """The options of a run; the defaults are those that TruthReader states.

    `context` is how the query of a follow-up is built. The limits are, in tokens, `length` for a query or a
    text, `tokens` for a batch and `most_tokens` for the run; `most_dialogues` limits each file of dialogues.
    """

    context: QueryContext = "ours"
    length: int = 512
    most_tokens: int | None = None
    learning_rate: float = 2e-4
    tokens: int = 8192
    seed: int = 13
    rank: int = 16
    most_dialogues: int = MOST_DIALOGUES


@dataclass(frozen=True, slots=True)
class Example:
    """The tokens of a query, of a right text and of a hard negative; `keys` has the numbers of the texts.

    `right` has the numbers of all texts that are right for the query, which are never negatives.
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
        token_mask = mask.unsqueeze(-1)
        return normalize((states.float() * token_mask).sum(1) / token_mask.sum(1), dim=1)


def _read(reader: Reader, batch: Sequence[Example]) -> tuple[torch.Tensor, list[int]]:
    """Return the vectors of all queries and then of the distinct texts, and the numbers of these texts."""
    texts = {key: text for example in batch for key, text in zip(example.keys, example.texts, strict=True)}
    return reader.read([*(example.query for example in batch), *texts.values()]), list(texts)


def _losses(reader: Reader, batch: Sequence[Example]) -> Iterator[torch.Tensor]:
    """Yield the mean loss of the queries over all distinct texts of the batch."""
    vectors, keys = _read(reader, batch)
    targets = torch.tensor([keys.index(example.keys[0]) for example in batch], device=vectors.device)
    ignored = [[key in example.right and key != example.keys[0] for key in keys] for example in batch]
    yield info_nce(
        vectors[: len(batch)], vectors[len(batch) :], targets, torch.tensor(ignored, device=vectors.device)
    )


def info_nce(
    queries: torch.Tensor, texts: torch.Tensor, targets: torch.Tensor, ignored: torch.Tensor
) -> torch.Tensor:
    """Return the mean loss of queries.

    `targets` has the index of each query's text; `ignored` (queries, texts) masks its other right texts.
    """
    return cross_entropy((queries @ texts.T / TEMPERATURE).masked_fill(ignored, -torch.inf), targets)


TASK: Task[Example] = Task(lambda example: example.tokens, _losses)


class Examples:
    """Converts rows to examples: builds the query in context, draws a hard negative, numbers the texts."""

    def __init__(self, rows: Sequence[SoughtTexts], plan: RetrieverPlan) -> None:
        self._plan = plan
        self._tokenizer = PairTokenizer(plan.length)
        self._keys: dict[str, int] = {}
        self._pools = {
            name: list(dict.fromkeys(text for row in set_rows for text in row.texts))
            for name, set_rows in group_by(rows, "set").items()
        }
        self._nearest = {name: Bm25(pool) for name, pool in self._pools.items()}

    def negatives(self, row: SoughtTexts, query: str) -> list[str]:
        """Return at most one text that is near to a query by BM25 and not right for it."""
        pool = self._pools[row.set]
        order = self._nearest[row.set].order(query, HARDEST + len(row.texts))
        wrong = [pool[index] for index in order if pool[index] not in row.texts][:HARDEST]
        return draw(wrong, 1, f"{self._plan.seed}:{row.query}")

    def example(self, row: SoughtTexts) -> Example:
        """Return a query with one of its texts, drawn at random, and a hard negative."""
        right_text = random.Random(f"{row.group}:{row.query}").choice(row.texts)
        query_text = query_in_context(self._plan.context, row.query, row.history)
        texts = [right_text, *self.negatives(row, query_text)]
        query, *encoded = self._tokenizer.pairs([query_text, *texts])
        keys, right = (
            [self._keys.setdefault(text, len(self._keys)) for text in group] for group in (texts, row.texts)
        )
        return Example(query, encoded, keys, frozenset(right))


def _dialogue_queries(dialogue: Dialogue) -> Iterator[SoughtTexts]:
    """Yield the questions of a published dialogue, each with the passage closest to its answer."""
    titles = {paper.id: paper.title for paper, _ in dialogue.documents}
    for number, (question, answer) in enumerate(dialogue.turns):
        history = dialogue.turns[max(0, number - MOST_EXCHANGES) : number]
        for passage in nearest(answer, dialogue.passages, 1):
            text = f"{titles[passage.paper_id]}\n{passage.text}"
            yield SoughtTexts(dialogue.source, dialogue.id, question, (text,), history)


def train_retriever(run: Run, plan: RetrieverPlan, dialogues: Sequence[Path] = ()) -> dict[str, Any]:
    """Fine-tune the bundled encoder and return the card; a killed run resumes. Raises TrainingError."""
    rows = sought_texts(run.data, SETS["retriever"]["queries"], plan.seed)
    for path in dialogues:
        for dialogue in read_dialogues(path, plan.most_dialogues, plan.seed):
            rows += _dialogue_queries(dialogue)
    numbers = {**asdict(plan), "temperature": TEMPERATURE, "epochs": 1}

    def train(fingerprint: str) -> Trained:
        held_out = [row for row in rows if hash_byte(row.group) % PARTS == 0]
        training = [row for row in rows if hash_byte(row.group) % PARTS]
        random.Random(plan.seed).shuffle(training)
        examples, left = [], math.inf if plan.most_tokens is None else plan.most_tokens
        for example in map(Examples(training, plan).example, training):
            left -= example.tokens
            if left < 0:
                break
            examples.append(example)
        reader = SentenceReader.new(plan.seed, rank=plan.rank)
        fitting_plan = Plan(1, plan.learning_rate, plan.tokens, seed=plan.seed)
        curve = fit(reader, TASK, examples, fitting_plan, run.work, fingerprint=fingerprint)
        used_by_set = group_by(training[: len(examples)], "set")
        counts = {name: len(set_rows) for name, set_rows in used_by_set.items()}
        card = {
            "kind": "retriever",
            "method": "InfoNCE with in-batch and hard negatives (TruthReader, section 4.1); LoRA, merged",
            "base": {"name": BUNDLED_ENCODER, "sha256": BUNDLED_SHA256, "licence": "Apache-2.0"},
            "data": {"queries": counts, "tokens": sum(example.tokens for example in examples)},
            "licences": {name: SETS["retriever"]["licences"][name] for name in counts},
            "numbers": numbers,
            "curve": reported(curve),
            "held_back": _measure(reader, Examples(held_out, plan), held_out),
        }
        return card, lambda: _write(reader, run.out)

    return train_folder(run, [BUNDLED_SHA256, numbers, list(map(asdict, rows))], train)


def _write(reader: Reader, out: Path) -> None:
    """Write a copy of the bundled encoder's folder with the merged weights."""
    merged = reader.trunk.merge_and_unload().state_dict()
    weights = {
        name: merged[name].detach().cpu().contiguous() if name in merged else weight
        for name, weight in load_file(bundled_path() / WEIGHTS).items()
    }
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(bundled_path(), out, dirs_exist_ok=True, ignore=ignored, copy_function=shutil.copyfile)
    write_durably(out / WEIGHTS, save(weights, metadata={"format": "pt"}))


def _measure(
    reader: SentenceReader, examples: Examples, held_out: Sequence[SoughtTexts]
) -> dict[str, dict[str, dict[str, float]]]:
    """Measure held-out queries of each set with the bundled weights ("before") and the new ones ("after")."""
    figures: dict[str, dict[str, dict[str, float]]] = {"before": {}, "after": {}}
    for name, rows in group_by(held_out, "set").items():
        queries = [examples.example(row) for row in rows[:MEASURED]]
        with reader.trunk.disable_adapter():
            figures["before"][name] = _retrieval_figures(reader, queries)
        figures["after"][name] = _retrieval_figures(reader, queries)
        say(f"{name}, {len(queries)} held back: {figures['before'][name]}, then {figures['after'][name]}")
    return figures


def _retrieval_figures(reader: SentenceReader, queries: Sequence[Example]) -> dict[str, float]:
    """Measure recall and MRR of queries over all their right texts and hard negatives."""
    reader.eval()
    with torch.no_grad(), autocast(reader):
        vectors, keys = _read(reader, queries)
    vectors = vectors.float()
    order = (vectors[: len(queries)] @ vectors[len(queries) :].T).argsort(dim=1, descending=True).tolist()
    ranks = [
        next(rank for rank, index in enumerate(ranked, start=1) if keys[index] in example.right)
        for example, ranked in zip(queries, order, strict=True)
    ]
    measures: dict[str, list[float]] = {
        "recall@1": [rank <= 1 for rank in ranks],
        "recall@4": [rank <= 4 for rank in ranks],
        "mrr": [1 / rank for rank in ranks],
    }
    means = {name: round(sum(values) / len(values), 4) for name, values in measures.items()}
    return {"queries": len(queries), "texts": len(keys), **means}
