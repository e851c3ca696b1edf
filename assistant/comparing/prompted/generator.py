"""ChatCite's three parts by a chat model with our prompts."""

import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

from pydantic import BaseModel, ValidationError

from assistant.comparing.ledger import Task
from assistant.comparing.prompted import material
from assistant.comparing.prompted.one_by_one import NOTE, REPLY_TOKENS, OneByOne
from assistant.comparing.prompted.one_by_one import budget as one_by_one_budget
from assistant.comparing.prompted.replies import (
    ElementsReply,
    budget_of,
    elements_tokens,
    sentences_tokens,
    summary_reply,
    summary_tokens,
    summary_words,
    vote_reply,
    vote_tokens,
)
from assistant.comparing.protocol import ComparisonStep, SourceText
from assistant.comparing.records import (
    ELEMENT_NAMES,
    Budget,
    Candidate,
    ComparisonOptions,
    TooLongError,
    Vote,
)
from assistant.generators.calls import Price, call_of, unknown_price
from assistant.generators.parameters import SAMPLING_TEMPERATURE
from assistant.models.protocol import ChatModel, Completion, Exchange, whole
from assistant.models.typed import bad_reply, complaint, read_reply, reply_problem
from assistant.prompts.echoes import is_repeated, tells_example
from assistant.prompts.material import SPARE_TOKENS, estimate_tokens
from assistant.prompts.render import SummaryForm, form, load_prompt
from assistant.records import Call, Draft, ElementName, Message, Parameters, Step
from corpus.text import storable

# The words of each key element shown to voters: the most that fit the context.
WORDS_OF_AN_ELEMENT = (60, 30, 15, 0)
# Texts that models write for null.
_NOT_STATED = frozenset({"", "null", "none", "not stated", "not stated in the text", "n/a"})

# Renders the prompt of a step that extends a summary, "" at the beginning.
SummaryMessages = Callable[[ComparisonStep, str, SummaryForm], tuple[Message, ...]]


def incremental_messages(step: ComparisonStep, summary: str, returned: SummaryForm) -> tuple[Message, ...]:
    """Render the prompt that extends a summary to the new papers of a step."""
    return load_prompt("compare").render(
        words=str(summary_words(len(step.labels))),
        description=material.render_description(step),
        references=material.render_references(step),
        summary=material.render_summary(summary),
        elements=material.render_new(step),
        new=" and ".join(f"[{label}]" for label in step.new),
        form=form(returned),
    )


class PromptedComparer:
    """A chat model that extracts key elements, continues summaries and votes.

    `context` is the model's context in tokens, reply included. A call is recorded when its reply has ended,
    not if it was stopped. `at_once` is the number of parallel calls. With `summaries` "sentences", the model
    returns lists of sentences with their labels; `messages` renders the prompt. Key elements are cached for
    all users, so they are made with the `usual` parameters, not the visitor's `parameters`. A small model
    compares one paper at a time (OneByOne).
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        context: int = 32_768,
        parameters: Parameters | None = None,
        usual: Parameters | None = None,
        price: Price = unknown_price,
        at_once: int = 16,
        summaries: SummaryForm | OneByOne = "prose",
        messages: SummaryMessages = incremental_messages,
    ) -> None:
        self._model = model
        self._one_by_one = summaries if isinstance(summaries, OneByOne) else None
        self._context = context
        self.parameters: Parameters | None = parameters or usual or Parameters()
        self._usual = usual or Parameters()
        self._price = price
        self.at_once = at_once
        self._summaries: SummaryForm = "prose" if isinstance(summaries, OneByOne) else summaries
        self._messages = messages
        self._elements_prompt = load_prompt("elements")
        self._vote_prompt = load_prompt("vote")

    @property
    def name(self) -> str:
        return self._model.id

    @property
    def label(self) -> str:
        return self._model.label

    @property
    def note(self) -> str:
        return NOTE if self._one_by_one else ""

    @property
    def can_vote(self) -> bool:
        return self._one_by_one is None

    @cached_property
    def elements_version(self) -> str:
        """A hash of the prompt, schema and context, on which elements depend besides the text."""
        if self._one_by_one:
            return self._one_by_one.elements_version
        prompt = self._elements_prompt
        parts = [
            prompt.system,
            prompt.user,
            json.dumps(ElementsReply.model_json_schema()),
            str(self._context),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def budget(
        self, sources: Sequence[SourceText], missing: Collection[int], options: ComparisonOptions
    ) -> Budget:
        """Return the upper bound of calls and tokens."""
        if self._one_by_one:
            return one_by_one_budget(sources, options, self._price)
        read = [self._element_messages(source)[1] for source in sources if source.label in missing]
        return budget_of(read, sources, options, self._written, self._price)

    def extract_key_elements(self, source: SourceText, task: Task) -> Mapping[ElementName, str]:
        """Extract the text's answer to each question; raises BadReplyError and ModelError."""
        if self._one_by_one:
            return self._one_by_one.key_elements(source)
        left_out, messages = self._element_messages(source)
        request = _Prompt("elements", messages, self._for_elements, left_out)
        reply = self._reply(request, ElementsReply, task)
        reply_texts = {name: reply.model_dump()[name] for name in ELEMENT_NAMES}
        sent = [message.content for message in messages if message.role == "user"]
        # A small model without an answer repeats the question or continues our example.
        original = {
            name: text.strip()
            for name, text in reply_texts.items()
            if text and not is_repeated(text) and not tells_example(text, sent)
        }
        stated = {
            name: text for name, text in original.items() if text.strip(" .").lower() not in _NOT_STATED
        }
        # A text repeated for several elements counts for the first one only.
        first: dict[str, ElementName] = {}
        for name, text in stated.items():
            first.setdefault(" ".join(text.lower().split()).rstrip("."), name)
        return {name: stated[name] for name in first.values()}

    def update_summary(self, step: ComparisonStep, summary: str, sample: int, task: Task) -> Draft:  # noqa: ARG002
        """Return the summary continued to the new papers; raises BadReplyError and ModelError."""
        if self._one_by_one:
            return self._continued(self._one_by_one, step, summary, task)
        papers = len(step.labels)
        messages = self._messages(step, summary, self._summaries)
        in_sentences = self._summaries == "sentences"
        tokens = sentences_tokens(papers) if in_sentences else summary_tokens(papers)
        prompt = _Prompt("compare", messages, self._limited(tokens, self._warm))
        self._check_room(prompt)
        if in_sentences:
            return Draft(_joined(self._reply(prompt, summary_reply(papers), task)))
        completion = self._write(prompt, task)
        return Draft(completion.text, completion.finish_reason)

    def _continued(self, one_by_one: OneByOne, step: ComparisonStep, summary: str, task: Task) -> Draft:
        parameters = replace(self._limited(REPLY_TOKENS, self._warm), max_tokens=REPLY_TOKENS)
        prompt = _Prompt("compare", one_by_one.messages(step), parameters)
        self._check_room(prompt)
        return Draft(one_by_one.continued(step, summary, self._write(prompt, task).text))

    def vote(self, step: ComparisonStep, candidates: Sequence[Candidate], number: int, task: Task) -> Vote:
        """Return one vote for the best candidate; raises BadReplyError and ModelError."""
        prompt = self._asked_vote(step, candidates)
        self._check_room(prompt)
        reply = self._reply(prompt, vote_reply(len(candidates)), task).model_dump()
        return Vote(number, candidates[reply["choice"] - 1].number, reply["analysis"])

    def _asked_vote(self, step: ComparisonStep, candidates: Sequence[Candidate]) -> "_Prompt":
        """Build the prompt for a vote, with key elements cut to fit the context."""
        parameters = self._limited(vote_tokens(), self._warm)
        room = self._context - parameters.max_tokens
        for words in WORDS_OF_AN_ELEMENT:
            messages = self._vote_prompt.render(
                description=material.render_description(step),
                references=material.render_references(step),
                elements=material.render_known(step, words),
                candidates=material.render_candidates(candidates),
                count=str(len(candidates)),
            )
            if _tokens(messages) <= room:
                break
        return _Prompt("vote", messages, parameters)

    @property
    def _given(self) -> Parameters:
        return self.parameters or Parameters()

    @property
    def _warm(self) -> float:
        return max(self._given.temperature, SAMPLING_TEMPERATURE)

    def _written(self, tokens: int) -> int:
        """Return the token limit for a reply of `tokens`; a model that thinks first gets its usual limit."""
        usual = max(self._given.max_tokens, self._usual.max_tokens)
        return min(max(tokens, usual if usual > Parameters().max_tokens else 0), self._context // 2)

    @property
    def _for_elements(self) -> Parameters:
        # Temperature 0: the same text should give the same elements.
        return self._limited(elements_tokens(), 0.0, self._usual)

    def _limited(self, tokens: int, temperature: float, base: Parameters | None = None) -> Parameters:
        base = base or self._given
        longest = min(max(tokens, base.max_tokens), self._context // 2)
        return replace(base, temperature=temperature, max_tokens=longest)

    def _element_messages(self, source: SourceText) -> tuple[tuple[str, ...], tuple[Message, ...]]:
        """Return the ids of passages that do not fit into the prompt, and the messages with the others."""
        bare = self._elements_prompt.render(text="")
        room = self._context - self._for_elements.max_tokens - SPARE_TOKENS
        fitting = material.fit_source(source, room - _tokens(bare))
        kept = {passage.id for passage in fitting.paper.passages}
        left_out = tuple(passage.id for passage in source.paper.passages if passage.id not in kept)
        return left_out, self._elements_prompt.render(text=material.render_text(fitting))

    def _check_room(self, asked: "_Prompt") -> None:
        longest = asked.parameters.max_tokens
        if _tokens(asked.messages) + longest > self._context:
            raise TooLongError(
                f"The summaries have become more than {self.label} can take in ({self._context:,} tokens,"
                f" {longest:,} of them for its reply). Begin a comparison of fewer papers, keep fewer"
                " summaries, or choose a writer with a longer context."
            )

    def _write(self, asked: "_Prompt", task: Task) -> Completion:
        """Return a reply in prose, from the ledger if it is recorded."""
        if recorded := task.recorded(asked.messages):
            return _completion(recorded[-1])
        task.check()
        started, clock = datetime.now(UTC), time.monotonic()
        reply = self._model.stream(asked.messages, asked.parameters)
        completion = whole(reply, lambda _: task.check_stopped())
        seconds = time.monotonic() - clock
        moment = started.isoformat(timespec="milliseconds")
        task.add(self._call(asked, Exchange(asked.messages, completion, moment, seconds)))
        return completion

    def _reply(self, asked: "_Prompt", schema: type[BaseModel], task: Task) -> BaseModel:
        """Return a typed reply, from the ledger if it is recorded."""
        messages = asked.messages
        if recorded := task.recorded(messages):
            last = _completion(recorded[-1])
            try:
                return read_reply(last.text, schema)
            except ValidationError as error:
                problem = reply_problem(last, error, schema)
            if len(recorded) > 1:
                received = tuple(call.reply for call in recorded)
                raise bad_reply(self.label, problem, received)
            messages = (*messages, *complaint(last, problem))
        task.check()
        return self._model.reply(
            messages,
            asked.parameters,
            schema,
            lambda exchange: task.add(self._call(asked, exchange)),
            lambda _: task.check_stopped(),
        )

    def _call(self, asked: "_Prompt", exchange: Exchange) -> Call:
        return call_of(
            asked.step, self._model.id, exchange, asked.parameters, self._price, left_out=asked.left_out
        )


def form_asked_for(calls: Iterable[Call]) -> SummaryForm:
    """Return the form in which recorded summaries were asked for."""
    sent = (message.content for call in calls if call.step == "compare" for message in call.messages)
    return "sentences" if any(form("sentences") in content for content in sent) else "prose"


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A prompt for one step; `left_out` are the ids of passages that did not fit."""

    step: Step
    messages: tuple[Message, ...]
    parameters: Parameters
    left_out: tuple[str, ...] = ()


def _joined(reply: BaseModel) -> str:
    """Return a summary in sentences as prose, each sentence's labels before its full stop."""
    sentences = reply.model_dump()["sentences"]
    return " ".join(_labelled(sentence["text"], sentence["labels"]) for sentence in sentences)


def _labelled(text: str, labels: Sequence[int]) -> str:
    body = " ".join(storable(text).split()).rstrip(".!?; ")
    return f"{body} {''.join(f'[{label}]' for label in dict.fromkeys(labels))}."


def _tokens(messages: Sequence[Message]) -> int:
    return sum(estimate_tokens(message.content) for message in messages)


def _completion(call: Call) -> Completion:
    return Completion(
        call.reply,
        call.finish_reason,
        call.prompt_tokens,
        call.completion_tokens,
        call.attempts,
        call.problem,
    )
