"""Instructions on scientific papers as SciRIFF gives them: items, replies, and their figures."""

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
from evaluation.input_files import PROMPTS, EvaluationError, read_text, record_of
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
from evaluation.kept import KeptModel, ask_each
from evaluation.retrieval import read_parquet

Way = Literal["held", "free"]
LONGEST_TEXT = 2**20
# As many errors at the beginning are no fault of single items.
MOST_ERRORS = 8
SAID_EVERY = 100
LOOK_AGAIN_SECONDS = 0.1
LOWEST, HIGHEST = 1, 5
RATING_TOKENS, LONGEST_EXPLANATION = 400, 1000
# The authors rate a sample of the summaries, drawn by this seed.
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
# The figures of SciRIFF's own summary, without DiscoMaT's; and those that replace a judge's.
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
    """A task of SciRIFF: its figures, 0..1, by the names of columns.

    `form` is the schema of a reply, None where the reply is text. `nothing` stands for a reply without JSON.
    """

    name: str
    score: Callable[[Sequence[Pair]], Mapping[str, float]]
    form: type[BaseModel] | None = None
    nothing: list[object] | dict[str, object] | None = None
    array_may_end_as_object: bool = False


def _health_claims(instances: str, name: str) -> Task:
    return Task(
        instances, lambda pairs: _parts(name, verdict_f1(pairs, numbered=True)), HealthVerdict, nothing={}
    )


def _parts(name: str, figures: Mapping[str, float]) -> Mapping[str, float]:
    return {f"{name} {part} F1": figure for part, figure in figures.items()}


SUMMARIES = Task("mup_single_document_summarization", lambda pairs: {"MUP ROUGE-L": rouge_l(pairs)})
ANSWERS = Task("qasper_abstractive_qa", lambda pairs: _parts("Qasper", answer_f1(pairs)), AnswerOrNull, {})
CLAIMS = Task("scifact_entailment", lambda pairs: _parts("SciFact", verdict_f1(pairs)), Verdict, {})
TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task("bioasq_list_qa", lambda pairs: {"BioASQ F1": list_f1(pairs)}, ListedAnswers, []),
        Task("biored_ner", lambda pairs: {"BioRED F1": mention_f1(pairs)}, BiomedicalEntities, {}),
        Task(
            "evidence_inference",
            lambda pairs: _parts("Evidence Inference", finding_f1(pairs)),
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
    """An instance of a file of SciRIFF."""

    input: str = Field(min_length=1, max_length=LONGEST_TEXT)
    output: str = Field(min_length=1, max_length=LONGEST_TEXT)
    instance_id: str = Field(alias="_instance_id", pattern=r"^[^:]+:[^:]+:.+$", max_length=200)


@dataclass(frozen=True, slots=True)
class Item:
    """An instruction for a model, and the `wanted` reply."""

    id: str
    task: Task
    instruction: str
    wanted: object


def parse_instance_id(instance_id: str) -> tuple[str, str, str]:
    """Split an instance's id into the task, the split and the id in it."""
    task, split, own = instance_id.split(":", 2)
    return task, split, own


def read_items(path: Path, limit: int | None = None) -> list[Item]:
    """Read at most `limit` items of each task, of Parquet or JSON lines; raises EvaluationError."""
    if path.suffix == ".parquet":
        rows = read_parquet(path, Instance, ["input", "output", "_instance_id"], _HINT)
    else:
        lines = enumerate(read_text(path).split("\n"), start=1)
        rows = (record_of(path, number, line, Instance, _HINT) for number, line in lines if line.strip())
    found: dict[str, list[Item]] = {name: [] for name in TASKS}
    for instance in rows:
        of_task = found.get(parse_instance_id(instance.instance_id)[0])
        if of_task is not None and (limit is None or len(of_task) < limit):
            of_task.append(item_of(instance, path))
    items = [item for of_task in found.values() for item in of_task]
    if not items:
        raise EvaluationError(f"{path} has no instance of the tasks {', '.join(TASKS)}.")
    return items


def item_of(instance: Instance, path: Path) -> Item:
    """Parse an instance; raises EvaluationError where its output should be JSON and is not."""
    task = TASKS[parse_instance_id(instance.instance_id)[0]]
    try:
        wanted = json.loads(instance.output) if task.form else instance.output
    except ValueError as error:
        raise EvaluationError(f"{path}, {instance.instance_id}: the output is not usable: {error}.") from None
    return Item(instance.instance_id, task, instance.input, wanted)


class _Claim(BaseModel, frozen=True, strict=True):
    set: Literal["SciFact"]
    id: str
    claim: str
    references: list[str]
    label_raw: Literal["SUPPORT", "CONTRADICT"]
    supporting_sentences: list[int]


def read_claims(path: Path, limit: int | None = None) -> list[Item]:
    """Read SciFact's claims from a file of attribution pairs, in place of SciRIFF."""
    prompt = Template((PROMPTS / "claim.md").read_text(encoding="utf-8").strip())
    items = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if '"set": "SciFact"' in line:
            claim = record_of(path, number, line, _Claim, _CLAIM_HINT)
            sentences = [" ".join(sentence.split()) for sentence in claim.references]
            marked = [sentences[at] for at in claim.supporting_sentences if 0 <= at < len(sentences)]
            asked = prompt.substitute(claim=claim.claim, abstract="\n".join(sentences))
            wanted = {"verdict": claim.label_raw, "evidence": marked}
            items.append(Item(f"{CLAIMS.name}:train:{claim.id}", CLAIMS, asked, wanted))
    if not items:
        raise EvaluationError(f"{path} has no claims of SciFact.")
    return items[:limit]


@dataclass(frozen=True, slots=True)
class FoundJson:
    """JSON found in a reply: the `whole` of it, a part `within` it, `null`, or `nowhere`."""

    value: object
    how: Literal["whole", "null", "within", "nowhere"]


def find_json(
    text: str, nothing: list[object] | dict[str, object], *, array_may_end_as_object: bool = False
) -> FoundJson:
    """Find the JSON of a reply as SciRIFF's authors do, `nothing` where it has none or is null.

    Of a reply that is no JSON as a whole, the first part counts that parses, from an opening bracket of the
    kind of `nothing` to its closing one; brackets are counted in strings too. `array_may_end_as_object` takes
    "}" at the very end as "]", their one repair.
    """
    if array_may_end_as_object and text.strip().endswith("}"):
        text = f"{text.strip()[:-1]}]"
    if (whole := _parsed(text)) is not None:
        value = whole[0]
        return FoundJson(nothing, "null") if value in (None, "null") else FoundJson(value, "whole")
    opening, closing = _BRACKETS[type(nothing)]
    depth, start = 0, -1
    for place, character in enumerate(text):
        if character == opening:
            start = place if depth == 0 else start
            depth += 1
        elif character == closing:
            depth -= 1
            if depth == 0 and start >= 0:
                if found := _parsed(text[start : place + 1]):
                    return FoundJson(found[0], "within")
                start = -1
    return FoundJson(nothing, "nowhere")


def _parsed(text: str) -> tuple[object] | None:
    """Return the value of a JSON text alone in a tuple, None where it is no JSON."""
    try:
        return (json.loads(text),)
    # Also for numbers too long and brackets too deep.
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's last reply to an item, as it is scored.

    `fits_at_first`: the first reply is, as it stands, of the task's form. `fits_at_last`: the last one is, or
    what was found in it. Both are None where the task asks for text. `problem` is an error.
    """

    item: Item
    value: object
    exchanges: tuple[Exchange, ...] = ()
    fits_at_first: bool | None = None
    fits_at_last: bool | None = None
    problem: str = ""

    @property
    def is_nothing(self) -> bool:
        return not any(exchange.completion.text.strip() for exchange in self.exchanges)


@dataclass(frozen=True, slots=True)
class Asker:
    """A model, whether it is held to a schema, and the most items asked at once."""

    model: KeptModel
    way: Way
    parameters: Parameters
    limits: CallLimits
    at_once: int

    def ask(self, item: Item) -> Reply:
        """Ask for an item; raises ModelUnavailableError, any other error is the reply's."""
        messages = (Message("user", item.instruction),)
        form, exchanges = item.task.form, list[Exchange]()
        try:
            if self.way == "free" or form is None:
                return _free(item, self.model.exchange(messages, self.parameters))
            value = self.model.reply(messages, self.parameters, form, exchanges.append).model_dump(
                mode="json"
            )
        except ModelUnavailableError:
            raise
        except BadReplyError:
            return _nothing(item, tuple(exchanges))
        except ModelError as error:
            return _nothing(item, problem=error.fault)
        # A reply of null says that there is nothing to give.
        value = item.task.nothing if value is None else value
        return Reply(item, value, tuple(exchanges), len(exchanges) == 1, fits_at_last=True)


def _free(item: Item, exchange: Exchange) -> Reply:
    text, task = exchange.completion.text, item.task
    if task.form is None or task.nothing is None:
        return Reply(item, text, (exchange,))
    found = find_json(text, task.nothing, array_may_end_as_object=task.array_may_end_as_object)
    at_first = _fits(text, task.form)
    at_last = at_first or (found.how in ("whole", "within") and _fits(json.dumps(found.value), task.form))
    return Reply(item, found.value, (exchange,), at_first, at_last)


def _fits(text: str, form: type[BaseModel]) -> bool:
    try:
        read_reply(text, form)
    except ValidationError:
        return False
    return True


def _nothing(item: Item, exchanges: tuple[Exchange, ...] = (), problem: str = "") -> Reply:
    """Return a reply that counts as wrong."""
    if item.task.form is None:
        return Reply(item, "", exchanges, problem=problem)
    return Reply(item, item.task.nothing, exchanges, False, fits_at_last=False, problem=problem)


def ask_all(asker: Asker, items: Sequence[Item]) -> list[Reply]:
    """Ask for all items, replies in their order; raises ModelError where the model cannot be asked."""
    changed = threading.Condition()
    inside = 0

    def ask(item: Item) -> Reply:
        """Wait for a place here, so that a reply's time does not include the queue of the model's limits."""
        nonlocal inside
        with changed:
            while inside >= asker.limits.at_once:
                changed.wait(LOOK_AGAIN_SECONDS)
            inside += 1
        try:
            return asker.ask(item)
        finally:
            with changed:
                inside -= 1
                changed.notify_all()

    replies: list[Reply] = []
    with ThreadPoolExecutor(asker.at_once) as pool:
        for reply in pool.map(ask, items):
            replies.append(reply)
            if len(replies) == min(MOST_ERRORS, len(items)) and all(own.problem for own in replies):
                raise ModelError(reply.problem)
            if len(replies) % SAID_EVERY == 0:
                say(f"{len(replies):,} of {len(items):,} items.")
    return replies


def task_figures(replies: Sequence[Reply]) -> dict[str, float]:
    """Score each task that was asked, 0..1."""
    figures: dict[str, float] = {}
    for task in TASKS.values():
        if pairs := [(reply.value, reply.item.wanted) for reply in replies if reply.item.task is task]:
            figures |= task.score(pairs)
    return figures


def means(figures: Mapping[str, float]) -> dict[str, float]:
    """Average the tasks' figures, each mean only where all its figures are there."""
    wanted = {
        "mean": _PRINTED,
        "SciRIFF mean": _SUMMARY,
        "SciRIFF mean, unjudged": tuple(_UNJUDGED.get(name, name) for name in _SUMMARY),
    }
    return {
        name: sum(figures[column] for column in names) / len(names)
        for name, names in wanted.items()
        if all(column in figures for column in names)
    }


def reply_figures(replies: Sequence[Reply]) -> dict[str, float]:
    """Compute percentages of replies that are not of their form, and tokens and seconds an item."""
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
    """Yield the tokens of each item for which the server counted all."""
    for reply in replies:
        counts = [getattr(call.completion, kind) for call in reply.exchanges]
        if counts and None not in counts:
            yield float(sum(counts))


class Rating(BaseModel, extra="forbid", strict=True):
    explanation: str = Field(max_length=LONGEST_EXPLANATION)
    rating: Literal[1, 2, 3, 4, 5]


def rate_replies(judge: Judge, replies: Sequence[Reply]) -> tuple[dict[str, float], int]:
    """Average a judge's ratings of Qasper's answers and a sample of MUP's summaries, 0..1; count failed ones.

    An empty reply is rated 1 without asking. Raises ModelUnavailableError.
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
            given, errors = ask_each(chosen, partial(_rating, judge), judge.at_once, ModelUnavailableError)
            usable = [rating for rating in given if rating is not None]
            failed += len(errors)
            if usable:
                figures[name] = (sum(usable) / len(usable) - LOWEST) / (HIGHEST - LOWEST)
    return figures, failed


def _rating(judge: Judge, reply: Reply) -> int:
    value = reply.value
    if reply.item.task is ANSWERS:
        value = value.get("answer") if isinstance(value, Mapping) else None
    given = "" if value is None else str(value)
    if not given.strip():
        return LOWEST
    parameters = replace(judge.parameters, max_tokens=RATING_TOKENS)
    return judge.model.reply(_rating_messages(reply.item, given), parameters, Rating).rating


def _rating_messages(item: Item, given: str) -> tuple[Message, ...]:
    def shown(name: str, text: str) -> str:
        return between(name, as_written(text))

    if item.task is SUMMARIES:
        return load_prompt("rate_summary", PROMPTS).render(
            paper=shown("paper", item.instruction),
            wanted=shown("expert's summary", str(item.wanted)),
            given=shown("model's summary", given),
        )
    wanted = item.wanted if isinstance(item.wanted, Mapping) else {}
    return load_prompt("rate_answer", PROMPTS).render(
        title=shown("title", title_of(item.instruction)),
        excerpts=shown("excerpts", "\n".join(wanted.get("evidence", ()))),
        question=shown("question", question_of(item.instruction)),
        wanted=shown("expert's answer", str(wanted.get("answer", ""))),
        given=shown("model's answer", given),
    )


def title_of(instruction: str) -> str:
    """Find the paper's title in an instruction of Qasper: the line below the first rule."""
    _, *below = _RULE.split(instruction, maxsplit=1)
    return below[0].strip("\n").partition("\n")[0] if below else ""


def question_of(instruction: str) -> str:
    """Find the question in an instruction of Qasper."""
    lines = (line for line in instruction.split("\n") if line.startswith("Question:"))
    return next(lines, "").removeprefix("Question:").strip()
