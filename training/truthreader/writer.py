"""The model calls of the construction: short prompts with one task each, suited to small models."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from assistant.models.protocol import BadReplyError
from assistant.prompts.material import render_evidence, render_passage
from assistant.prompts.render import as_data, as_line, load_prompt, mark, no_answer_reason
from assistant.records import Evidence, Message, Parameters
from corpus.records import Passage
from evaluation.reply_cache import CachedModel
from training.truthreader.examples import Kind, Library, Pair

PROMPTS = Path(__file__).parent / "prompts"
MOST_REQUESTS = 2
LENGTHS: dict[Kind, str] = {
    "fact": "two or three plain sentences, at most 80 words",
    "summary": "three to five plain sentences, at most 120 words: the problem, the approach, the findings",
    "synthesis": "three to five plain sentences, at most 120 words, each on one or two of the papers",
}


# The docstrings of both replies are part of the schema that is sent to the model.
class RequestsReply(BaseModel):
    """Questions and requests that readers type; the list is empty where there is nothing to ask."""

    model_config = ConfigDict(extra="forbid")

    requests: list[Annotated[str, Field(min_length=8, max_length=300)]] = Field(max_length=10)


class PapersReply(BaseModel):
    """The labels of the papers that state a sentence; the list is empty where none does."""

    model_config = ConfigDict(extra="forbid")

    papers: list[int] = Field(max_length=20)


class Writer:
    """Asks a model for questions, answers, explanations and citations; raises ModelError."""

    def __init__(self, model: CachedModel, parameters: Parameters, library: Library) -> None:
        self._model, self._parameters, self._library = model, parameters, library

    def ask(self, kind: Kind, passages: Sequence[Passage], follows: Pair | None = None) -> list[str]:
        """Write questions that passages answer, or that follow up the pair `follows`.

        Raises BadReplyError.
        """
        material = self._material(passages)
        if follows:
            earlier = _earlier(follows)
            return self._requests(_render("follow_up", material=material, earlier=earlier))
        return self._requests(_render(kind, material=material))

    def propose_instruction(self, seeds: Iterable[str], passages: Sequence[Passage]) -> list[str]:
        """Write an instruction like `seeds` that papers can answer; raises BadReplyError."""
        examples = "\n".join(f"- {seed}" for seed in seeds)
        material = self._material(passages)
        return self._requests(_render("instruction", examples=examples, material=material))[:1]

    def answer(
        self, kind: Kind, request: str, passages: Sequence[Passage], follows: Pair | None = None
    ) -> str:
        """Answer a request from passages; "" if the reply was cut off."""
        earlier = f"{_earlier(follows)}\n\n" if follows else ""
        values = {"material": self._material(passages), "earlier": earlier, "request": as_data(request)}
        return self._text(_render("answer", length=LENGTHS[kind], **values))

    def explain_refusal(self, question: str, evidence: Evidence) -> str:
        """Explain why papers do not answer a question; "" if the reply was cut off."""
        papers = render_evidence(evidence)
        text = self._text(_render("refusal", papers=papers, question=as_data(question)))
        reason = no_answer_reason(text)
        return text if reason is None else reason

    def attribute(self, sentence: str, evidence: Evidence, _preferred: Sequence[Passage]) -> tuple[int, ...]:
        """Return the labels of the papers that state a sentence; () if the reply is not usable."""
        papers, labels = render_evidence(evidence), {paper.label for paper in evidence.papers}
        messages = _render("attribution", papers=papers, sentence=as_data(sentence))
        try:
            reply = self._model.reply(messages, self._parameters, PapersReply)
        except BadReplyError:
            return ()
        return tuple(sorted(labels.intersection(reply.papers)))

    def _requests(self, messages: Sequence[Message]) -> list[str]:
        return self._model.reply(messages, self._parameters, RequestsReply).requests[:MOST_REQUESTS]

    def _text(self, messages: Sequence[Message]) -> str:
        completion = self._model.exchange(messages, self._parameters).completion
        return completion.text.strip() if completion.finish_reason == "stop" else ""

    def _material(self, passages: Sequence[Passage]) -> str:
        papers = []
        for paper, paper_passages in groupby(passages, key=lambda passage: passage.paper_id):
            title = f"Title: {as_line(self._library.papers[paper].title)}"
            lines = (mark("paper"), title, *map(render_passage, paper_passages), mark("end of paper"))
            papers.append("\n".join(lines))
        return "\n\n".join(papers)


def _render(name: str, **values: str) -> tuple[Message, ...]:
    return load_prompt(name, PROMPTS).render(**values)


def _earlier(pair: Pair) -> str:
    lines = (mark("earlier"), as_line(pair.question), as_data(pair.answer), mark("end of earlier"))
    return "\n".join(lines)
