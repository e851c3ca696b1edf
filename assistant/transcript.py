"""A conversation as a file: JSON that reads back equal, and Markdown for people. Formatting only."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from assistant.attribution import overlap_word
from assistant.markdown import escaped, fenced, quoted
from assistant.records import (
    AnswerSentence,
    AssistantError,
    Call,
    Conversation,
    LabelledPaper,
    Refusal,
    Turn,
)
from corpus.version import VERSION

FORMAT = "paper-trail/transcript"
FORMAT_VERSION = 1

_conversations = TypeAdapter(Conversation)


def to_json(conversation: Conversation) -> str:
    """Return a conversation as JSON: everything sent and received, under a versioned header."""
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "written_by": f"Paper Trail {VERSION}",
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "conversation": _conversations.dump_python(conversation, mode="json"),
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def from_json(text: str) -> Conversation:
    """Read a conversation back, equal to what was written; raises AssistantError for anything else.

    What an older version of Paper Trail did not know of papers and passages is empty.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AssistantError(
            "The file is not JSON. Choose a transcript that Paper Trail exported."
        ) from error
    _check_header(document)
    try:
        conversation = _conversations.validate_python(document["conversation"])
    except (KeyError, ValidationError) as error:
        raise AssistantError(f"The transcript is damaged: {_first_fault(error)}.") from error
    if not _holds(_conversations.dump_python(conversation, mode="json"), document["conversation"]):
        raise AssistantError(
            "The transcript is damaged: it holds values that were not written by Paper Trail."
        )
    return conversation


def _check_header(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise AssistantError("The file is not a Paper Trail transcript.")
    if document.get("version") != FORMAT_VERSION:
        raise AssistantError(
            f"The transcript has format version {document.get('version')}; this version of Paper Trail reads "
            f"version {FORMAT_VERSION}."
        )


def _holds(whole: Any, part: Any) -> bool:
    """Tell whether `whole` is `part`, but for fields that `part` does not have."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _holds(whole[key], value) for key, value in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return len(whole) == len(part) and all(map(_holds, whole, part))
    return type(whole) is type(part) and bool(whole == part)


def _first_fault(error: KeyError | ValidationError) -> str:
    if isinstance(error, KeyError):
        return "it holds no conversation"
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


def to_markdown(conversation: Conversation) -> str:
    """Return a conversation as Markdown: answers, evidence, then what was sent; foreign text is escaped."""
    parts = [f"# {escaped(conversation.title)}"]
    for number, turn in enumerate(conversation.turns, start=1):
        parts += _turn_parts(number, turn)
    parts.append(f"Exported from Paper Trail {VERSION}.")
    return "\n\n".join(parts) + "\n"


def _turn_parts(number: int, turn: Turn) -> Iterator[str]:
    yield f"## {number}. {escaped(turn.question)}"
    yield f"Searched for: {escaped(turn.rewrite.search_query)}"
    if turn.answer.refusal:
        yield from _refusal_parts(turn.answer.refusal)
    else:
        yield _answer_text(turn)
        yield "### References"
        yield "\n".join(_reference(turn.evidence.paper(label)) for label in turn.answer.cited_labels)
        yield "### Sentence by sentence"
        yield "\n".join(line for item in turn.answer.sentences for line in _sentence_lines(item))
    yield "### Passages given"
    yield from _evidence_parts(turn)
    yield "### What was sent"
    yield from (_call_part(call) for call in turn.calls)
    yield _provenance(turn)


def _answer_text(turn: Turn) -> str:
    """Return the answer line by line: its lists stay lists, everything else is escaped."""
    lines = []
    for line in turn.answer.text.splitlines():
        bullet = line.lstrip().startswith(("- ", "* "))
        lines.append(f"- {escaped(line.lstrip()[2:])}" if bullet else escaped(line))
    return "\n".join(lines)


def _refusal_parts(refusal: Refusal) -> Iterator[str]:
    yield f"Not answered: {escaped(refusal.message)}"
    for nearest in refusal.nearest:
        yield f"Near, but no answer: {escaped(nearest.title)} ({escaped(nearest.passage_id)})"
        yield quoted(nearest.text)


def _reference(labelled: LabelledPaper | None) -> str:
    if labelled is None:
        return ""
    paper = labelled.paper
    names = ", ".join(author.name for author in paper.authors)
    facts = " · ".join(
        escaped(part) for part in (names, str(paper.year or ""), paper.venue, paper.url) if part
    )
    return f"- \\[{labelled.label}\\] **{escaped(paper.title)}** {facts}"


def _sentence_lines(sentence: AnswerSentence) -> Iterator[str]:
    yield f"- {escaped(sentence.claim)}"
    if not sentence.citations:
        yield "    - cites nothing"
    for citation in sentence.citations:
        support = "no score" if citation.support is None else f"{citation.support:.2f}"
        yield (
            f"    - \\[{citation.label}\\] overlap {citation.overlap:.2f} "
            f"({overlap_word(citation.overlap)}), support {support}, "
            f"{escaped(citation.passage_id)}: {escaped(citation.evidence)}"
        )
    for label in sentence.unknown_labels:
        yield f"    - \\[{escaped(label)}?\\] names no paper that was given"


def _evidence_parts(turn: Turn) -> Iterator[str]:
    for labelled in turn.evidence.papers:
        yield f"**\\[{labelled.label}\\] {escaped(labelled.paper.title)}** ({escaped(labelled.paper.id)})"
        for passage in labelled.passages:
            page = f", page {passage.page}" if passage.page else ""
            yield f"{escaped(passage.section_path or passage.kind)}{page} ({escaped(passage.id)})"
            yield quoted(passage.text)


def _call_part(call: Call) -> str:
    ended = escaped(call.finish_reason)
    lines = [f"**{call.step}** by {escaped(call.model)}, {call.seconds:.2f} s, ended with {ended}"]
    if call.parameters:
        given = call.parameters
        lines.append(
            f"temperature {given.temperature:g}, top-p {given.top_p:g}, at most {given.max_tokens} tokens; "
            f"{call.prompt_tokens or 'unknown'} tokens sent, {call.completion_tokens or 'unknown'} received"
        )
    lines += [f"{message.role}:\n\n{fenced(message.content)}" for message in call.messages]
    lines.append(f"reply:\n\n{fenced(call.reply)}")
    return "\n\n".join(lines)


def _provenance(turn: Turn) -> str:
    made = turn.provenance
    tables = ", ".join(f"{escaped(entry.table)} {entry.version}" for entry in made.corpus)
    times = ", ".join(f"{step.step} {step.seconds:.2f} s" for step in turn.seconds)
    return (
        f"Asked {escaped(turn.asked)} · {turn.papers_wanted} papers wanted · {escaped(made.generator)} · "
        f"{escaped(made.encoder)} · corpus versions: {tables} · {times}"
    )
