"""Measures how models follow instructions on scientific papers (SciRIFF): items, replies, figures."""

import json
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import Template
from typing import Annotated, Literal

from pydantic import BaseModel, Field, RootModel, ValidationError

from assistant.models.limits import CallLimits
from assistant.models.protocol import BadReplyError, Exchange, ModelError, ModelUnavailableError
from assistant.models.typed import read_reply
from assistant.prompts.render import as_written, load_prompt
from assistant.records import Message, Parameters
from corpus.wording import counted
from evaluation.harness import mean, say
from evaluation.input_files import PROMPTS, EvaluationError, parse_record, read_text
from evaluation.instruction_metrics import (
    Pair,
    answer_f1,
    finding_f1,
    list_f1,
    mention_f1,
    rouge_l,
    verdict_f1,
)
from evaluation.judging import Judge, between
from evaluation.reply_cache import CachedModel, ask_each
from evaluation.retrieval import read_parquet

Way = Literal["held", "free"]
LONGEST_TEXT = 2**20
# If this many first items all fail, the model is at fault and the measurement ends.
FIRST_ERRORS_TO_STOP = 8
PROGRESS_EVERY = 100
POLL_SECONDS = 0.1
LOWEST, HIGHEST = 1, 5
RATING_TOKENS, LONGEST_EXPLANATION = 400, 1000
# The authors rate a sample of the summaries, drawn with this seed.
SUMMARIES_RATED, SEED = 100, 42
_HINT = 'Each line is an instance of SciRIFF: {"input", "output", "metadata", "_instance_id"}.'
_CLAIM_HINT = 'Each line is {"set", "id", "claim", "references", "label_raw", "supporting_sentences"}.'
_RULE = re.compile(r"^-{10,}$", re.MULTILINE)
_BRACKETS = {list: ("[", "]"), dict: ("{", "}")}
# The figures that GenGO Ultra prints (Table 3, T1 to T8').
_PRINTED = (
    *("BioASQ F1", "Evidence Inference overlap F1", "MultiCite F1", "SciERC F1"),
    *("SciFact token F1", "SciFact label F1", "CovidFact token F1", "CovidFact label F1"),
    *("DataFinder F1", "HealthVer token F1", "HealthVer label F1"),
)
# The figures of SciRIFF's own summary without DiscoMaT, and replacements for those that need a judge.
_SUMMARY = (
    *("BioASQ F1", "BioRED F1", "Evidence Inference overlap F1", "MultiCite F1", "MUP judged"),
    *("Qasper judged", "Qasper evidence F1", "SciERC F1", "SciFact label F1", "SciFact token F1"),
)
_UNJUDGED: Mapping[str, str] = {"MUP judged": "MUP ROUGE-L", "Qasper judged": "Qasper answer F1"}


class _Object(BaseModel, extra="forbid", strict=True):
    pass


class ListedAnswers(RootModel[Annotated[list[str], Field(min_length=1)]]):
    """BioASQ: the answers to a question, at least one."""


class BiomedicalEntities(_Object):
    """BioRED: the entities of an abstract by their types."""

    CellLine: list[str]
    Chemical: list[str]
    Disease: list[str]
    Gene: list[str]
    Species: list[str]
    Variant: list[str]


class ScientificEntities(_Object):
    """SciERC: the entities of an abstract by their types."""

    Task: list[str]
    Method: list[str]
    Metric: list[str]
    Material: list[str]
    OtherScientificTerm: list[str]
    Generic: list[str]


Effect = Literal["significantly increased", "significantly decreased", "no significant difference"]


class Findings(RootModel[list[tuple[str, str | None, str, Effect, str]]]):
    """Evidence Inference: intervention, comparator, outcome, effect and evidence of what a trial found."""


Intent = Literal["Background", "Motivation", "Uses", "Extends", "Similarities", "Differences", "FutureWork"]


class Intents(RootModel[list[Intent]]):
    """MultiCite: what a work is cited for."""


class Answer(_Object):
    """An answer with the paragraphs that it rests on."""

    answer: str
    evidence: list[str]


class AnswerOrNull(RootModel[Answer | None]):
    """Qasper: an answer, or null where the paper gives none."""


class Verdict(_Object):
    """SciFact: what an abstract says of a claim, with the sentences that do."""

    verdict: Literal["SUPPORT", "CONTRADICT", "NEI"]
    evidence: list[str]


class HealthVerdict(_Object):
    """CovidFact and HealthVer: as SciFact, where some instructions number the sentences instead."""

    verdict: Literal["SUPPORT", "CONTRADICT", "NEI"]
    evidence: list[str | int]


class DataSets(RootModel[list[str]]):
    """DataFinder: the data sets that fit a research question, of those that are offered."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task of SciRIFF; `score` returns its figures, 0..1, by the name of their column.

    `form` is the schema of a reply, None for a reply in plain text. `nothing` is the value that is scored for
    a reply without JSON.
    """

    name: str
    score: Callable[[Sequence[Pair]], Mapping[str, float]]
    form: type[BaseModel] | None = None
    nothing: list[object] | dict[str, object] | None = None
    array_may_end_as_object: bool = False


def _health_claims(instances: str, name: str) -> Task:
    return Task(
        instances, lambda pairs: _named(name, verdict_f1(pairs, numbered=True)), HealthVerdict, nothing={}
    )


def _named(name: str, figures: Mapping[str, float]) -> Mapping[str, float]:
    return {f"{name} {part} F1": figure for part, figure in figures.items()}


SUMMARIES = Task("mup_single_document_summarization", lambda pairs: {"MUP ROUGE-L": rouge_l(pairs)})
ANSWERS = Task("qasper_abstractive_qa", lambda pairs: _named("Qasper", answer_f1(pairs)), AnswerOrNull, {})
CLAIMS = Task("scifact_entailment", lambda pairs: _named("SciFact", verdict_f1(pairs)), Verdict, {})
TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task("bioasq_list_qa", lambda pairs: {"BioASQ F1": list_f1(pairs)}, ListedAnswers, []),
        Task("biored_ner", lambda pairs: {"BioRED F1": mention_f1(pairs)}, BiomedicalEntities, {}),
        Task(
            "evidence_inference",
            lambda pairs: _named("Evidence Inference", finding_f1(pairs)),
            Findings,
            [],
            array_may_end_as_object=True,
        ),
        Task("multicite_intent_classification", lambda pairs: {"MultiCite F1": list_f1(pairs)}, Intents, []),
        SUMMARIES,
        ANSWERS,
        Task("scierc_ner", lambda pairs: {"SciERC F1": mention_f1(pairs)}, ScientificEntities, {}),
        CLAIMS,
        _health_claims("covidfact_entailment", "CovidFact"),
        Task("data_reco_mcq_mc", lambda pairs: {"DataFinder F1": list_f1(pairs)}, DataSets, []),
        _health_claims("healthver_entailment", "HealthVer"),
    )
}


class Instance(BaseModel, frozen=True, strict=True):
    """A row of a file of SciRIFF."""

    input: str = Field(min_length=1, max_length=LONGEST_TEXT)
    output: str = Field(min_length=1, max_length=LONGEST_TEXT)
    instance_id: str = Field(alias="_instance_id", pattern=r"^[^:]+:[^:]+:.+$", max_length=200)


@dataclass(frozen=True, slots=True)
class Item:
    """An instruction for a model, and the reference reply."""

    id: str
    task: Task
    instruction: str
    reference: object


def parse_instance_id(instance_id: str) -> tuple[str, str, str]:
    """Split an instance's id into task, split and the id within the split."""
    task, split, id_in_split = instance_id.split(":", 2)
    return task, split, id_in_split


def read_items(path: Path, limit: int | None = None) -> list[Item]:
    """Read at most `limit` items of each task from Parquet or JSON lines; raises EvaluationError."""
    if path.suffix == ".parquet":
        rows = read_parquet(path, Instance, ["input", "output", "_instance_id"], _HINT)
    else:
        lines = enumerate(read_text(path).split("\n"), start=1)
        rows = (parse_record(path, number, line, Instance, _HINT) for number, line in lines if line.strip())
    by_task: dict[str, list[Item]] = {name: [] for name in TASKS}
    for instance in rows:
        task_items = by_task.get(parse_instance_id(instance.instance_id)[0])
        if task_items is not None and (limit is None or len(task_items) < limit):
            task_items.append(parse_item(instance, path))
    items = [item for task_items in by_task.values() for item in task_items]
    if not items:
        raise EvaluationError(f"{path} has no instance of the tasks {', '.join(TASKS)}.")
    return items


def parse_item(instance: Instance, path: Path) -> Item:
    """Parse an instance; raises EvaluationError if its output should be JSON and is not."""
    task = TASKS[parse_instance_id(instance.instance_id)[0]]
    try:
        reference = json.loads(instance.output) if task.form else instance.output
    except ValueError as error:
        raise EvaluationError(f"{path}, {instance.instance_id}: the output is not JSON: {error}.") from None
    return Item(instance.instance_id, task, instance.input, reference)


class _Claim(BaseModel, frozen=True, strict=True):
    set: Literal["SciFact"]
    id: str
    claim: str
    references: list[str]
    label_raw: Literal["SUPPORT", "CONTRADICT"]
    supporting_sentences: list[int]


def read_claims(path: Path, limit: int | None = None) -> list[Item]:
    """Read SciFact's claims from a file of attribution pairs, for use when SciRIFF's file is missing."""
    prompt = Template((PROMPTS / "claim.md").read_text(encoding="utf-8").strip())
    items = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if '"set": "SciFact"' in line:
            claim = parse_record(path, number, line, _Claim, _CLAIM_HINT)
            sentences = [" ".join(sentence.split()) for sentence in claim.references]
            evidence = [sentences[at] for at in claim.supporting_sentences if 0 <= at < len(sentences)]
            instruction = prompt.substitute(claim=claim.claim, abstract="\n".join(sentences))
            reference = {"verdict": claim.label_raw, "evidence": evidence}
            items.append(Item(f"{CLAIMS.name}:train:{claim.id}", CLAIMS, instruction, reference))
    if not items:
        raise EvaluationError(f"{path} has no claims of SciFact.")
    return items[:limit]


@dataclass(frozen=True, slots=True)
class FoundJson:
    """The JSON value of a reply, and where it is: the whole reply, within it, null, or nowhere."""

    value: object
    where: Literal["whole", "null", "within", "nowhere"]


def find_json(
    text: str, nothing: list[object] | dict[str, object], *, array_may_end_as_object: bool = False
) -> FoundJson:
    """Find the JSON of a reply as SciRIFF's authors do; a reply without JSON or of null gives `nothing`.

    If the whole reply is not JSON, the first balanced part that parses is taken. A part begins with the
    bracket of `nothing`, [ or {; brackets inside strings count too. `array_may_end_as_object` reads a final
    "}" as "]", the authors' only repair.
    """
    if array_may_end_as_object and text.strip().endswith("}"):
        text = f"{text.strip()[:-1]}]"
    if (whole := _parsed(text)) is not None:
        value = whole[0]
        return FoundJson(nothing, "null") if value in (None, "null") else FoundJson(value, "whole")
    opening, closing = _BRACKETS[type(nothing)]
    depth, start = 0, -1
    for position, character in enumerate(text):
        if character == opening:
            start = position if depth == 0 else start
            depth += 1
        elif character == closing:
            depth -= 1
            if depth == 0 and start >= 0:
                if parsed := _parsed(text[start : position + 1]):
                    return FoundJson(parsed[0], "within")
                start = -1
    return FoundJson(nothing, "nowhere")


def _parsed(text: str) -> tuple[object] | None:
    """Return the value of a JSON text in a tuple, None if the text is not JSON."""
    try:
        return (json.loads(text),)
    # RecursionError: brackets nested too deeply.
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to an item and the value that is scored.

    `fits_at_first`: the first reply, unchanged, fits the task's form. `fits_at_last`: the last reply, or the
    JSON found in it, fits. Both are None for tasks that ask for plain text. `problem` is an error message.
    """

    item: Item
    value: object
    exchanges: tuple[Exchange, ...] = ()
    fits_at_first: bool | None = None
    fits_at_last: bool | None = None
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(exchange.completion.text.strip() for exchange in self.exchanges)


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a model for items, `at_once` at a time; `way` "held" forces replies into the task's schema."""

    model: CachedModel
    way: Way
    parameters: Parameters
    limits: CallLimits
    at_once: int

    def ask(self, item: Item) -> Reply:
        """Ask for an item; raises ModelUnavailableError, other errors become the reply's `problem`."""
        messages = (Message("user", item.instruction),)
        form, exchanges = item.task.form, list[Exchange]()
        try:
            if self.way == "free" or form is None:
                return _free_reply(item, self.model.exchange(messages, self.parameters))
            value = self.model.reply(messages, self.parameters, form, exchanges.append).model_dump(
                mode="json"
            )
        except ModelUnavailableError:
            raise
        except BadReplyError:
            return _failed_reply(item, tuple(exchanges))
        except ModelError as error:
            return _failed_reply(item, problem=error.fault)
        value = item.task.nothing if value is None else value
        return Reply(item, value, tuple(exchanges), len(exchanges) == 1, fits_at_last=True)


def _free_reply(item: Item, exchange: Exchange) -> Reply:
    text, task = exchange.completion.text, item.task
    if task.form is None or task.nothing is None:
        return Reply(item, text, (exchange,))
    found = find_json(text, task.nothing, array_may_end_as_object=task.array_may_end_as_object)
    at_first = _fits(text, task.form)
    at_last = at_first or (found.where in ("whole", "within") and _fits(json.dumps(found.value), task.form))
    return Reply(item, found.value, (exchange,), at_first, at_last)


def _fits(text: str, form: type[BaseModel]) -> bool:
    try:
        read_reply(text, form)
    except ValidationError:
        return False
    return True


def _failed_reply(item: Item, exchanges: tuple[Exchange, ...] = (), problem: str = "") -> Reply:
    """Return a reply that scores as wrong."""
    if item.task.form is None:
        return Reply(item, "", exchanges, problem=problem)
    return Reply(item, item.task.nothing, exchanges, False, fits_at_last=False, problem=problem)


def ask_all(asker: Asker, items: Sequence[Item]) -> list[Reply]:
    """Ask for all items and return the replies in order; raises ModelError if the model cannot be asked."""
    changed = threading.Condition()
    running = 0

    def ask(item: Item) -> Reply:
        """Wait for a free slot here, so that a reply's time excludes the queue of the model's limits."""
        nonlocal running
        with changed:
            while running >= asker.limits.at_once:
                changed.wait(POLL_SECONDS)
            running += 1
        try:
            return asker.ask(item)
        finally:
            with changed:
                running -= 1
                changed.notify_all()

    replies: list[Reply] = []
    with ThreadPoolExecutor(asker.at_once) as pool:
        for reply in pool.map(ask, items):
            replies.append(reply)
            all_failed = all(earlier.problem for earlier in replies)
            if len(replies) == min(FIRST_ERRORS_TO_STOP, len(items)) and all_failed:
                raise ModelError(reply.problem)
            if len(replies) % PROGRESS_EVERY == 0:
                say(f"{len(replies):,} of {len(items):,} items.")
    return replies


def task_figures(replies: Sequence[Reply]) -> dict[str, float]:
    """Score each task that has replies, 0..1."""
    figures: dict[str, float] = {}
    for task in TASKS.values():
        if pairs := [(reply.value, reply.item.reference) for reply in replies if reply.item.task is task]:
            figures |= task.score(pairs)
    return figures


def means(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the means of the tasks' figures; a mean with a missing figure is left out."""
    columns = {
        "mean": _PRINTED,
        "SciRIFF mean": _SUMMARY,
        "SciRIFF mean, unjudged": tuple(_UNJUDGED.get(name, name) for name in _SUMMARY),
    }
    return {
        name: sum(figures[column] for column in names) / len(names)
        for name, names in columns.items()
        if all(column in figures for column in names)
    }


def reply_figures(replies: Sequence[Reply]) -> dict[str, float]:
    """Compute the percentages of replies that do not fit their form, and tokens and seconds per item."""
    formed = [reply for reply in replies if reply.fits_at_first is not None]
    figures = {
        "invalid at first %": mean(100.0 * (not reply.fits_at_first) for reply in formed),
        "invalid at last %": mean(100.0 * (not reply.fits_at_last) for reply in formed),
        "prompt tokens": mean(_tokens(replies, "prompt_tokens")),
        "completion tokens": mean(_tokens(replies, "completion_tokens")),
        "seconds": mean(
            sum(call.seconds for call in reply.exchanges) for reply in replies if reply.exchanges
        ),
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def _tokens(replies: Sequence[Reply], kind: str) -> Iterator[float]:
    """Yield the tokens of each item whose calls all have a token count."""
    for reply in replies:
        counts = [getattr(call.completion, kind) for call in reply.exchanges]
        if counts and None not in counts:
            yield float(sum(counts))


class Rating(BaseModel, extra="forbid", strict=True):
    explanation: str = Field(max_length=LONGEST_EXPLANATION)
    rating: Literal[1, 2, 3, 4, 5]


def rate_replies(judge: Judge, replies: Sequence[Reply]) -> tuple[dict[str, float], int]:
    """Average a judge's ratings, 0..1, of Qasper's answers and a sample of MUP's summaries.

    Also returns the number of failed ratings. An empty reply is rated 1 without asking. Raises
    ModelUnavailableError.
    """
    figures: dict[str, float] = {}
    failed = 0
    answers, summaries = (
        [reply for reply in replies if reply.item.task is task] for task in (ANSWERS, SUMMARIES)
    )
    places = random.Random(SEED).sample(range(len(summaries)), min(SUMMARIES_RATED, len(summaries)))
    summaries = [summaries[place] for place in sorted(places)]
    for name, chosen in (("Qasper judged", answers), ("MUP judged", summaries)):
        if chosen:
            say(f"{name}: the judge {judge.model.label} gives {counted(len(chosen), 'rating')}.")
            ratings, errors = ask_each(chosen, partial(_rating, judge), judge.at_once, ModelUnavailableError)
            usable = [rating for rating in ratings if rating is not None]
            failed += len(errors)
            if usable:
                figures[name] = (sum(usable) / len(usable) - LOWEST) / (HIGHEST - LOWEST)
    return figures, failed


def _rating(judge: Judge, reply: Reply) -> int:
    value = reply.value
    if reply.item.task is ANSWERS:
        value = value.get("answer") if isinstance(value, Mapping) else None
    text = "" if value is None else str(value)
    if not text.strip():
        return LOWEST
    parameters = replace(judge.parameters, max_tokens=RATING_TOKENS)
    return judge.model.reply(_rating_messages(reply.item, text), parameters, Rating).rating


def _rating_messages(item: Item, reply: str) -> tuple[Message, ...]:
    def marked(name: str, text: str) -> str:
        return between(name, as_written(text))

    if item.task is SUMMARIES:
        return load_prompt("rate_summary", PROMPTS).render(
            paper=marked("paper", item.instruction),
            wanted=marked("expert's summary", str(item.reference)),
            given=marked("model's summary", reply),
        )
    reference = item.reference if isinstance(item.reference, Mapping) else {}
    return load_prompt("rate_answer", PROMPTS).render(
        title=marked("title", title_of(item.instruction)),
        excerpts=marked("excerpts", "\n".join(reference.get("evidence", ()))),
        question=marked("question", question_of(item.instruction)),
        wanted=marked("expert's answer", str(reference.get("answer", ""))),
        given=marked("model's answer", reply),
    )


def title_of(instruction: str) -> str:
    """Return the paper's title in an instruction of Qasper: the line below the first line of dashes."""
    _, *below = _RULE.split(instruction, maxsplit=1)
    return below[0].strip("\n").partition("\n")[0] if below else ""


def question_of(instruction: str) -> str:
    """Return the question in an instruction of Qasper."""
    lines = (line for line in instruction.split("\n") if line.startswith("Question:"))
    return next(lines, "").removeprefix("Question:").strip()
