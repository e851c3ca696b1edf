"""Trains the follow-ups part: which earlier words a question refers to, and where they belong in it.

As in QuReTeC (Voskarides et al., SIGIR 2020) the network reads a question together with the conversation. For
each word of the question it predicts whether to replace the word and whether to insert words after it. For
both it points to the first and last word of the replacement in the conversation, and predicts a connector.
"""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from assistant.learned.followups import (
    BEHIND,
    CONNECTORS,
    FOLLOW_UPS,
    FROM_BEGIN,
    FROM_END,
    JOINED,
    OUTPUTS,
    POINTING,
    REPLACED,
    TO_BEGIN,
    TO_END,
    Exchange,
    Said,
    Surety,
    Word,
    read_follow_ups,
    said_before,
    words_of,
)
from assistant.learned.parts import Card
from assistant.learned.relevance import LONGEST_QUESTION
from assistant.questions.rewriting import rewrite_from_words
from corpus.language.stemming import stop_words
from evaluation.answers.evidence import EvidenceRow
from evaluation.answers.rewriting import AskedTurn, RewritingFigures, measure_rewriting, read_turns
from evaluation.harness import say
from training.files import SETS, Run, hash_byte
from training.fitting import Plan, Recipe, Task
from training.network import ADAPTERS, Measured, Pair, PairTokenizer, Reader
from training.questions import CANARD, READERS, read_canard

LONGEST = 224
PLAN = Plan(epochs=2, learning_rate=1e-3, tokens=4096)
# For the first and the last word: the columns of the question's and the conversation's vectors, and the index
# in a span.
POINTERS = ((FROM_BEGIN, TO_BEGIN, 0), (FROM_END, TO_END, 1))
CONNECTOR_WEIGHT = 0.5  # weight of the connector's loss, relative to that of a position

# Alignment of rewrites with the history.
MOST_REPLACED = 4
LEAST_FOUND = 0.6  # lowest share of an insertion's content words that the conversation has in one sequence
ARTICLES, POSSESSIVES = ("the", "a", "an"), ("'s", "’s")

# Generation of conversations: data sets, and probabilities.
MADE_OF = ("squad", "covidqa", "scidqa", "qasper-paragraphs")
IN_ORDER = "squad"  # its questions follow the order of the article's sentences
AS_REWRITTEN = 0.75  # an earlier question is read in its rewritten form
ANSWERED = 0.5  # an earlier question has its answer
COMPLETE, ELSEWHERE = 0.12, 0.08  # a question refers to nothing: it is complete, or of another dialogue
MADE_COMPLETE = 0.25  # a made question is complete
OPENED = 0.3  # a made conversation begins with a question about the subject
LEFT_OUT, WITH_HEAD = 0.6, 0.4  # words after a preposition are removed; a pronoun has the head noun after it
LONGEST_RUN = 4
WINDOW, READ = 6, 0.6  # the most earlier questions, and the probability of each
_PREPOSITIONS = frozenset("of in for about with on by from at than".split())
# After these words a noun phrase begins; after others a content word may be a verb.
_BEFORE_NOUNS = _PREPOSITIONS | frozenset("the a an is are was were and or".split())
_OPENERS = "What is {}?|Tell me about {}.|What do you know about {}?|Explain {}.|How does {} work?".split("|")

# Choice of the thresholds that the product requires.
DEVELOPED_ON = "rewriting/canard_dev.jsonl"
REPLACING, BEHIND_AND_BRACKETED = (0.1, 0.2, 0.3), ((0.3, 0.3), (0.4, 0.3), (0.4, 0.4))
FIRST = Surety(points=0.4, replacing=REPLACING[0], behind=0.3, bracketed=0.3)
WORSE_WEIGHT = 0.1  # weight of the share of questions that a rewrite made worse, against the mean F1
CHOSEN_ON = 300  # questions
HALVES = ("canard-dev, one half of its dialogues", "canard-dev, the other half")


@dataclass(frozen=True, slots=True)
class Gap:
    """Words of a question to replace, or a word after which to insert.

    `spans` has the first and last index of the replacement in the conversation, for each occurrence.
    """

    first: int
    last: int
    is_replaced: bool
    connector: int
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ResolvedQuestion:
    """A question, the conversation before it, and its gaps."""

    question: str
    said: Said
    gaps: tuple[Gap, ...]


def align(question: str, rewrite: str, said: Said) -> ResolvedQuestion | None:
    """Find the gaps of a question that its rewrite fills; None if the conversation lacks an insertion."""
    raw, rewritten = _lower(words_of(question)), _lower(words_of(rewrite))
    gaps = []
    matcher = SequenceMatcher(None, raw, rewritten, autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        added, connector = rewritten[begin:end], ""
        if added and added[-1] in POSSESSIVES:
            added, connector = added[:-1], "'s"
        elif added and added[0] in CONNECTORS:
            added, connector = added[1:], added[0]
        if kind in ("equal", "delete") or not any(map(_is_content, added)):
            continue
        spans = _spans(added, _lower(said.words))
        if not spans or last - first > MOST_REPLACED or (kind == "insert" and first == 0):
            return None
        is_replaced = kind == "replace"
        position = (first, last - 1) if is_replaced else (first - 1, first - 1)
        gaps.append(Gap(*position, is_replaced, CONNECTORS.index(connector), spans))
    return ResolvedQuestion(question, said, tuple(gaps))


def _lower(words: Sequence[Word]) -> list[str]:
    return [word.text.lower() for word in words]


def _is_content(word: str) -> bool:
    return word not in stop_words() and word not in POSSESSIVES


def _spans(added: list[str], said: list[str]) -> tuple[tuple[int, int], ...]:
    """Find an insertion in the conversation: as it is, without its article, or most of its words."""
    bare = added[1:] if added[0] in ARTICLES else added
    common = SequenceMatcher(None, bare, said, autojunk=False).find_longest_match()
    run = bare[common.a : common.a + common.size]
    is_most = run and sum(map(_is_content, run)) >= LEAST_FOUND * sum(map(_is_content, bare))
    for form in (added, bare, run if is_most else []):
        size = len(form)
        starts = [
            start for start in range(len(said) - size + 1) if size and said[start : start + size] == form
        ]
        if starts:
            return tuple((start, start + size - 1) for start in starts)
    return ()


def canard_questions(data: Path, seed: int) -> Iterator[ResolvedQuestion]:
    """Yield the questions of CANARD's training dialogues whose insertions the conversation has."""
    dialogues = read_canard(data)
    for number, dialogue in enumerate(dialogues):
        generator = random.Random(f"{seed}:{number}")
        exchanges: list[Exchange] = []
        for turn in dialogue.turns:
            question, rewrite = turn.q, turn.rewrite
            probability = generator.random()
            if probability < COMPLETE:
                question = rewrite
            elif probability < COMPLETE + ELSEWHERE:
                question = rewrite = generator.choice(generator.choice(dialogues).turns).rewrite
            if exchanges and (resolved := align(question, rewrite, said_before(exchanges))):
                yield resolved
            earlier = turn.rewrite if generator.random() < AS_REWRITTEN else turn.q
            exchanges.append((earlier, turn.ans_kw if generator.random() < ANSWERED else ""))


def made_questions(data: Path, seed: int) -> Iterator[ResolvedQuestion]:
    """Yield questions on one paper or article as a conversation, with shared words removed from the last."""
    for name in MADE_OF:
        generator = random.Random(f"{seed}:{name}")
        recent: deque[EvidenceRow] = deque(maxlen=WINDOW)
        for row in READERS[name](data):
            if len(row.question) > LONGEST_QUESTION or "\n" in row.question:
                continue
            if name != IN_ORDER and recent and recent[-1].group != row.group:
                recent.clear()
            before = [earlier for earlier in recent if generator.random() < READ]
            recent.append(row)
            exchanges: list[Exchange] = []
            for earlier in before:
                is_answered = earlier.relevant and generator.random() < ANSWERED
                answer = earlier.candidates[earlier.relevant[0]] if is_answered else ""
                exchanges.append((earlier.question, answer))
            if resolved := _make_follow_up(row.question, exchanges, generator):
                yield resolved


def _make_follow_up(
    question: str, exchanges: list[Exchange], generator: random.Random
) -> ResolvedQuestion | None:
    if generator.random() < MADE_COMPLETE:
        return align(question, question, said_before(exchanges)) if exchanges else None
    runs = _runs(question)
    said = " ".join(word for exchange in exchanges for text in exchange for word in _lower(words_of(text)))
    shared = [run for run in runs if " ".join(_lower(run)) in said]
    if not shared or generator.random() < OPENED:
        if not runs:
            return None
        run = generator.choice(runs)
        opener = generator.choice(_OPENERS).format(question[run[0].start : run[-1].end])
        exchanges = [(opener, ""), *exchanges[-1:]]
    else:
        run = generator.choice(shared)
    return align(shorten_question(question, run, generator), question, said_before(exchanges))


def _runs(question: str) -> list[list[Word]]:
    """Return the sequences of words that may name the subject of a question; [] if there is only one."""
    words = words_of(question)
    lower = _lower(words)
    is_content = [word not in stop_words() and len(word) > 1 for word in lower]
    runs = [
        words[first : last + 1]
        for first in range(1, len(words))
        for last in range(first, min(first + LONGEST_RUN, len(words)))
        if all(is_content[first : last + 1])
        and lower[first - 1] in _BEFORE_NOUNS
        and (last + 1 == len(words) or not (is_content[last + 1] or lower[last + 1] == "of"))
    ]
    return runs if len(runs) > 1 else []


def shorten_question(question: str, run: Sequence[Word], generator: random.Random) -> str:
    """Remove a sequence of words from a question, or replace it by a pronoun."""
    words = words_of(question)
    start = words.index(run[0])
    articles = 1 if start and words[start - 1].text.lower() in ARTICLES else 0
    first = words[start - articles]
    before = words[start - articles - 1] if start > articles else None
    after = words[start + len(run)] if start + len(run) < len(words) else None
    if after and after.text in POSSESSIVES:
        return question[: first.start] + generator.choice(("its", "their")) + question[after.end :]
    if before and before.text.lower() in _PREPOSITIONS and generator.random() < LEFT_OUT:
        return question[: before.start].rstrip() + question[run[-1].end :]
    head = run[-1].text
    is_plural = head.endswith("s") and not head.endswith(("ss", "is", "us"))
    pronouns: tuple[str, ...] = ("they", "them", "these") if is_plural else ("it", "it", "it", "this", "that")
    if len(run) > 1 and generator.random() < WITH_HEAD:
        pronouns = ("these", "those") if is_plural else ("this", "that", "the")
        return f"{question[: first.start]}{generator.choice(pronouns)} {head}{question[run[-1].end :]}"
    return question[: first.start] + generator.choice(pronouns) + question[run[-1].end :]


@dataclass(frozen=True, slots=True)
class Example:
    """A question and its conversation as tokens.

    `question` and `conversation` have the index of the first token of each word. `edits` (words, 2) marks the
    words to replace and the words after which to insert.
    """

    pair: Pair
    question: NDArray[np.int64]
    conversation: NDArray[np.int64]
    edits: NDArray[np.float32]
    gaps: Sequence[Gap]


def examples_of(resolved: Sequence[ResolvedQuestion]) -> list[Example]:
    """Tokenise questions, without those whose gaps refer to truncated words."""
    tokenized = PairTokenizer(LONGEST).pairs_with_starts(
        [(question.question, question.said.text) for question in resolved]
    )
    examples = []
    for question, (pair, (question_starts, said_starts)) in zip(resolved, tokenized, strict=True):
        question_tokens = [question_starts.get(word.start) for word in words_of(question.question)]
        said_tokens = [
            token for word in question.said.words if (token := said_starts.get(word.start)) is not None
        ]
        gaps = [
            replace(gap, spans=tuple(span for span in gap.spans if span[1] < len(said_tokens)))
            for gap in question.gaps
        ]
        if said_tokens and None not in question_tokens and all(gap.spans for gap in gaps):
            edits = np.zeros((len(question_tokens), 2), np.float32)
            for gap in gaps:
                column = REPLACED if gap.is_replaced else BEHIND
                edits[gap.first : gap.last + 1, column] = 1
            indices = np.array(question_tokens, np.int64), np.array(said_tokens, np.int64)
            examples.append(Example(pair, *indices, edits, gaps))
    return examples


def _losses(reader: Reader, batch: Sequence[Example]) -> Iterator[torch.Tensor]:
    """Yield the mean loss of edits, pointers and connectors; every occurrence of a replacement is right."""
    losses = []
    for numbers, example in zip(reader.read([example.pair for example in batch]).float(), batch, strict=True):
        question, conversation = numbers[example.question], numbers[example.conversation]
        edits = torch.from_numpy(example.edits).to(numbers.device)
        loss = binary_cross_entropy_with_logits(question[:, : JOINED.start], edits, reduction="sum")
        for gap in example.gaps:
            word = question[gap.first]
            for from_columns, to_columns, side in POINTERS:
                scores = conversation[:, to_columns] @ word[from_columns] / POINTING**0.5
                right = torch.tensor(sorted({span[side] for span in gap.spans}), device=numbers.device)
                loss = loss - scores.log_softmax(0)[right].logsumexp(0)
            connector = torch.tensor(gap.connector, device=numbers.device)
            loss = loss + CONNECTOR_WEIGHT * cross_entropy(word[JOINED], connector)
        losses.append(loss)
    yield torch.stack(losses).mean()


TASK: Task[Example] = Task(lambda example: len(example.pair.ids), _losses)
RECIPE = Recipe(FOLLOW_UPS, LONGEST, TASK, {"conversations": PLAN}, {"surety": FIRST.model_dump()})


def train_follow_ups(run: Run) -> Card:
    """Fit the part and return its card; a killed run resumes. Raises TrainingError and EvaluationError."""
    by_set = {
        CANARD: list(canard_questions(run.data, run.seed)),
        "made": list(made_questions(run.data, run.seed)),
    }
    examples = examples_of([question for questions in by_set.values() for question in questions])
    reader = Reader.new(run.seed, outputs=OUTPUTS, per_token=True)

    def measure(name: str) -> Measured:
        turns = read_turns(run.data / DEVELOPED_ON)
        # The half of a dialogue is decided by its first turn.
        halves: tuple[list[AskedTurn], list[AskedTurn]] = ([], [])
        for turn in turns:
            halves[hash_byte(turn.history[0] if turn.history else turn.raw) % 2].append(turn)
        say(f"{name}: reading {len(turns)} questions of {DEVELOPED_ON}")
        follow_ups = read_follow_ups(run.work)

        def figures(surety: Surety, turns: Sequence[AskedTurn]) -> RewritingFigures:
            with_surety = follow_ups.with_surety(surety)
            measured = measure_rewriting(
                turns, lambda question, history: rewrite_from_words(question, history, with_surety)
            )
            return measured["all"]

        def quality(surety: Surety) -> float:
            measured = figures(surety, halves[0][:CHOSEN_ON])
            return float(measured["rewritten"]["f1"] - WORSE_WEIGHT * measured["worse_than_raw"])

        # First choose the threshold of replacements, then those of insertions.
        best = max((FIRST.model_copy(update={"replacing": bar}) for bar in REPLACING), key=quality)
        pairs = (dict(zip(("behind", "bracketed"), bars, strict=True)) for bars in BEHIND_AND_BRACKETED)
        surety = max((best.model_copy(update=bars) for bars in pairs), key=quality)
        return {"surety": surety.model_dump()}, {
            "recipe": f"paper-trail train follow-ups --seed {run.seed}",
            "trained_on": {name: len(questions) for name, questions in by_set.items()},
            "made_of": MADE_OF,
            "licences": SETS["follow-ups"]["licences"],
            "fitting": {"adapters": ADAPTERS, "plan": asdict(PLAN)},
            "surety_chosen_on": {HALVES[0]: figures(surety, halves[0][:CHOSEN_ON])},
            "held_back": {HALVES[1]: figures(surety, halves[1])},
        }

    return RECIPE.train(run, reader, lambda _: examples, measure)
