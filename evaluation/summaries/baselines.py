"""ChatCite's baselines (arXiv 2403.02574, section 5.1): a model writes a whole section from one prompt.

A model with a short context summarises each reference first. LitLLM plans the sentences and their citations
first.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from assistant.comparing.prompted.material import render_description
from assistant.comparing.prompted.replies import summary_words
from assistant.comparing.protocol import ComparisonStep
from assistant.generators.choice import check_choice
from assistant.models.menu import ModelEntry, open_model
from assistant.models.protocol import ModelError
from assistant.prompts.material import estimate_tokens
from assistant.prompts.render import SummaryForm, as_data, as_line, form, load_prompt
from assistant.records import Message, Parameters
from corpus.settings import Settings
from corpus.text import storable
from evaluation.harness import say
from evaluation.input_files import PROMPTS
from evaluation.judging import between
from evaluation.reply_cache import CachedModel, ReplyCache, ask_each, replies_file, with_tokens

# A model with a smaller context, in tokens, summarises the references first, as GPT-3.5 does in the paper.
LONG_CONTEXT = 100_000
SUMMARY_WORDS, SUMMARY_TOKENS = 200, 400
# A plan has at most one sentence per reference and this many more; tokens of each sentence.
SPARE_SENTENCES, SENTENCE_TOKENS = 4, 40

# High, to leave room for the other parts of a prompt and the reply.
_TOKENS_PER_WORD = 4

Plan = Callable[[ComparisonStep], str]


@dataclass(frozen=True, slots=True)
class Preparation:
    """A model's calls before it writes: summaries of texts, and plans of sections. Replies are cached."""

    model: CachedModel
    entry: ModelEntry
    parameters: Parameters
    at_once: int

    @property
    def has_long_context(self) -> bool:
        return self.entry.context >= LONG_CONTEXT

    def summarize_all(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Summarise texts by name, without those that fail; raises ModelError if all fail."""
        summaries, problems = ask_each(texts.values(), self.summarize, self.at_once)
        if problems and not any(summaries):
            raise problems[0]
        if problems:
            say(f"Not summarised: {len(problems):,} of {len(texts):,} texts. {problems[0]}")
        return {name: summary for name, summary in zip(texts, summaries, strict=True) if summary}

    def summarize(self, text: str) -> str:
        """Summarise a text, cut to the model's context if it is longer; raises ModelError."""
        parameters = self._limit_tokens(SUMMARY_TOKENS)
        messages = _summary_messages(text)
        while _tokens(messages) + parameters.max_tokens > self.entry.context and text:
            text = text[: len(text) * 3 // 4]
            messages = _summary_messages(text)
        exchange = self.model.exchange(messages, parameters)
        summary = " ".join(storable(exchange.completion.text).split())
        if not summary:
            raise ModelError(f"{self.model.label} wrote no summary.")
        return summary

    def plan(self, step: ComparisonStep) -> str:
        """Plan the sentences of a section and their citations; raises ModelError."""
        most = len(step.labels) + SPARE_SENTENCES
        messages = load_prompt("plan_section", PROMPTS).render(
            sentences=str(most),
            description=render_description(step),
            references=_references(step, self.entry.context),
        )
        parameters = self._limit_tokens(most * SENTENCE_TOKENS)
        reply = self.model.reply(messages, parameters, plan_reply(len(step.labels)))
        sentences = reply.model_dump()["sentences"]
        lines = [
            f"- Sentence {number}: {_cites(labels)}." for number, labels in enumerate(sentences, start=1)
        ]
        return "\n".join([f"\nWrite to this plan of {len(sentences)} sentences:", *lines, ""])

    def _limit_tokens(self, tokens: int) -> Parameters:
        parameters = with_tokens(self.entry, self.parameters, tokens)
        return replace(parameters, max_tokens=min(parameters.max_tokens, self.entry.context // 2))


def open_preparation(writer: str, settings: Settings, folder: Path) -> Preparation | None:
    """Open a writer's preparation, None for a writer without a model.

    Raises AssistantError and EvaluationError.
    """
    choice = check_choice(writer, settings, None)
    if choice is None:
        return None
    entry, parameters = choice
    model = CachedModel(
        open_model(entry, settings), ReplyCache(replies_file(folder, writer)), stores_bad_replies=False
    )
    return Preparation(model, entry, parameters, settings.model_calls)


@cache
def plan_reply(references: int) -> type[BaseModel]:
    """Return the schema of a plan: the labels that each sentence cites."""
    labels = Literal[tuple(range(1, references + 1))]  # type: ignore[valid-type]
    sentences = Annotated[
        list[list[labels]],  # type: ignore[valid-type]
        Field(min_length=1, max_length=references + SPARE_SENTENCES),
    ]
    return create_model("SectionPlan", __config__=ConfigDict(extra="forbid"), sentences=(sentences, ...))


def section_prompt(
    step: ComparisonStep,
    summary: str,  # noqa: ARG001 - part of the protocol; the section is written in one step
    returned: SummaryForm,
    *,
    context: int,
    instructions: Iterable[str] = (),
    plan: Plan | None = None,
) -> tuple[Message, ...]:
    """Render the prompt for a whole section, for a model with a context of `context` tokens.

    `instructions` names prompt files to add.
    """
    added = ((PROMPTS / f"{name}.md").read_text(encoding="utf-8") for name in instructions)
    return load_prompt("one_prompt", PROMPTS).render(
        words=str(summary_words(len(step.labels))),
        instructions="".join(added),
        description=render_description(step),
        references=_references(step, context),
        plan=plan(step) if plan else "",
        form=form(returned),
    )


def _references(step: ComparisonStep, context: int) -> str:
    """Render the references with their texts, each cut to an equal share of the context."""
    listed = []
    most = context // _TOKENS_PER_WORD // len(step.labels)
    for source in (step.sources[label] for label in step.labels):
        paper = source.paper.paper
        head = f"[{source.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"
        words = as_line(" ".join(passage.text for passage in source.paper.passages)).split()
        listed.append(f"{head}\n{' '.join(words[:most])}")
    return between("references", "\n\n".join(listed))


def _summary_messages(text: str) -> tuple[Message, ...]:
    marked = between("text", as_data(text))
    return load_prompt("summarize_paper", PROMPTS).render(words=str(SUMMARY_WORDS), text=marked)


def _cites(labels: Iterable[int]) -> str:
    cited = "".join(f"[{label}]" for label in dict.fromkeys(labels))
    return f"cites {cited}" if cited else "cites nothing"


def _tokens(messages: Iterable[Message]) -> int:
    return sum(estimate_tokens(message.content) for message in messages)
