"""The follow-ups part: the words of a conversation that a question leans on, and their place in it.

As in QuReTeC (Voskarides et al., SIGIR 2020) the network reads a question beside what was said before. For
each word of the question it predicts whether the word is replaced and whether words are inserted behind it;
for both it points to the first and the last word meant, and predicts the connector.
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
HOW = Plan(epochs=2, learning_rate=1e-3, tokens=4096)
POINTERS = ((FROM_BEGIN, TO_BEGIN, 0), (FROM_END, TO_END, 1))
JOINED_COUNTS = 0.5  # weight of a wrong connector, relative to a wrong place

# Alignment of rewrites with the history.
MOST_REPLACED = 4
FOUND = 0.6  # least share of the content words of an insertion that are found in one run
ARTICLES, OWNS = ("the", "a", "an"), ("'s", "’s")

# Generation of conversations: shares of questions, or probabilities.
MADE_OF = ("squad", "covidqa", "scidqa", "qasper-paragraphs")
IN_ORDER = "squad"  # asked in the order of the article's sentences
AS_REWRITTEN = 0.75  # earlier questions that are read in their rewritten form
ANSWERED = 0.5
UNTOUCHED, ELSEWHERE = 0.12, 0.08  # questions that lean on nothing: complete, or of another dialogue
MADE_UNTOUCHED = 0.25
OPENED = 0.3  # made conversations that begin with a question about the subject
LEFT_OUT, WITH_HEAD = 0.6, 0.4
LONGEST_RUN = 4
WINDOW, READ = 6, 0.6
_PREPOSITIONS = frozenset("of in for about with on by from at than".split())
# A name begins behind these words; behind others it may be a verb.
_AHEAD = _PREPOSITIONS | frozenset("the a an is are was were and or".split())
_OPENERS = "What is {}?|Tell me about {}.|What do you know about {}?|Explain {}.|How does {} work?".split("|")

# Calibration of the certainty that the product requires.
DEVELOPED_ON = "rewriting/canard_dev.jsonl"
REPLACING, BEHIND_AND_BRACKETED = (0.1, 0.2, 0.3), ((0.3, 0.3), (0.4, 0.3), (0.4, 0.4))
FIRST = Surety(points=0.4, replacing=REPLACING[0], behind=0.3, bracketed=0.3)
WORSE_COUNTS = 0.1  # weight of questions that a rewrite made worse, beside the mean F1
CHOSEN_ON = 300
HALVES = ("canard-dev, one half of its dialogues", "canard-dev, the other half")


@dataclass(frozen=True, slots=True)
class Gap:
    """Words of a question that are replaced, or behind which words are inserted.

    `spans` has the first and the last of the words meant, wherever they were said.
    """

    first: int
    last: int
    is_replaced: bool
    connector: int
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A question, what was said before it, and its gaps."""

    question: str
    said: Said
    gaps: tuple[Gap, ...]


def aligned(question: str, rewrite: str, said: Said) -> Resolved | None:
    """Return the gaps of a question that its rewrite fills; None where an insertion was not said before."""
    asked, full = _lower(words_of(question)), _lower(words_of(rewrite))
    gaps = []
    for kind, first, last, begin, end in SequenceMatcher(None, asked, full, autojunk=False).get_opcodes():
        added, connector = full[begin:end], ""
        if added and added[-1] in OWNS:
            added, connector = added[:-1], "'s"
        elif added and added[0] in CONNECTORS:
            added, connector = added[1:], added[0]
        if kind in ("equal", "delete") or not any(map(_is_content, added)):
            continue
        spans = _spans(added, _lower(said.words))
        if not spans or last - first > MOST_REPLACED or (kind == "insert" and first == 0):
            return None
        is_replaced = kind == "replace"
        place = (first, last - 1) if is_replaced else (first - 1, first - 1)
        gaps.append(Gap(*place, is_replaced, CONNECTORS.index(connector), spans))
    return Resolved(question, said, tuple(gaps))


def _lower(words: Sequence[Word]) -> list[str]:
    return [word.text.lower() for word in words]


def _is_content(word: str) -> bool:
    return word not in stop_words() and word not in OWNS


def _spans(added: list[str], said: list[str]) -> tuple[tuple[int, int], ...]:
    """Return the places of an insertion in what was said: whole, without its article, or most of it."""
    bare = added[1:] if added[0] in ARTICLES else added
    common = SequenceMatcher(None, bare, said, autojunk=False).find_longest_match()
    run = bare[common.a : common.a + common.size]
    is_most = run and sum(map(_is_content, run)) >= FOUND * sum(map(_is_content, bare))
    for wanted in (added, bare, run if is_most else []):
        size = len(wanted)
        starts = [at for at in range(len(said) - size + 1) if size and said[at : at + size] == wanted]
        if starts:
            return tuple((at, at + size - 1) for at in starts)
    return ()


def canard(data: Path, seed: int) -> Iterator[Resolved]:
    """Yield the questions of CANARD's training dialogues whose insertions were said before."""
    dialogues = read_canard(data)
    for number, dialogue in enumerate(dialogues):
        chance = random.Random(f"{seed}:{number}")
        exchanges: list[Exchange] = []
        for turn in dialogue.turns:
            question, rewrite = turn.q, turn.rewrite
            drawn = chance.random()
            if drawn < UNTOUCHED:
                question = rewrite
            elif drawn < UNTOUCHED + ELSEWHERE:
                question = rewrite = chance.choice(chance.choice(dialogues).turns).rewrite
            if exchanges and (found := aligned(question, rewrite, said_before(exchanges))):
                yield found
            as_read = turn.rewrite if chance.random() < AS_REWRITTEN else turn.q
            exchanges.append((as_read, turn.ans_kw if chance.random() < ANSWERED else ""))


def made(data: Path, seed: int) -> Iterator[Resolved]:
    """Yield questions about one paper or article, asked in turn, without the words that they share."""
    for name in MADE_OF:
        chance = random.Random(f"{seed}:{name}")
        recent: deque[EvidenceRow] = deque(maxlen=WINDOW)
        for row in READERS[name](data):
            if len(row.question) > LONGEST_QUESTION or "\n" in row.question:
                continue
            if name != IN_ORDER and recent and recent[-1].group != row.group:
                recent.clear()
            before = [earlier for earlier in recent if chance.random() < READ]
            recent.append(row)
            exchanges: list[Exchange] = []
            for earlier in before:
                is_answered = earlier.relevant and chance.random() < ANSWERED
                answer = earlier.candidates[earlier.relevant[0]] if is_answered else ""
                exchanges.append((earlier.question, answer))
            if found := _made(row.question, exchanges, chance):
                yield found


def _made(question: str, exchanges: list[Exchange], chance: random.Random) -> Resolved | None:
    if chance.random() < MADE_UNTOUCHED:
        return aligned(question, question, said_before(exchanges)) if exchanges else None
    runs = _runs(question)
    said = " ".join(word for exchange in exchanges for text in exchange for word in _lower(words_of(text)))
    shared = [run for run in runs if " ".join(_lower(run)) in said]
    if not shared or chance.random() < OPENED:
        if not runs:
            return None
        run = chance.choice(runs)
        opener = chance.choice(_OPENERS).format(question[run[0].start : run[-1].end])
        exchanges = [(opener, ""), *exchanges[-1:]]
    else:
        run = chance.choice(shared)
    return aligned(leaning(question, run, chance), question, said_before(exchanges))


def _runs(question: str) -> list[list[Word]]:
    """Return the runs of words that may name the subject of a question, if it has several."""
    words = words_of(question)
    lower = _lower(words)
    is_content = [word not in stop_words() and len(word) > 1 for word in lower]
    runs = [
        words[first : last + 1]
        for first in range(1, len(words))
        for last in range(first, min(first + LONGEST_RUN, len(words)))
        if all(is_content[first : last + 1])
        and lower[first - 1] in _AHEAD
        and (last + 1 == len(words) or not (is_content[last + 1] or lower[last + 1] == "of"))
    ]
    return runs if len(runs) > 1 else []


def leaning(question: str, run: Sequence[Word], chance: random.Random) -> str:
    """Return a question without a run of its words, or with a pronoun in their place."""
    words = words_of(question)
    at = words.index(run[0])
    articles = 1 if at and words[at - 1].text.lower() in ARTICLES else 0
    first = words[at - articles]
    ahead = words[at - articles - 1] if at > articles else None
    follows = words[at + len(run)] if at + len(run) < len(words) else None
    if follows and follows.text in OWNS:
        return question[: first.start] + chance.choice(("its", "their")) + question[follows.end :]
    if ahead and ahead.text.lower() in _PREPOSITIONS and chance.random() < LEFT_OUT:
        return question[: ahead.start].rstrip() + question[run[-1].end :]
    head = run[-1].text
    is_plural = head.endswith("s") and not head.endswith(("ss", "is", "us"))
    pronouns: tuple[str, ...] = ("they", "them", "these") if is_plural else ("it", "it", "it", "this", "that")
    if len(run) > 1 and chance.random() < WITH_HEAD:
        pronouns = ("these", "those") if is_plural else ("this", "that", "the")
        return f"{question[: first.start]}{chance.choice(pronouns)} {head}{question[run[-1].end :]}"
    return question[: first.start] + chance.choice(pronouns) + question[run[-1].end :]


@dataclass(frozen=True, slots=True)
class Example:
    """A question beside what was said, as tokens.

    `asked` and `said` are the first tokens of their words; `places` (words, 2) marks words that are replaced,
    and words behind which something is inserted.
    """

    pair: Pair
    asked: NDArray[np.int64]
    said: NDArray[np.int64]
    places: NDArray[np.float32]
    gaps: Sequence[Gap]


def examples_of(resolved: Sequence[Resolved]) -> list[Example]:
    """Return questions as tokens, without those whose gaps point beyond the tokens read."""
    placed = PairTokenizer(LONGEST).placed([(question.question, question.said.text) for question in resolved])
    examples = []
    for question, (pair, (of_asked, of_said)) in zip(resolved, placed, strict=True):
        asked = [of_asked.get(word.start) for word in words_of(question.question)]
        said = [at for word in question.said.words if (at := of_said.get(word.start)) is not None]
        gaps = [
            replace(gap, spans=tuple(span for span in gap.spans if span[1] < len(said)))
            for gap in question.gaps
        ]
        if said and None not in asked and all(gap.spans for gap in gaps):
            places = np.zeros((len(asked), 2), np.float32)
            for gap in gaps:
                column = REPLACED if gap.is_replaced else BEHIND
                places[gap.first : gap.last + 1, column] = 1
            examples.append(Example(pair, np.array(asked, np.int64), np.array(said, np.int64), places, gaps))
    return examples


def _losses(reader: Reader, batch: Sequence[Example]) -> Iterator[torch.Tensor]:
    """Yield the mean loss of places, connectors and pointers; all mentions of the words meant are right."""
    losses = []
    for numbers, example in zip(reader.read([example.pair for example in batch]).float(), batch, strict=True):
        asked, said = numbers[example.asked], numbers[example.said]
        places = torch.from_numpy(example.places).to(numbers.device)
        loss = binary_cross_entropy_with_logits(asked[:, : JOINED.start], places, reduction="sum")
        for gap in example.gaps:
            asking = asked[gap.first]
            for own, other, side in POINTERS:
                chances = (said[:, other] @ asking[own] / POINTING**0.5).log_softmax(0)
                right = torch.tensor(sorted({span[side] for span in gap.spans}), device=numbers.device)
                loss = loss - chances[right].logsumexp(0)
            wanted = torch.tensor(gap.connector, device=numbers.device)
            loss = loss + JOINED_COUNTS * cross_entropy(asking[JOINED], wanted)
        losses.append(loss)
    yield torch.stack(losses).mean()


TASK: Task[Example] = Task(lambda example: len(example.pair.ids), _losses)
RECIPE = Recipe(FOLLOW_UPS, LONGEST, TASK, {"conversations": HOW}, {"surety": FIRST.model_dump()})


def train_follow_ups(run: Run) -> Card:
    """Fit the part and return its card; a killed run resumes. Raises TrainingError and EvaluationError."""
    asked = {CANARD: list(canard(run.data, run.seed)), "made": list(made(run.data, run.seed))}
    examples = examples_of([question for questions in asked.values() for question in questions])
    reader = Reader.new(run.seed, outputs=OUTPUTS, per_token=True)

    def measured(name: str) -> Measured:
        turns = read_turns(run.data / DEVELOPED_ON)
        # The first turn of a dialogue decides which half it belongs to.
        halves: tuple[list[AskedTurn], list[AskedTurn]] = ([], [])
        for turn in turns:
            halves[hash_byte(turn.history[0] if turn.history else turn.raw) % 2].append(turn)
        say(f"{name}: reading {len(turns)} questions of {DEVELOPED_ON}")
        follow_ups = read_follow_ups(run.work)

        def figures(surety: Surety, few: Sequence[AskedTurn]) -> RewritingFigures:
            reads = follow_ups.with_surety(surety)
            found = measure_rewriting(
                few, lambda question, history: rewrite_from_words(question, history, reads)
            )
            return found["all"]

        def worth(surety: Surety) -> float:
            found = figures(surety, halves[0][:CHOSEN_ON])
            return float(found["rewritten"]["f1"] - WORSE_COUNTS * found["worse_than_raw"])

        # First the threshold of replacements, then those of insertions.
        best = max((FIRST.model_copy(update={"replacing": bar}) for bar in REPLACING), key=worth)
        pairs = (dict(zip(("behind", "bracketed"), bars, strict=True)) for bars in BEHIND_AND_BRACKETED)
        surety = max((best.model_copy(update=bars) for bars in pairs), key=worth)
        return {"surety": surety.model_dump()}, {
            "recipe": f"paper-trail train follow-ups --seed {run.seed}",
            "trained_on": {name: len(questions) for name, questions in asked.items()},
            "made_of": MADE_OF,
            "licences": SETS["follow-ups"]["licences"],
            "fitting": {"adapters": ADAPTERS, "plan": asdict(HOW)},
            "surety_chosen_on": {HALVES[0]: figures(surety, halves[0][:CHOSEN_ON])},
            "held_back": {HALVES[1]: figures(surety, halves[1])},
        }

    return RECIPE.train(run, reader, lambda _: examples, measured)
