"""Conversations of which people, or a rule that takes words away, say what each question means."""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from assistant.learned import LONGEST_QUESTION, Exchange, Word, said_before, words_of
from corpus.language import stop_words
from evaluation.answers.evidence.rows import EvidenceRow
from evaluation.input_files import read_json_lines
from training.followups.aligning import Resolved, aligned
from training.sets import READERS

CANARD = "rewriting/canard_train.jsonl"
AS_REWRITTEN = (
    0.75  # of the earlier questions are read as they were understood, the others as they were asked
)
ANSWERED = 0.5
UNTOUCHED, ELSEWHERE = 0.12, 0.08  # of all questions need nothing: they say all, or are of something new
MADE_UNTOUCHED = 0.25
OPENED = 0.3  # of the made conversations begin with a question about the very thing
LEFT_OUT, WITH_HEAD = 0.6, 0.4
LONGEST_RUN = 4
WINDOW, READ = 6, 0.6  # of so many questions before one, so large a share is read
IN_ORDER = "squad"  # asked sentence by sentence, so that what stands before is of the same article
_PREPOSITIONS = frozenset("of in for about with on by from at than".split())
# Behind these a name begins; behind others it may be a verb.
_AHEAD = _PREPOSITIONS | frozenset("the a an is are was were and or".split())
_OPENERS = (
    "What is {}?",
    "Tell me about {}.",
    "What do you know about {}?",
    "Explain {}.",
    "How does {} work?",
)


class _Asked(BaseModel):
    q: str = Field(min_length=1)
    rewrite: str = Field(min_length=1)
    ans_kw: str = ""


class _Dialogue(BaseModel):
    turns: list[_Asked] = Field(min_length=1)


def canard(data: Path, seed: int) -> Iterator[Resolved]:
    """Yield the questions of CANARD's training dialogues whose added words were said before."""
    dialogues = read_json_lines(data / CANARD, _Dialogue, "Each line has turns with q, rewrite and ans_kw.")
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


def made(data: Path, sets: Sequence[str], seed: int) -> Iterator[Resolved]:
    """Yield questions that were asked of one paper or article, with what they share taken away."""
    for name in sets:
        chance = random.Random(f"{seed}:{name}")
        recent: deque[EvidenceRow] = deque(maxlen=WINDOW)
        for row in READERS[name](data):
            if len(row.question) > LONGEST_QUESTION or "\n" in row.question:
                continue
            if name != IN_ORDER and recent and recent[-1].group != row.group:
                recent.clear()
            before = [one for one in recent if chance.random() < READ]
            recent.append(row)
            if found := _made(row.question, [_exchange(one, chance) for one in before], chance):
                yield found


def _exchange(row: EvidenceRow, chance: random.Random) -> Exchange:
    is_answered = row.relevant and chance.random() < ANSWERED
    return row.question, row.candidates[row.relevant[0]] if is_answered else ""


def _made(question: str, exchanges: list[Exchange], chance: random.Random) -> Resolved | None:
    if chance.random() < MADE_UNTOUCHED:
        return aligned(question, question, said_before(exchanges)) if exchanges else None
    runs = _shared_runs(question, exchanges)
    if not runs or chance.random() < OPENED:
        if not (runs := _runs(question)):
            return None
        run = chance.choice(runs)
        opener = chance.choice(_OPENERS).format(question[run[0].start : run[-1].end])
        exchanges = [(opener, ""), *exchanges[-1:]]
    else:
        run = chance.choice(runs)
    shortened = leaning(question, run, chance)
    return aligned(shortened, question, said_before(exchanges))


def _runs(question: str) -> list[list[Word]]:
    """Return the runs of words of a question that may be a name of what it is about."""
    words = words_of(question)
    is_content = [word.text.lower() not in stop_words() and len(word.text) > 1 for word in words]
    runs = [
        words[first : last + 1]
        for first in range(1, len(words))
        for last in range(first, min(first + LONGEST_RUN, len(words)))
        if all(is_content[first : last + 1])
        and words[first - 1].text.lower() in _AHEAD
        and (last + 1 == len(words) or not (is_content[last + 1] or words[last + 1].text.lower() == "of"))
    ]
    return runs if len(runs) > 1 else []  # what is all that a question says is not taken away


def _shared_runs(question: str, exchanges: Sequence[Exchange]) -> list[list[Word]]:
    said = " ".join(
        " ".join(word.text.lower() for text in one for word in words_of(text)) for one in exchanges
    )
    return [run for run in _runs(question) if " ".join(word.text.lower() for word in run) in said]


def leaning(question: str, run: Sequence[Word], chance: random.Random) -> str:
    """Return a question without a run of its words, or with a word in their place that points back."""
    words = words_of(question)
    at = words.index(run[0])
    before = [word.text.lower() for word in words[max(0, at - 2) : at]]
    articles = 1 if before[-1:] and before[-1] in ("the", "a", "an") else 0
    first = words[at - articles]
    ahead = words[at - articles - 1] if at > articles else None
    follows = words[at + len(run)] if at + len(run) < len(words) else None
    if follows and follows.text in ("'s", "’s"):
        return question[: first.start] + chance.choice(("its", "their")) + question[follows.end :]
    if ahead and ahead.text.lower() in _PREPOSITIONS and chance.random() < LEFT_OUT:
        return question[: ahead.start].rstrip() + question[run[-1].end :]
    return question[: first.start] + _pointing(run, chance) + question[run[-1].end :]


def _pointing(run: Sequence[Word], chance: random.Random) -> str:
    head = run[-1].text
    is_plural = head.endswith("s") and not head.endswith(("ss", "is", "us"))
    if len(run) > 1 and chance.random() < WITH_HEAD:
        return f"{chance.choice(('these', 'those') if is_plural else ('this', 'that', 'the'))} {head}"
    return chance.choice(("they", "them", "these") if is_plural else ("it", "it", "it", "this", "that"))
