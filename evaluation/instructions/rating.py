"""A model as judge of answers and summaries, each beside an expert's, on a scale from 1 to 5."""

import random
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from assistant.models import ModelError, ModelUnavailableError
from assistant.prompts import as_written, load_prompt
from assistant.records import Message
from corpus.wording import counted
from evaluation.instructions.running import Reply, Say
from evaluation.instructions.tasks import ANSWERS, SUMMARIES
from evaluation.judging import Judge, between

PROMPTS = Path(__file__).parent / "prompts"
LOWEST, HIGHEST = 1, 5
REPLY_TOKENS, LONGEST_EXPLANATION = 400, 1000
# Of summaries the authors have so many rated, drawn by this seed.
SUMMARIES_RATED, SEED = 100, 42
_RULE = re.compile(r"^-{10,}$", re.MULTILINE)


class Rating(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    explanation: str = Field(max_length=LONGEST_EXPLANATION)
    rating: Literal[1, 2, 3, 4, 5]


@dataclass(frozen=True, slots=True)
class Ratings:
    """Mean ratings as shares of the scale, 0..1, by the names of columns, and how many are not usable."""

    figures: Mapping[str, float]
    failed: int


def rate_replies(judge: Judge, replies: Sequence[Reply], say: Say) -> Ratings:
    """Have answers to Qasper's questions and a sample of MUP's summaries rated.

    What was not answered is rated 1 without asking. A rating that cannot be had is left out of the mean.
    Raises ModelUnavailableError.
    """
    figures: dict[str, float] = {}
    failed = 0
    answers = [reply for reply in replies if reply.item.task is ANSWERS]
    summaries = sampled([reply for reply in replies if reply.item.task is SUMMARIES])
    for name, chosen in (("Qasper judged", answers), ("MUP judged", summaries)):
        if not chosen:
            continue
        say(f"{name}: the judge {judge.model.label} gives {counted(len(chosen), 'rating')}.")
        given = _rate(judge, chosen)
        usable = [rating for rating in given if rating is not None]
        failed += len(given) - len(usable)
        if usable:
            figures[name] = (sum(usable) / len(usable) - LOWEST) / (HIGHEST - LOWEST)
    return Ratings(figures, failed)


def sampled(replies: Sequence[Reply]) -> list[Reply]:
    """Return the replies that are rated, at most so many, always the same."""
    # Not for secrets.
    places = random.Random(SEED).sample(range(len(replies)), min(SUMMARIES_RATED, len(replies)))
    return [replies[place] for place in sorted(places)]


def _rate(judge: Judge, replies: Sequence[Reply]) -> list[int | None]:
    with ThreadPoolExecutor(judge.at_once) as pool:
        asked = [pool.submit(_rating, judge, reply) for reply in replies]
        try:
            return [one.result() for one in asked]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _rating(judge: Judge, reply: Reply) -> int | None:
    given = _text_of(reply)
    if not given.strip():
        return LOWEST
    parameters = replace(judge.parameters, max_tokens=REPLY_TOKENS)
    try:
        return judge.model.reply(_messages(reply, given), parameters, Rating).rating
    except ModelUnavailableError:
        raise
    except ModelError:
        return None


def _text_of(reply: Reply) -> str:
    """Return what is rated of a reply: a summary, or an answer, "" where there is none."""
    value = reply.value if reply.item.task is SUMMARIES else _answer(reply.value)
    return "" if value is None else str(value)


def _answer(value: object) -> object:
    return value.get("answer") if isinstance(value, Mapping) else None


def _messages(reply: Reply, given: str) -> tuple[Message, ...]:
    item = reply.item
    if item.task is SUMMARIES:
        return load_prompt("rate_summary", PROMPTS).render(
            paper=_shown("paper", item.instruction),
            wanted=_shown("expert's summary", str(item.wanted)),
            given=_shown("model's summary", given),
        )
    wanted = item.wanted if isinstance(item.wanted, Mapping) else {}
    return load_prompt("rate_answer", PROMPTS).render(
        title=_shown("title", title_of(item.instruction)),
        excerpts=_shown("excerpts", "\n".join(wanted.get("evidence", ()))),
        question=_shown("question", question_of(item.instruction)),
        wanted=_shown("expert's answer", str(wanted.get("answer", ""))),
        given=_shown("model's answer", given),
    )


def title_of(instruction: str) -> str:
    """Return the paper's title in one of Qasper's instructions: the line below the first rule."""
    _, *below = _RULE.split(instruction, maxsplit=1)
    return below[0].strip("\n").partition("\n")[0] if below else ""


def question_of(instruction: str) -> str:
    """Return the question in one of Qasper's instructions."""
    lines = (line for line in instruction.split("\n") if line.startswith("Question:"))
    return next(lines, "").removeprefix("Question:").strip()


def _shown(name: str, text: str) -> str:
    return between(name, as_written(text))
