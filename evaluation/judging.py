"""Asks a model to judge texts of several systems in one prompt, several times in varying order.

Also computes the figures of these votes.
"""

import random
import re
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, create_model
from rich.table import Table

from assistant.generators.parameters import default_parameters
from assistant.models.menu import available_models, describe_setup, open_model
from assistant.models.protocol import ChatModel, Exchange, ModelError
from assistant.prompts.material import estimate_tokens
from assistant.prompts.render import as_written, load_prompt, mark
from assistant.records import Evidence, Message, Parameters
from corpus.settings import Settings
from evaluation.harness import decimals, say, table
from evaluation.input_files import PROMPTS, EvaluationError
from evaluation.reply_cache import CachedModel, ReplyCache

Mark = Literal[1, 2, 3, 4, 5]
REPLY_TOKENS, REPLY_TOKENS_PER_TEXT = 100, 250
LONGEST_ANALYSIS = 600
# Definitions that are the same in all prompts of judges.
COHERENCE = "its sentences and paragraphs follow from each other and make one line of thought."
FLUENCY = "it is plain, correct English that reads easily."
_LABEL = re.compile(r"\[(\d{1,3})\]")


# A vote to ask for: the indices of the texts in the order shown, and the prompt.
Ballot = tuple[tuple[int, ...], tuple[Message, ...]]


@dataclass(frozen=True, slots=True)
class JudgeVote:
    """One vote: the marks of each text, and the index of the best.

    `problem` is why a vote was discarded. `served` is the model that voted, if the server names another than
    was requested.
    """

    marks: tuple[Mapping[str, int], ...] = ()
    best: int | None = None
    problem: str = ""
    served: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """A chat model that marks texts; `context` is its context length in tokens."""

    model: ChatModel
    parameters: Parameters
    context: int
    at_once: int = 4

    def ballots(
        self,
        prompt: str,
        definitions: Mapping[str, str],
        texts: Sequence[str],
        votes: int,
        seed: int | str,
        **material: str,
    ) -> list[Ballot]:
        """Render a prompt for each vote on the texts; raises EvaluationError if it exceeds the context."""

        def messages(order: tuple[int, ...]) -> tuple[Message, ...]:
            marked = (
                between(f"text {place}", as_written(texts[index]))
                for place, index in enumerate(order, start=1)
            )
            return load_prompt(prompt, PROMPTS).render(
                dimensions="\n".join(f"- {name}: {meaning}" for name, meaning in definitions.items()),
                rules=(PROMPTS / "judge_rules.md").read_text(encoding="utf-8").strip(),
                texts="\n\n".join(marked),
                count=str(len(texts)),
                **material,
            )

        ballots = [(order, messages(order)) for order in shown_orders(len(texts), votes, seed)]
        needed = sum(estimate_tokens(message.content) for message in ballots[0][1])
        needed += self._parameters(len(texts)).max_tokens
        if needed > self.context:
            raise EvaluationError(
                f"The judge {self.model.label} takes in {self.context:,} tokens; {len(texts)} texts"
                f" together need about {needed:,}. Judge fewer at once, or choose another judge."
            )
        return ballots

    def cast(self, ballots: Sequence[Ballot], dimensions: tuple[str, ...]) -> list[JudgeVote]:
        """Ask for a vote on each ballot."""
        say(f"The judge {self.model.label} is asked {len(ballots):,} times, at most twice as often.")
        with ThreadPoolExecutor(self.at_once) as pool:
            return list(pool.map(lambda ballot: self._vote(ballot, dimensions), ballots))

    def _parameters(self, texts: int) -> Parameters:
        """Return the parameters with enough tokens for an analysis of each text."""
        return replace(self.parameters, max_tokens=REPLY_TOKENS + REPLY_TOKENS_PER_TEXT * texts)

    def _vote(self, ballot: Ballot, dimensions: tuple[str, ...]) -> JudgeVote:
        order, messages = ballot
        exchanges: list[Exchange] = []
        try:
            form = judgement(len(order), dimensions)
            reply = self.model.reply(messages, self._parameters(len(order)), form, exchanges.append)
            judged = reply.model_dump()
        except ModelError as error:
            return JudgeVote(problem=error.fault)
        by_index = {index: judged[f"text_{place}"] for place, index in enumerate(order, start=1)}
        return JudgeVote(
            marks=tuple({name: by_index[index][name] for name in dimensions} for index in sorted(order)),
            best=order[judged["best"] - 1],
            served=exchanges[-1].completion.served if exchanges else "",
        )


def open_judge(name: str, settings: Settings, replies: Path | None = None) -> Judge:
    """Open a model as a judge; its usable replies are cached in the file `replies`, if given.

    Raises EvaluationError for an unknown model.
    """
    entries = {entry.id: entry for entry in available_models(settings)}
    if name not in entries:
        raise EvaluationError(
            f"There is no model {name!r} to judge. Available: {', '.join(entries) or 'none'}."
            f" Set {describe_setup()}."
        )
    entry = entries[name]
    parameters = default_parameters(settings, entry)
    model: ChatModel = open_model(entry, settings)
    if replies:
        model = CachedModel(model, ReplyCache(replies), stores_bad_replies=False)
    return Judge(model, parameters, entry.context, settings.model_calls)


def shown_orders(systems: int, votes: int, seed: int | str) -> tuple[tuple[int, ...], ...]:
    """Draw the order of the systems in each vote, the same for the same seed.

    Each shuffled order is rotated, so that each system has each place equally often.
    """
    generator = random.Random(seed)
    orders: list[tuple[int, ...]] = []
    while len(orders) < votes:
        shuffled = generator.sample(range(systems), systems)
        orders += [tuple(shuffled[turn:] + shuffled[:turn]) for turn in range(systems)]
    return tuple(orders[:votes])


class _Judgement(BaseModel, extra="forbid"):
    pass


@cache
def judgement(texts: int, dimensions: tuple[str, ...]) -> type[BaseModel]:
    """Return the schema of a vote: an analysis and marks for each text, and the best."""
    marks = dict.fromkeys(dimensions, (Mark, ...))
    judged = create_model(  # type: ignore[call-overload]
        "Judged", __base__=_Judgement, analysis=(str, Field(max_length=LONGEST_ANALYSIS)), **marks
    )
    numbers = Literal[tuple(range(1, texts + 1))]  # type: ignore[valid-type]
    fields = {f"text_{place}": (judged, ...) for place in range(1, texts + 1)}
    return create_model("Judgement", __base__=_Judgement, **fields, best=(numbers, ...))  # type: ignore[call-overload, no-any-return]


def between(name: str, body: str) -> str:
    """Put a text of a prompt between a marked begin and end."""
    return f"{mark(name)}\n{body}\n{mark(f'end of {name}')}"


def relabel(text: str, evidence: Evidence, labels: Mapping[str, int]) -> str:
    """Replace a text's labels of `evidence` by those in `labels`, which has them by the ids of papers.

    Labels of no such paper become [1?]: unchanged they could name another paper.
    """
    paper_ids = {labelled.label: labelled.paper.id for labelled in evidence.papers}

    def new_label(match: re.Match[str]) -> str:
        label = labels.get(paper_ids.get(int(match[1]), ""))
        return f"[{match[1]}?]" if label is None else f"[{label}]"

    # `as_written` first: it turns marks into brackets, which are labels like others.
    return _LABEL.sub(new_label, as_written(text))


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """A system's marks: mean and standard deviation by dimension.

    The mean weights all judged items equally; the deviation is over votes. `best` counts the votes that named
    the system the best.
    """

    means: Mapping[str, float]
    spreads: Mapping[str, float]
    overall: float | None
    best: int


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """A judge's marks of all systems; `wrote` names the systems whose texts the judge model itself wrote."""

    judge: str
    dimensions: tuple[str, ...]
    votes: int
    discarded: int
    problems: tuple[str, ...]
    wrote: tuple[str, ...]
    systems: Mapping[str, JudgedSystem]
    served: tuple[str, ...] = ()


def judge_figures(
    judge: Judge,
    dimensions: tuple[str, ...],
    writers: Mapping[str, Collection[str]],
    judged: Sequence[Sequence[JudgeVote]],
) -> JudgeFigures:
    """Average the marks of each system over the judged items.

    `writers` maps each system to the models that wrote its texts; `judged` has the votes on each item.
    """
    cast = [vote for votes in judged for vote in votes]
    valid = [[vote for vote in votes if not vote.problem] for votes in judged]
    return JudgeFigures(
        judge=judge.model.id,
        dimensions=dimensions,
        votes=len(cast),
        discarded=sum(bool(vote.problem) for vote in cast),
        problems=tuple(dict.fromkeys(vote.problem for vote in cast if vote.problem)),
        wrote=tuple(name for name, models in writers.items() if judge.model.id in models),
        systems={
            name: _judged_system([votes for votes in valid if votes], index, dimensions)
            for index, name in enumerate(writers)
        },
        served=tuple(sorted({vote.served for vote in cast} - {""})),
    )


def _judged_system(
    judged: Sequence[Sequence[JudgeVote]], index: int, dimensions: Sequence[str]
) -> JudgedSystem:
    cast = [vote for votes in judged for vote in votes]
    means = {
        name: statistics.fmean(
            statistics.fmean(vote.marks[index][name] for vote in votes) for votes in judged
        )
        for name in dimensions
        if judged
    }
    return JudgedSystem(
        means=means,
        spreads={name: statistics.pstdev(vote.marks[index][name] for vote in cast) for name in means},
        overall=statistics.fmean(means.values()) if means else None,
        best=sum(vote.best == index for vote in cast),
    )


def judge_table(
    judged: JudgeFigures, overall: str, notes: Iterable[str] = (), more: Iterable[Sequence[str]] = ()
) -> Table:
    """Build a table of a judge's marks; `overall` labels the row of means, `more` are the last rows."""
    served = f"The server says that {', '.join(judged.served)} judged."
    wrote = (
        f"The judge wrote {', '.join(judged.wrote)} itself: models favour their own texts, so these marks"
        " show little on their own."
    )
    caption = [*([served] if judged.served else []), *([wrote] if judged.wrote else []), *notes]
    caption += [f"Discarded: {problem}" for problem in judged.problems]
    systems = tuple(judged.systems.values())
    rows: list[Sequence[str] | None] = [
        [
            name.replace("_", " ").capitalize(),
            *(
                f"{system.means[name]:.2f} ± {system.spreads[name]:.2f}" if system.means else ""
                for system in systems
            ),
        ]
        for name in judged.dimensions
    ]
    rows += [
        None,
        [overall, *(decimals(system.overall, 2) for system in systems)],
        ["Named the best", *(str(system.best) for system in systems)],
        *more,
    ]
    title = f"Marks 1 to 5 by {judged.judge}, {judged.votes} votes, {judged.discarded} of them discarded"
    return table(("Quality", *judged.systems), rows, title=title, caption="\n".join(caption))
